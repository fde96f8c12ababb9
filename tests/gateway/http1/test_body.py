"""How much memory a body that is still coming takes."""

import pytest

from forebay.gateway.http1.body import FIRST_BYTES, LengthBody


def receive(body, piece):
    """Take one read of at most `piece` bytes, all of them 7."""
    with body.room() as room:
        size = min(len(room), piece)
        room[:size] = b"\7" * size
    body.received += size


def test_a_claim_alone_takes_no_memory():
    assert len(LengthBody(32 * 1024 * 1024, b"").buffer) == 0
    assert bytes(LengthBody(32 * 1024 * 1024, b"abc").buffer) == b"abc"


@pytest.mark.parametrize("piece", [1, 1000, 65_536, 200_000])
@pytest.mark.parametrize("first", [b"", b"\7", b"\7" * FIRST_BYTES, b"\7" * 100_000])
def test_memory_follows_what_has_come(piece, first):
    length = 110_000 if piece == 1 else 3_000_001
    body = LengthBody(length, first)
    while not body.complete:
        receive(body, piece)
        assert len(body.buffer) <= min(length, max(FIRST_BYTES, 2 * body.received))
    assert bytes(body.buffer) == b"\7" * length
