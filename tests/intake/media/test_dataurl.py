"""Data URLs as clients write them: P01, P02, and the escapes of JSON."""

import contextlib
import json
from pathlib import Path

import msgspec
import pybase64
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.intake.media.dataurl import (
    MAX_HEADER_BYTES,
    DataURLError,
    decode_data_url,
    decode_media,
    is_data_url,
)
from forebay.intake.media.probe import probe
from forebay.intake.tokens.price import price
from forebay.intake.tokens.registry import build

CASES = Path(__file__).parents[2] / "cases"


def url_of(request):
    return next(
        part["image_url"]["url"] for part in request["messages"][0]["content"] if part["type"] == "image_url"
    )


VARIANTS = [json.loads(line) for line in (CASES / "p02_base64_variants.jsonl").read_text().splitlines()]
CANONICAL = decode_data_url(url_of(VARIANTS[0]["request"]))


def as_json_bytes(url):
    return json.dumps(url).encode()


def test_p01_parameters_before_the_marker():
    media = decode_data_url(url_of(json.loads((CASES / "p01_charset_param.json").read_bytes())))
    header = probe(media.data)
    assert (media.declared_mime, header.mime, header.width, header.height) == (
        "image/png",
        "image/png",
        280,
        140,
    )
    assert price(build("qwen2-vl", {"min_pixels": 3136}), header).tokens == 50


@pytest.mark.parametrize("line", [line for line in VARIANTS if line["ok"]], ids=lambda line: line["variant"])
@pytest.mark.parametrize("shape", [str, as_json_bytes, lambda url: memoryview(as_json_bytes(url))[1:-1], lambda url: msgspec.Raw(as_json_bytes(url))])  # fmt: skip
def test_p02_all_spellings_of_a_picture_share_one_hash(line, shape):
    media = decode_data_url(shape(url_of(line["request"])))
    header = probe(media.data)
    assert media.content_hash == CANONICAL.content_hash
    assert (header.mime, header.width, header.height) == ("image/png", 280, 140)
    assert price(build("qwen2-vl"), header).tokens == 50


@pytest.mark.parametrize(
    "line", [line for line in VARIANTS if not line["ok"]], ids=lambda line: line["variant"]
)
def test_p02_invalid_spellings_are_refused_without_an_echo(line):
    url = url_of(line["request"])
    with pytest.raises(DataURLError) as refused:
        decode_data_url(url)
    assert "iVBOR" not in str(refused.value)
    assert refused.value.__context__ is None or refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("written", "data"),
    [
        (rb'"data:image\/png;base64,\/\/8="', b"\xff\xff"),
        (rb'"data:image\/png;base64,\/\/8\u003d"', b"\xff\xff"),
        (rb'"data:image/png;base64,\u002b\u002B8="', b"\xfb\xef"),
        (rb'"data:image/png;base64,AA\r\nAA\n\tAA AA"', bytes(6)),
        (b"  data:image/png ; name=a.png ;base64 , AAAA \n", bytes(3)),
        (b"data:;base64,AAAA", bytes(3)),
        (b"data:image/png;base64,%2b%2B%2f%3D%0d%0A", b"\xfb\xef"),
        (b"data:image/png;base64,-_-_", b"\xfb\xff\xbf"),
        (b"data:image/png;base64,AA", bytes(1)),
        (b"data:image/png;base64,AA=", bytes(1)),
    ],
)
def test_tolerated_spellings(written, data):
    assert decode_data_url(written).data == data


@pytest.mark.parametrize(
    "written",
    [
        "",
        "data:",
        "data:,",
        "data:image/png,AAAA",
        "data:image/svg+xml;utf8,<svg/>",
        "data:base64,AAAA",
        "image/png;base64,AAAA",
        "https://example.com/a,b",
        "data:image/png;base64,A",
        "data:image/png;base64,AAAAA",
        "data:image/png;base64,AA=A",
        "data:image/png;base64,====",
        "data:image/png;base64,AA%41A",
        "data:image/png;base64,\u00e9AAA",
        "data:image/png;base64,AAAA\\",
        "data:image/png;base64,\\u00e9AAA",
        "data:image/\\x;base64,AAAA",
        "data:image/png;base64," + " " * 20,
        b"data:image/png;base64,\xff\xfeAA",
        "data:" + "a" * MAX_HEADER_BYTES + ";base64,AAAA",
    ],
)
def test_refused_spellings(written):
    with pytest.raises(DataURLError):
        decode_data_url(written)


@given(st.binary(min_size=1, max_size=300), st.data())
def test_wrapping_alphabet_and_padding_never_change_the_bytes(data, draw):
    text = pybase64.b64encode(data)
    if draw.draw(st.booleans()):
        text = text.replace(b"+", b"-").replace(b"/", b"_")
    if draw.draw(st.booleans()):
        text = text.rstrip(b"=")
    width = draw.draw(st.integers(1, 80))
    text = draw.draw(st.sampled_from([b"\n", b"\r\n", b" ", b""])).join(
        text[at : at + width] for at in range(0, len(text), width)
    )
    quoted = json.dumps("data:image/png;base64," + text.decode()).encode()
    assert decode_data_url(memoryview(quoted)).data == data


@given(st.one_of(st.text(max_size=200), st.binary(max_size=200)), st.booleans())
def test_any_text_is_decoded_or_refused(text, prefixed):
    if prefixed:
        text = "data:image/png;base64," + text if isinstance(text, str) else b"data:image/png;base64," + text
    is_data_url(text)
    for decode in (decode_data_url, decode_media):
        with contextlib.suppress(DataURLError):
            assert decode(text).data


def test_bare_base64_and_a_data_url_in_its_place_are_one():
    bare = decode_media("AAAA", "Audio/WAV")
    assert (bare.declared_mime, bare.data) == ("audio/wav", bytes(3))
    assert decode_media(" DATA:audio/x-wav;base64,AAAA").content_hash == bare.content_hash


@pytest.mark.parametrize(("text", "answer"), [("data:x", True), (b'"DaTa:x', True), ("  data:", True), ("https://a", False), (b"", False), ("d\u00e4ta:", False)])  # fmt: skip
def test_is_data_url(text, answer):
    assert is_data_url(text) is answer
