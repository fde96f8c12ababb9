"""Loads of several, put together."""

from forebay.domain.load import AMOUNTS, COUNTERS, Load, gained, together


def test_amounts_add_up_and_moments_do_not():
    one = Load(3, in_flight=2, backlog_us=50, head_us=20, progressed_at=100, cooling_until=7, failed=1)
    two = Load(3, in_flight=1, backlog_us=5, head_us=5, progressed_at=90, cooling_until=4, failed=2)
    idle = Load(3, decoding=1)
    assert together(3, [one, two, idle]) == Load(
        3, in_flight=3, decoding=1, backlog_us=55, head_us=5, progressed_at=90, cooling_until=7, failed=3
    )


def test_nobody_has_nothing():
    assert together(5, []) == Load(5)


def test_every_amount_is_put_together():
    ones = Load(0, **dict.fromkeys(AMOUNTS, 1))
    both = together(0, [ones, ones])
    moments = {"head_us", "progressed_at", "cooling_until", "shut_until"}
    assert {name: getattr(both, name) for name in AMOUNTS} == {
        name: 1 if name in moments else 2 for name in AMOUNTS
    }


def test_what_has_begun_anew_has_gained_all_that_it_shows():
    assert gained(Load(0, failed=5, absent=1), Load(0, failed=2, absent=3)) == tuple(
        {"failed": 2, "absent": 2}.get(name, 0) for name in COUNTERS
    )
