"""Requests that wait for a better moment."""

import pytest

from forebay.admission.late import FORCE_US, LateQueue


def test_short_work_goes_first_and_waiting_makes_up_for_length():
    late = LateQueue()
    late.push("long", 0, 400_000)
    late.push("short", 0, 100_000)
    assert late.first(0) == ("short", False)
    late.remove("short")
    late.push("later", 700_000, 100_000)
    # 400,000 - 350,000 < 100,000
    assert late.first(700_000) == ("long", False)


def test_who_has_waited_too_long_comes_before_all_and_must_be_bound():
    late = LateQueue()
    late.push("older", 0, 9e9)
    late.push("old", 10, 9e9)
    late.push("new", FORCE_US, 0)
    assert late.first(FORCE_US + 10) == ("older", True)
    late.remove("older")
    assert late.first(FORCE_US + 10) == ("old", True)
    late.remove("old")
    late.remove("old")
    assert late.first(FORCE_US + 10) == ("new", False)
    assert len(late) == 1


def test_nobody_is_first_where_nobody_waits():
    with pytest.raises(ValueError, match="empty"):
        LateQueue().first(0)
