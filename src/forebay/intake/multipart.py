"""Forms (multipart/form-data) taken apart by offsets: no byte of a file is copied, and each is looked at once.

Readers differ in what they make of odd forms: bare line feeds, blanks behind a boundary, names that come twice, escaped
quotes. So what two of them could read differently is refused, and an engine never sees another field than was read here.
The format is RFC 7578's, within RFC 2046's.
"""

import re

import msgspec

from forebay.intake.form_heads import Head, broken, read_head
from forebay.intake.refusal import bad_request

# OpenAI's largest form, an edit of 16 pictures, has some 30 parts.
MAX_PARTS = 128
# A name, a file name and a type need some 300 bytes.
MAX_HEAD_BYTES = 4_096
# In one value. Clients draw boundaries at random, so that files do not hold them, and each look costs 0.3 us.
MAX_LOOK_ALIKES = 256

_FORM = re.compile(
    r"[ \t]*multipart/form-data[ \t]*(?P<parameters>;.*)?", re.IGNORECASE | re.DOTALL | re.ASCII
)
# The characters of RFC 2046, 5.1.1. Those that are no token characters need quotes.
_PARAMETER = re.compile(
    r""";[ \t]*(?P<key>[!#$%&'*+.^_`|~0-9A-Za-z-]+)="""
    r"""(?:(?P<token>[!#$%&'*+.^_`|~0-9A-Za-z-]+)|"(?P<quoted>[^"\\\x00-\x1f\x7f]*)")[ \t]*"""
)
_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
_CHARSETS = frozenset(["utf-8", "utf8"])
_CRLF, _DASHES = b"\r\n", b"--"
_BLANKS_AND_ENDS = frozenset(b" \t\r\n")
_CR, _LF = b"\r\n"
_NO_END = "a boundary is followed by neither a line's end nor two dashes"


class Part(msgspec.Struct, frozen=True, gc=False):
    """One field: its head, and where its value lies in the body."""

    head: Head
    start: int
    stop: int

    @property
    def name(self) -> str:
        """The field's name."""
        return self.head.name


def boundary_of(content_type: str) -> bytes:
    """The boundary that a Content-Type names. Raises a Refusal when it is not a form's."""
    form = _FORM.fullmatch(content_type)
    if form is None:
        raise bad_request("invalid_content_type", "this path takes multipart/form-data")
    parameters = _parameters(form["parameters"] or "")
    boundary = parameters.get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise bad_request(
            "invalid_content_type", "multipart/form-data needs one boundary of 1 to 70 characters"
        )
    # Some readers decode names and values by it, UTF-7 among others, and so find fields that were not read here.
    if parameters.get("charset", "utf-8").lower() not in _CHARSETS:
        raise bad_request("invalid_content_type", "the only charset of a form is utf-8")
    return boundary.encode()


def parts_of(body: bytes | bytearray, boundary: bytes) -> tuple[Part, ...]:
    """The fields of a form, in their order. Raises a Refusal that names the byte where the form is broken."""
    delimiter = _DASHES + boundary
    if not body.startswith(delimiter):
        raise broken("the body does not begin with its boundary", 0)
    parts: list[Part] = []
    at = _after(body, len(delimiter), 0)
    while at:
        if len(parts) == MAX_PARTS:
            raise broken(f"more than {MAX_PARTS} parts", at)
        end = body.find(b"\r\n\r\n", at, at + MAX_HEAD_BYTES)
        if end < 0:
            raise broken(f"a part's head does not end within {MAX_HEAD_BYTES} bytes", at)
        start = end + 4
        head = read_head(bytes(body[at:end]), at)
        place = _next_delimiter(body, delimiter, start)
        parts.append(Part(head, start, place - len(_CRLF)))
        at = _after(body, place + len(delimiter), place)
    return tuple(parts)


def _next_delimiter(body: bytes | bytearray, delimiter: bytes, start: int) -> int:
    """Where the next boundary stands, behind a value that begins at `start`.

    A real one follows a line's end, which no boundary holds: so places that hold its bytes cannot overlap.
    """
    place = start - len(delimiter)
    for _ in range(MAX_LOOK_ALIKES):
        place = body.find(delimiter, place + len(delimiter))
        if place < 0:
            raise broken("the last part is not followed by a boundary", len(body))
        if _is_delimiter(body, place, place + len(delimiter), start):
            return place
    raise broken("the boundary comes too often inside one value: choose another", place)


def _is_delimiter(body: bytes | bytearray, place: int, after: int, start: int) -> bool:
    """Whether the boundary's bytes at `place` end a value that begins at `start`. Raises a Refusal when readers differ."""
    if body[place - 1] not in {_CR, _LF}:
        return False
    behind = bytes(body[after : after + 2])
    if behind not in {_CRLF, _DASHES}:
        if len(behind) < 2 or behind[0] in _BLANKS_AND_ENDS:
            raise broken(_NO_END, place)
        return False
    if body[place - 2 : place] != _CRLF or place - 2 < start:
        raise broken("a boundary does not follow a line's end of its own", place)
    return True


def _after(body: bytes | bytearray, at: int, place: int) -> int:
    """Where the part behind a boundary begins; 0 behind the last one, which only a line's end may follow."""
    behind = body[at : at + 2]
    if behind == _CRLF:
        return at + 2
    if behind != _DASHES:
        raise broken(_NO_END, place)
    if len(body) - at > 4 or bytes(body[at + 2 :]) not in {b"", _CRLF}:
        raise broken("there are bytes behind the last boundary", at + 2)
    return 0


def _parameters(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        parameter = _PARAMETER.match(text, at)
        # With a star a name is told in pieces or in another coding (RFC 2231), which some readers put together.
        if parameter is None or parameter["key"].lower() in found or "*" in parameter["key"]:
            return {}
        found[parameter["key"].lower()] = parameter["token"] or parameter["quoted"] or ""
        at = parameter.end()
    return found
