"""Compressed bodies, undone within a bound."""

import gzip
import zlib
from pathlib import Path

import pytest

from forebay.gateway.http1.coding import CodingError, Gunzip, decode_body, gunzip, without_gzip

CASES = Path(__file__).parents[2] / "cases"


def test_p23_a_gzip_request_is_decoded():
    packed = (CASES / "p23_request.json.gz").read_bytes()
    for coding in (b"GZIP", b"gzip", b" x-gzip "):
        assert decode_body(coding, packed, 100_000) == gzip.decompress(packed)


def test_plain_bodies_are_left_alone():
    body = bytearray(b"x")
    for coding in (None, b"", b"identity", b"Identity"):
        assert decode_body(coding, body, 0) is body


@pytest.mark.parametrize("coding", [b"br", b"zstd", b"deflate", b"gzip, gzip", b"x"])
def test_other_codings_are_refused(coding):
    with pytest.raises(CodingError) as caught:
        decode_body(coding, b"x", 10)
    assert (caught.value.status, caught.value.code) == (415, "unsupported-content-encoding")


def test_a_bomb_is_stopped_at_the_limit():
    bomb = gzip.compress(bytes(50_000_000), mtime=0)
    with pytest.raises(CodingError) as caught:
        decode_body(b"gzip", bomb, 1_000_000)
    assert caught.value.status == 413
    assert gunzip(bomb, 50_000_000) == bytes(50_000_000)


def test_members_follow_each_other_but_not_without_end():
    assert (
        gunzip(gzip.compress(b"a", mtime=0) + gzip.compress(b"", mtime=0) + gzip.compress(b"b", mtime=0), 2)
        == b"ab"
    )
    with pytest.raises(CodingError):
        gunzip(gzip.compress(b"a", mtime=0) + gzip.compress(b"b", mtime=0), 1)
    with pytest.raises(zlib.error, match="members"):
        gunzip(gzip.compress(b"", mtime=0) * 100_000, 10)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"x",
        b"\x1f\x8b",
        gzip.compress(b"hello", mtime=0)[:-1],
        gzip.compress(b"hello", mtime=0) + b"tail",
    ],
)
def test_broken_gzip_is_the_clients_fault(body):
    with pytest.raises(CodingError) as caught:
        decode_body(b"gzip", body, 100)
    assert (caught.value.status, caught.value.code) == (400, "bad-content-encoding")


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_gzip_is_undone_as_it_comes(size):
    plain = bytes(range(256)) * 100
    packed = gzip.compress(plain, mtime=0)
    gunzip = Gunzip(len(plain))
    assert b"".join(gunzip.feed(packed[i : i + size]) for i in range(0, len(packed), size)) == plain
    assert gunzip.complete
    with pytest.raises(CodingError):
        gunzip.feed(b"x")


@pytest.mark.parametrize(
    "body", [b"plain text", gzip.compress(bytes(1001), mtime=0), gzip.compress(b"x", mtime=0) + b"y"]
)
def test_gzip_that_is_broken_or_too_large_is_told(body):
    with pytest.raises(CodingError):
        Gunzip(1000).feed(body)


def test_gzip_replies_are_known_by_their_header():
    headers = [(b"content-encoding", b"GZip"), (b"a", b"b"), (b"content-length", b"5")]
    assert without_gzip(headers) == [(b"a", b"b")]
    assert without_gzip([(b"content-encoding", b"br"), (b"content-type", b"gzip")]) is None
