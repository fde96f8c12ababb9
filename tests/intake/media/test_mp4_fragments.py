"""Fragments: where a sample's duration is said, and what the budget leaves out."""

from struct import pack

import pytest

from forebay.intake.media.boxes import ENTRIES_PER_BOX, Box, Budget, first
from forebay.intake.media.mp4_fragments import Length, length

OURS, OTHER = 2, 1


def box(kind, *payloads):
    payload = b"".join(payloads)
    return pack(">I4s", 8 + len(payload), kind) + payload


def moov(*extends):
    return box(b"moov", box(b"mvex", *extends) if extends else b"")


def trex(track, duration):
    return box(b"trex", pack(">5I", 0, track, 1, duration, 0), bytes(4))


def tfhd(track=OURS, flags=0, *fields):
    return box(b"tfhd", pack(">II", flags, track), *fields)


def trun(flags, count, *fields):
    return box(b"trun", pack(">II", flags, count), *(pack(">I", field) for field in fields))


def moof(*boxes):
    return box(b"moof", box(b"traf", *boxes))


def measured(data, boxes=1_000):
    whole = Box(b"", 0, len(data))
    return length(data, first(data, whole, b"moov", Budget(9)), OURS, Budget(boxes))


@pytest.mark.parametrize(
    ("head", "run", "expected"),
    [
        (tfhd(), trun(0, 5), (5, 500)),
        (tfhd(OURS, 0x8, pack(">I", 7)), trun(0, 5), (5, 35)),
        (tfhd(OURS, 0xB, bytes(12), pack(">I", 7)), trun(0, 5), (5, 35)),
        (tfhd(OURS, 0x8), trun(0, 5), (5, 500)),
        (tfhd(), trun(0x100, 3, 10, 20, 30), (3, 60)),
        (tfhd(), trun(0x305, 2, 99, 99, 10, 1_000, 20, 1_000), (2, 30)),
        (tfhd(), trun(0xF00, 1, 10, 1, 2, 3), (1, 10)),
        (tfhd(), trun(0x100, 2**32 - 1, 10, 20), (2, 30)),
        (tfhd(), trun(0x104, 9), (0, 0)),
        (tfhd(OTHER), trun(0, 5), (0, 0)),
    ],
    ids=["trex", "tfhd", "tfhd-behind-others", "tfhd-cut", "trun", "trun-with-sizes", "trun-with-all", "claims", "cut", "other"],
)  # fmt: skip
def test_the_nearest_word_counts(head, run, expected):
    data = (
        moov(trex(OTHER, 1), trex(OURS, 100))
        + moof(head, run)
        + box(b"mdat", bytes(9))
        + box(b"moof", box(b"free"))
    )
    assert measured(data) == Length(*expected, whole=True)


def test_without_any_word_samples_are_counted():
    assert measured(moov() + moof(tfhd(), trun(0, 5), box(b"trun"))) == Length(5, 0, whole=True)
    assert measured(moov(trex(OTHER, 3), box(b"trex")) + moof(tfhd(), trun(0, 5))) == Length(5, 0, whole=True)


def test_fragments_beyond_the_budget_are_taken_to_be_like_those_within():
    data = moov(trex(OURS, 10)) + (moof(tfhd(), trun(0, 5)) + box(b"mdat", bytes(90))) * 1_000
    samples, units, whole = measured(data, boxes=500)
    assert (samples, units) == (pytest.approx(5_000, rel=0.01), pytest.approx(50_000, rel=0.01))
    assert not whole


def test_a_budget_that_ends_before_the_first_fragment_tells_nothing():
    assert measured(moov() + box(b"free") * 9 + moof(tfhd(), trun(0, 5)), boxes=6) == Length(
        0, 0, whole=False
    )


def test_entries_are_paid_for():
    data = moov() + moof(tfhd(), trun(0x100, ENTRIES_PER_BOX * 20, *[1] * (ENTRIES_PER_BOX * 20)))
    assert measured(data, boxes=100) == Length(ENTRIES_PER_BOX * 20, ENTRIES_PER_BOX * 20, whole=True)
    assert not measured(data, boxes=16).whole
    budget = Budget(3)
    assert (budget.entries(10), budget.entries(10_000), budget.left) == (10, 3 * ENTRIES_PER_BOX, 0)
    assert budget.entries(1) == 0
