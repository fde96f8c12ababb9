"""Which header lines cross the gateway, and in what form. Pure functions over lists of (name, value)."""

from functools import lru_cache
from urllib.parse import urlsplit

from forebay.config.addresses import socket_path
from forebay.domain.endpoint import path_at
from forebay.gateway.http1.message import HeaderList, Request

# RFC 9110 section 7.6.1, and what proxies have always kept to themselves.
HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
# Written anew for the engine. Without accept-encoding an engine's reply comes plain, so that its usage can be read.
_REWRITTEN = HOP_BY_HOP | {
    b"host",
    b"content-length",
    b"content-encoding",
    b"expect",
    b"accept-encoding",
    b"x-request-id",
    b"x-forwarded-for",
    b"authorization",
    b"x-api-key",
    b"x-data-parallel-rank",  # vLLM's: which rank takes a request is not for its client to say
}
# The reply's framing is decided by its writer.
_REFRAMED = HOP_BY_HOP | {b"content-length", b"x-request-id"}
_UNCACHED = frozenset({b"cache-control", b"x-accel-buffering"})


@lru_cache(maxsize=4096)
def host_of(url: str, host: str = "") -> bytes:
    """The Host line's value for an endpoint's base URL; credentials in a URL are not for it.

    `host` is the name that it is asked by, where the URL has only an address. A Unix socket has no name of its own.
    """
    if socket_path(url):
        return b"localhost"
    parts = urlsplit(url)
    return (f"{host}:{parts.port}" if host else parts.netloc.rpartition("@")[2]).encode("idna")


def request_headers(
    request: Request, *, url: str, content_length: int, extra: HeaderList, forward_auth: bool, host: str = ""
) -> bytes:
    """The head of the request to the engine at `url`; a path in it is the base of its API. `host` is as for `host_of`.

    Credentials of the client go on only with `forward_auth`; `extra` lines are ours.
    """
    own = b"".join([b"%b: %b\r\n" % header for header in extra])
    standing = _standing_lines(request, url, host, forward_auth)
    return b"%b%bcontent-length: %d\r\n\r\n" % (standing, own, content_length)


@lru_cache(maxsize=1024)
def _standing_lines(request: Request, url: str, host: str, forward_auth: bool) -> bytes:
    """What is the same for every request with this head."""
    dropped = _REWRITTEN - {b"authorization", b"x-api-key"} if forward_auth else _REWRITTEN
    target = path_at(url, request.target).encode("latin-1")
    lines = [b"%b %b HTTP/1.1\r\nhost: %b\r\n" % (request.method.encode(), target, host_of(url, host))]
    lines += [b"%b: %b\r\n" % header for header in _kept(request.headers, dropped)]
    path = [value for name, value in request.headers if name == b"x-forwarded-for"] + [request.peer.encode()]
    lines.append(b"x-forwarded-for: %b\r\n" % b", ".join(path))
    return b"".join(lines)


def value_of(headers: HeaderList, name: bytes) -> bytes:
    """The value of the first line with this lower-case name, empty without one."""
    for key, value in headers:
        if key == name:
            return value
    return b""


def response_headers(headers: HeaderList) -> HeaderList:
    """An engine's header lines for the client: no hop-by-hop ones, no framing. Repeated ones, such as Set-Cookie, stay."""
    return _kept(headers, _REFRAMED)


def sse_headers(headers: HeaderList) -> HeaderList:
    """The same for a stream of events, with what keeps proxies and browsers from holding it up."""
    kept = [header for header in _kept(headers, _REFRAMED) if header[0] not in _UNCACHED]
    return [*kept, (b"cache-control", b"no-cache, no-transform"), (b"x-accel-buffering", b"no")]


def _kept(headers: HeaderList, dropped: frozenset[bytes]) -> HeaderList:
    kept = []
    named: set[bytes] = set()
    for header in headers:
        name, value = header
        if name not in dropped:
            kept.append(header)
        elif name == b"connection":
            named.update(token.strip().lower() for token in value.split(b","))
    return [header for header in kept if header[0] not in named] if named else kept
