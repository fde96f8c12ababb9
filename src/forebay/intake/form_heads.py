"""The head of one part of a form: its name, its file name, its type."""

import re

import msgspec

from forebay.intake.refusal import Refusal, bad_request

_MAX_NAME_CHARACTERS = 256
_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_LINE = re.compile(rb"(?P<key>%b):[ \t]*(?P<value>[^\x00-\x08\x0a-\x1f\x7f]*)" % _TOKEN)
_DISPOSITION = re.compile(rb"form-data[ \t]*(?P<parameters>;.*)", re.IGNORECASE | re.DOTALL)
# A quote inside a value is %22 (WHATWG HTML, multipart/form-data). Readers differ in what they make of one behind a backslash.
_PARAMETER = re.compile(
    rb';[ \t]*(?P<key>%b)[ \t]*=[ \t]*(?:"(?P<quoted>[^"]*)"|(?P<token>%b))[ \t]*' % (_TOKEN, _TOKEN)
)
_ENCODINGS = frozenset([b"binary", b"8bit", b"7bit"])


class Head(msgspec.Struct, frozen=True, gc=False):
    """`name` of the field; `is_file` tells that a file name came with it; `content_type` as declared, empty if it was not."""

    name: str
    is_file: bool = False
    content_type: str = ""


def read_head(lines: bytes, at: int) -> Head:
    """Read the lines of a head that begins at byte `at`. Raises a Refusal that names the byte."""
    fields = _fields(lines, at)
    if fields.get(b"content-transfer-encoding", b"binary").lower() not in _ENCODINGS:
        raise broken("a part has a transfer encoding", at)
    disposition = _DISPOSITION.fullmatch(fields.get(b"content-disposition", b""))
    if disposition is None:
        raise broken("a part has no Content-Disposition of form-data", at)
    parameters = _parameters(disposition["parameters"], at)
    name = _text(parameters.get(b"name", b""), at)
    if not name or len(name) > _MAX_NAME_CHARACTERS:
        raise broken(f"a part needs one name of 1 to {_MAX_NAME_CHARACTERS} characters", at)
    is_file = b"filename" in parameters or b"filename*" in parameters
    return Head(name, is_file, fields.get(b"content-type", b"").decode("latin-1"))


def _fields(lines: bytes, at: int) -> dict[bytes, bytes]:
    fields: dict[bytes, bytes] = {}
    for line in lines.split(b"\r\n"):
        field = _LINE.fullmatch(line)
        if field is None:
            raise broken("a line of a part's head is no header", at)
        key = field["key"].lower()
        if key in fields:
            raise broken("a header of a part comes twice", at)
        fields[key] = field["value"].rstrip(b" \t")
    return fields


def _parameters(text: bytes, at: int) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    begin = 0
    while begin < len(text):
        parameter = _PARAMETER.match(text, begin)
        if parameter is None or (parameter["quoted"] or b"").endswith(b"\\"):
            raise broken("a Content-Disposition cannot be read: a quote inside a name is written %22", at)
        key = parameter["key"].lower()
        if b"*" in key and key != b"filename*":
            raise broken("a parameter of Content-Disposition comes in pieces or in a coding of its own", at)
        if key in found:
            raise broken("a parameter of Content-Disposition comes twice", at)
        found[key] = parameter["token"] if parameter["quoted"] is None else parameter["quoted"]
        begin = parameter.end()
    return found


def _text(name: bytes, at: int) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise broken("a name is not valid UTF-8", at) from None


def broken(what: str, at: int) -> Refusal:
    """The refusal of a form that is broken at byte `at`."""
    return bad_request("invalid_form", f"byte {at}: {what}")
