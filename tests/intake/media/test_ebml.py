"""EBML elements: lengths of lengths, unknown sizes, and the budget."""

import pytest

from forebay.intake.media.boxes import Budget
from forebay.intake.media.ebml import Element, real, walk, whole


def listed(data, *, enter=(), budget=99):
    return list(walk(data, 0, len(data), Budget(budget), enter))


@pytest.mark.parametrize("size", [b"\x83", b"\x40\x03", b"\x20\x00\x03", b"\x01" + bytes(6) + b"\x03"])
@pytest.mark.parametrize(("kind", "id_bytes"), [(0xEC, 1), (0x4286, 2), (0x2AD7B1, 3), (0x1F43B675, 4)])
def test_ids_and_sizes_of_every_length(kind, id_bytes, size):
    data = kind.to_bytes(id_bytes, "big") + size + b"abc" + b"\xec\x80"
    start = id_bytes + len(size)
    assert listed(data) == [Element(kind, start, start + 3), Element(0xEC, start + 5, start + 5)]


def test_an_element_is_cut_to_its_parent():
    assert listed(b"\xec\x8fab") == [Element(0xEC, 2, 4)]


@pytest.mark.parametrize(
    ("outer", "enter"), [(b"\xae\x83", {0xAE}), (b"\xae\xff", ()), (b"\xae\x01" + b"\xff" * 7, ())]
)
def test_children_follow_an_element_that_is_entered_or_has_no_size(outer, enter):
    first, second = listed(outer + b"\xec\x81x", enter=enter)
    assert (first.kind, second.kind, second.end - second.start) == (0xAE, 0xEC, 1)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", b"\x08\x80\x80\x80\x80\x80", b"\xec", b"\xec\x00" + bytes(9), b"\xec\x40", b"\x1f\x43"],
)
def test_impossible_lengths_end_the_walk(data):
    assert listed(data) == []


def test_the_budget_ends_the_walk():
    assert len(listed(b"\xec\x80" * 50, budget=7)) == 7


@pytest.mark.parametrize(
    ("payload", "value"),
    [(b"\x3f\xc0\0\0", 1.5), (b"\x3f\xf8" + bytes(6), 1.5), (b"", 0), (b"\x7f\xc0\0\0", 0), (b"\x7f\xf0" + bytes(6), 0), (b"\x3f\xc0", 0)],
)  # fmt: skip
def test_reals(payload, value):
    assert real(payload, Element(0, 0, len(payload))) == value


def test_whole_numbers():
    assert whole(b"\1\2", Element(0, 0, 2)) == 0x102
    assert whole(b"\xff" * 20, Element(0, 0, 20)) == 2**64 - 1
    assert whole(b"", Element(0, 0, 0)) == 0
