"""Answers of a name, one after the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.fleet.discovery import resolver
from forebay.fleet.discovery.names import Addresses


def test_an_address_is_gone_when_two_answers_in_a_row_lack_it():
    addresses = Addresses()
    assert addresses.answered(("1", "2"))
    assert not addresses.answered(("2",))
    assert addresses.known == ("2", "1")  # what was answered last stands first
    assert addresses.answered(("2",))
    assert addresses.known == ("2",)


def test_parts_of_a_large_set_in_turn_change_nothing():
    addresses = Addresses()
    addresses.answered(("1", "2"))
    for part in [("2",), ("1",)] * 5:
        assert not addresses.answered(part)
    assert set(addresses.known) == {"1", "2"}


def test_another_order_is_no_change_and_an_empty_answer_neither():
    addresses = Addresses()
    addresses.answered(("1", "2"))
    assert not addresses.answered(("2", "1"))
    assert not addresses.answered(())
    assert addresses.known == ("2", "1")


@given(st.lists(st.lists(st.sampled_from("abcd"), unique=True)))
def test_what_was_answered_twice_in_a_row_is_what_is_known(answers):
    addresses = Addresses()
    last = ()
    for answer in map(tuple, answers):
        before = set(addresses.known)
        assert addresses.answered(answer) == (bool(answer) and set(addresses.known) != before)
        if answer:
            assert set(answer) <= set(addresses.known) <= set(answer) | before
            if answer == last:
                assert addresses.known == answer
            last = answer


async def test_the_system_resolves_names_and_addresses():
    assert "127.0.0.1" in await resolver.resolve("localhost")
    assert await resolver.resolve("::1") == ("::1",)
    with pytest.raises(OSError, match=r".+"):
        await resolver.resolve("no-such-name.invalid")
