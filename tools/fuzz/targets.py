"""What is fuzzed: every reader of bytes that strangers send, each with files to start from and the errors it may raise.

Nothing of Forebay is imported before `targets` is called, so that a fuzzer can instrument it first.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
# Inputs that once were findings, each named after its target.
FINDINGS = ROOT / "tests/tools/findings"
MEDIA_FILES = (ROOT / "tests/intake/media/samples", FINDINGS, ROOT / "tests/cases")
# Enough of a sample to hold its headers.
SEED_BYTES = 64 * 1024
_DATA_URL = re.compile(rb'"(data:[^"]{100,})"')


class Target(NamedTuple):
    """One reader. `call` may raise its `refusals` only; inputs are also repeated up to `stretched_bytes`.

    A probe steps over a file, and a file may be long. What reads text looks at each byte of it, so that its time grows
    with its length, and only the growth beyond that is to be found.
    """

    call: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...]
    seeds: tuple[bytes, ...]
    stretched_bytes: int = 1 << 20

    def replay(self, data: bytes) -> None:
        """Read `data`. Raises whatever is not a refusal."""
        with suppress(*self.refusals):
            self.call(data)

    def stretched(self, data: bytes) -> bytes:
        """A long input made of `data`: its start, and its second half again and again."""
        unit = data[len(data) // 2 :] or b"\0"
        return data[:1024] + unit * (self.stretched_bytes // len(unit))


def targets() -> dict[str, Target]:
    """Every target by name: one for each media format, and the readers of text."""
    return {**_probes(), **_texts()}


def _probes() -> dict[str, Target]:
    from forebay.intake.media.header import MalformedMedia
    from forebay.intake.media.probe import FORMATS, HEAD_BYTES, probe, read

    def reader(known: Any) -> Callable[[bytes], object]:
        return lambda data: known.matches(data[:HEAD_BYTES]) and read(known, memoryview(data))

    files = [_read(path) for folder in MEDIA_FILES for path in sorted(folder.iterdir())]
    found = {
        known.__name__.rpartition(".")[2]: Target(
            reader(known),
            (MalformedMedia,),
            tuple(data for data in files if known.matches(data[:HEAD_BYTES])),
        )
        for known in FORMATS
    }
    heads = tuple(data[:4096] for data in files)
    return found | {"any-media": Target(lambda data: probe(memoryview(data)), (MalformedMedia,), heads)}


def _texts() -> dict[str, Target]:
    import msgspec

    from forebay.domain.request import Api
    from forebay.intake.document import check_document
    from forebay.intake.forms import FORM_OF
    from forebay.intake.media.dataurl import DataURLError, decode_media
    from forebay.intake.members import Members
    from forebay.intake.multipart import boundary_of, parts_of
    from forebay.intake.refusal import Refusal
    from forebay.intake.settings import IntakeSettings
    from forebay.intake.skeleton import Skeleton
    from forebay.intake.tokens.registry import build
    from forebay.intake.understand import understand

    def form(data: bytes) -> None:
        parts_of(data, data[2:72].partition(b"\r\n")[0] or b"b")

    def members(data: bytes) -> None:
        check_document(data, settings)  # nothing deeper than that reaches the parser
        Members(data, sensitive)

    apis = sorted(FORM_OF)

    def any_api(data: bytes) -> None:
        """The first byte names the API."""
        api, body = apis[data[0] % len(apis)] if data else apis[0], data[1:]
        boundary = body[2:72].partition(b"\r\n")[0].decode("latin-1")
        kind = f"multipart/form-data; boundary={boundary}"
        understand(api, body, settings, "fuzz", lambda _: family, content_type=kind)

    def chat(data: bytes) -> None:
        understand(Api.CHAT, data, settings, "fuzz", lambda _: family)

    def skeleton(data: bytes) -> None:
        cut = Skeleton(data)
        assert cut.restored(cut.text) == data

    settings, family, sensitive = IntakeSettings(), build("qwen2-vl"), frozenset(["model", "stream"])
    bodies = tuple(_read(path) for path in sorted((ROOT / "tests/cases").glob("*.json")))
    urls = tuple(url for body in bodies for url in _DATA_URL.findall(body))
    forms = tuple(_read(path) for path in sorted((ROOT / "tests/cases").glob("*multipart.bin")))
    types = (b"multipart/form-data; boundary=x", b'multipart/form-data; charset=utf-8; boundary="a b"')
    every = tuple(bytes([index]) + body for index in range(len(apis)) for body in (*bodies, *forms))
    short = 1 << 16
    return {
        "data-url": Target(decode_media, (DataURLError,), urls, short),
        "any-api": Target(any_api, (Refusal,), every, short),
        "chat": Target(chat, (Refusal,), bodies, short),
        "document": Target(lambda data: check_document(data, settings), (Refusal,), bodies, short),
        "members": Target(members, (Refusal, msgspec.DecodeError), bodies, short),
        "skeleton": Target(skeleton, (), bodies, short),
        "form": Target(form, (Refusal,), forms, short),
        "content-type": Target(lambda data: boundary_of(data.decode("latin-1")), (Refusal,), types, short),
    }


def _read(path: Path) -> bytes:
    return path.read_bytes()[:SEED_BYTES]
