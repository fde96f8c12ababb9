"""Compressed bodies, undone within a bound."""

import gzip
import zlib
from pathlib import Path

import pytest

from forebay.gateway.http1.coding import CodingError, accepts_gzip, decode_body, gunzip, is_gzip

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
    bomb = gzip.compress(bytes(50_000_000))
    with pytest.raises(CodingError) as caught:
        decode_body(b"gzip", bomb, 1_000_000)
    assert caught.value.status == 413
    assert gunzip(bomb, 50_000_000) == bytes(50_000_000)


def test_members_follow_each_other_but_not_without_end():
    assert gunzip(gzip.compress(b"a") + gzip.compress(b"") + gzip.compress(b"b"), 2) == b"ab"
    with pytest.raises(CodingError):
        gunzip(gzip.compress(b"a") + gzip.compress(b"b"), 1)
    with pytest.raises(zlib.error, match="members"):
        gunzip(gzip.compress(b"") * 100_000, 10)


@pytest.mark.parametrize(
    "body", [b"", b"x", b"\x1f\x8b", gzip.compress(b"hello")[:-1], gzip.compress(b"hello") + b"tail"]
)
def test_broken_gzip_is_the_clients_fault(body):
    with pytest.raises(CodingError) as caught:
        decode_body(b"gzip", body, 100)
    assert (caught.value.status, caught.value.code) == (400, "bad-content-encoding")


def test_gzip_replies_are_known_by_their_header():
    assert is_gzip([(b"content-encoding", b"GZip")])
    assert not is_gzip([(b"content-encoding", b"br"), (b"content-type", b"gzip")])


@pytest.mark.parametrize(
    ("offer", "accepted"),
    [
        (None, False),
        (b"", False),
        (b"br", False),
        (b"gzip", True),
        (b"br, GZIP;q=0.5", True),
        (b"x-gzip", True),
        (b"*", True),
        (b"gzip; q=0", False),
        (b"gzip;q=0.000", False),
        (b"*;q=0", False),
        (b"*, gzip;q=0", False),
        (b"identity, *;q=0.1", True),
    ],
)
def test_what_clients_accept(offer, accepted):
    assert accepts_gzip(offer) is accepted
