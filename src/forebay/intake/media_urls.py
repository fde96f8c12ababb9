"""Which remote media URLs may be passed on to an engine, which will fetch them from inside its network.

Parsers differ in what they make of odd URLs, so only one plain form is let through: scheme, a name of ASCII labels,
perhaps a port, then the rest. All else is refused: addresses in any spelling, user names, escapes or backslashes in the
host, trailing dots. See RFC 3986, 3.2, and for what is an address in disguise the WHATWG URL standard, 3.5.
"""

import re

from forebay.intake.refusal import Refusal, bad_request
from forebay.intake.settings import MediaUrlSettings

_PLAIN = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]{1,5})?(?:[/?#][^\x00-\x20\\\x7f]*)?",
    re.IGNORECASE | re.ASCII,
)
# A name whose last label is a number is read as an IPv4 address.
_ENDS_IN_NUMBER = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$", re.ASCII)
# Names that mean the engine's own host or network (RFC 6761, RFC 6762, RFC 8375, and ICANN's private-use `internal`).
_INSIDE = (".localhost", ".local", ".internal", ".localdomain", ".home.arpa", ".lan")


def check_url(url: str, settings: MediaUrlSettings, param: str) -> None:
    """Raise a Refusal when `url` may not be passed on. `param` is its place in the body."""
    parts = _PLAIN.fullmatch(url)
    if parts is None:
        raise _refused(param, "media URLs are https:// and a plain host name")
    scheme, host = parts["scheme"].lower(), parts["host"].lower()
    if settings.allow:
        if not any(_allows(entry.lower(), scheme, host) for entry in settings.allow):
            raise _refused(param, "this host or scheme is not in the list of allowed media hosts")
    elif scheme != "https" or not _is_public_name(host):
        raise _refused(
            param, "media URLs are https:// and a public host name, not an address or a local name"
        )


def _allows(entry: str, scheme: str, host: str) -> bool:
    host_entry = entry.removeprefix("http://")
    if scheme == "http" and host_entry == entry:
        return False
    return host == host_entry or (host_entry.startswith(".") and host.endswith(host_entry))


def _is_public_name(host: str) -> bool:
    return "." in host and not _ENDS_IN_NUMBER.search(host) and not host.endswith(_INSIDE)


def _refused(param: str, message: str) -> Refusal:
    return bad_request("url_not_allowed", f"{message} (setting `media_urls.allow`)", param)
