"""Base64 media as clients write it: data URLs and bare payloads, decoded once and hashed once.

The strict decoder runs first and takes nearly everything. What it refuses goes the tolerant way, which accepts what
real clients send (wrapped lines, URL-safe alphabet, no padding, stray spaces, percent signs, JSON escapes) and
nothing else. All forms of one picture decode to the same bytes, and so share one content hash.
"""

import msgspec
import pybase64
import xxhash

from forebay.intake.media.header import Buffer

# Parameters such as a file name stand before the comma. RFC 2397 sets no bound; nobody needs more.
MAX_HEADER_BYTES = 1_024

_SCHEME = b"data:"
_SPACES = b" \t\r\n\f\v"
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")
# The only characters of base64, its padding and its line ends that a URL encoder escapes.
_PERCENT_ESCAPES = tuple(
    (escape, sign)
    for code, sign in ((b"2B", b"+"), (b"2F", b"/"), (b"3D", b"="), (b"0D", b""), (b"0A", b""), (b"20", b""))
    for escape in {b"%" + code, b"%" + code.lower()}
)


class DataURLError(ValueError):
    """The text is no base64 data URL, or its payload no base64. The message holds nothing of the content."""


class DataURL(msgspec.Struct, frozen=True, gc=False):
    """Decoded media. `declared_mime` is lower case and a claim only. `content_hash` is xxh3-128: for routing, never a key."""

    declared_mime: str
    data: bytes | memoryview
    content_hash: int


def decode_data_url(raw: str | Buffer) -> DataURL:
    """Decode a data URL. `raw` is its text, or the bytes of the JSON string that holds it, with or without the quotes.

    A memoryview into a body is decoded without being copied first. Raises DataURLError.
    """
    view = _view(raw)
    start = bytes(view[:MAX_HEADER_BYTES])
    comma = start.find(b",")
    if comma < 0:
        raise DataURLError("a data URL without a comma after its header")
    return _decoded(_declared_mime(start[:comma]), view[comma + 1 :])


def decode_media(raw: str | Buffer, declared_mime: str = "") -> DataURL:
    """Decode bare base64, or a data URL where one stands by mistake (as in `input_audio.data`). Raises DataURLError."""
    view = _view(raw)
    if bytes(view[:MAX_HEADER_BYTES]).lstrip(_SPACES)[: len(_SCHEME)].lower() == _SCHEME:
        return decode_data_url(view)
    return _decoded(declared_mime.lower(), view)


def is_data_url(raw: str | Buffer) -> bool:
    """Tell whether this is meant as a data URL, in any spelling of the scheme."""
    head = raw[:64].encode() if isinstance(raw, str) else bytes(raw[:64])
    return head.lstrip(b'"' + _SPACES)[: len(_SCHEME)].lower() == _SCHEME


def _view(raw: str | Buffer) -> memoryview:
    if isinstance(raw, str):
        try:
            raw = raw.encode("ascii")
        except UnicodeEncodeError:
            raise DataURLError("media text holds characters outside ASCII") from None
    view = memoryview(raw)
    if len(view) >= 2 and view[0] == view[-1] == 0x22:  # the quotes of a JSON string
        return view[1:-1]
    return view


def _declared_mime(header: bytes) -> str:
    """MIME of `data:[mime][;name=value]*;base64`. The marker is the last part, whatever stands between."""
    if b"\\" in header:
        header = _unescaped(header)
    header = header.strip(_SPACES)
    if header[: len(_SCHEME)].lower() != _SCHEME:
        raise DataURLError("not a data URL")
    parts = [part.strip(_SPACES) for part in header[len(_SCHEME) :].split(b";")]
    if len(parts) < 2 or parts[-1].lower() != b"base64":
        raise DataURLError("a data URL without `;base64` before its comma")
    return parts[0].decode("ascii", "replace").lower()


def _decoded(mime: str, payload: memoryview) -> DataURL:
    try:
        data = pybase64.b64decode(payload, validate=True)
    except ValueError:
        data = _tolerant(payload)
    if not data:
        raise DataURLError("no media bytes")
    return DataURL(mime, data, xxhash.xxh3_128_intdigest(data))


def _tolerant(payload: memoryview) -> bytes:
    text = bytes(payload)
    if b"\\" in text:
        text = _unescaped(text)
    if b"%" in text:
        for escape, sign in _PERCENT_ESCAPES:
            text = text.replace(escape, sign)
    text = text.translate(_TO_STANDARD, _SPACES)
    text = text.removesuffix(b"=").removesuffix(b"=")
    if len(text) % 4 == 1:
        raise DataURLError("media is cut or no base64: one character too many")
    try:
        return pybase64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except ValueError:
        raise DataURLError("media holds characters outside base64") from None


def _unescaped(text: bytes) -> bytes:
    """The JSON string's own value, from the bytes between its quotes."""
    try:
        return msgspec.json.decode(b'"' + text + b'"', type=str).encode("ascii")
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise DataURLError("media text holds characters outside ASCII") from None
