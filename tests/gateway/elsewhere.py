"""Scripted engines at other places than a free port of 127.0.0.1, and certificates for them."""

import asyncio
import ssl

import trustme

from forebay.testing.scripted import ScriptedEngine


class Elsewhere(ScriptedEngine):
    """At `host` and `port` (0 for a free one), over TLS with `tls`; or at the Unix socket `path`."""

    def __init__(self, script, host="127.0.0.1", port=0, path="", tls=None):
        ScriptedEngine.__init__(self, script)
        self.host, self.port, self.path, self.tls = host, port, path, tls

    async def __aenter__(self):
        limit = 64 * 1024 * 1024
        if self.path:
            self._server = await asyncio.start_unix_server(self._connected, self.path, limit=limit)
            self.url = f"unix://{self.path}"
            return self
        self._server = await asyncio.start_server(
            self._connected, self.host, self.port, limit=limit, ssl=self.tls
        )
        self.port = self._server.sockets[0].getsockname()[1]
        host = f"[{self.host}]" if ":" in self.host else self.host
        self.url = f"{'https' if self.tls else 'http'}://{host}:{self.port}"
        return self


class Authority:
    """A certificate authority of its own, and files signed by it in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.ca = trustme.CA()
        self.ca_file = str(folder / "ca.pem")
        self.ca.cert_pem.write_to_path(self.ca_file)

    def pair(self, *names, stem="server"):
        """Paths of a certificate for these names, and of its key. A pair of the same stem is replaced."""
        issued = self.ca.issue_cert(*names)
        cert, key = self.folder / f"{stem}.pem", self.folder / f"{stem}.key"
        cert.write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(key)
        return str(cert), str(key)

    def server(self, *names):
        """A context for an engine of these names."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*self.pair(*names, stem="engine"))
        return context

    def client(self, *, pair=None):
        """A context that trusts this authority, and shows `pair`."""
        context = ssl.create_default_context(cafile=self.ca_file)
        if pair:
            context.load_cert_chain(*pair)
        return context
