"""Slots stay with their endpoints, whatever becomes of the plan around them."""

from hypothesis import given
from hypothesis import strategies as st

from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.config.slots import SlotBook

URLS = [f"http://10.0.0.{number}:8000" for number in range(1, 7)]


def plan_of(urls, slots, model="m"):
    data = {"pools": [{"model": model, "endpoints": [{"url": url} for url in urls]}]}
    return assemble(Document.of(data, "test"), slots)


def by_url(assembly):
    return {endpoint.url: endpoint.slot for endpoint in assembly.endpoints()}


def test_order_and_neighbours_change_no_slot():
    first = plan_of(URLS[:3], SlotBook())
    second = plan_of([URLS[3], *reversed(URLS[:3])], first.slots)
    assert by_url(first) == {URLS[0]: 0, URLS[1]: 1, URLS[2]: 2}
    assert by_url(second) == by_url(first) | {URLS[3]: 3}


def test_a_slot_is_free_only_once_nothing_lives_there():
    first = plan_of(URLS[:2], SlotBook())
    busy = first.slots.released({0, 1})
    assert by_url(plan_of([URLS[1], URLS[2]], busy)) == {URLS[1]: 1, URLS[2]: 2}
    emptied = first.slots.released({1})
    second = plan_of([URLS[1], URLS[2]], emptied)
    assert by_url(second) == {URLS[1]: 1, URLS[2]: 0}
    assert [(lease.slot, lease.generation) for lease in second.slots.leases] == [(1, 1), (0, 2)]


def test_a_plan_that_is_refused_takes_nothing():
    book = plan_of(URLS[:1], SlotBook()).slots
    for _ in range(3):
        plan_of(URLS[1:3], book)  # put together and not adopted
    assert by_url(plan_of([URLS[3]], book)) == {URLS[3]: 1}


def test_another_pool_is_another_endpoint():
    book = plan_of(URLS[:1], SlotBook()).slots
    assert by_url(plan_of(URLS[:1], book, model="other")) == {URLS[0]: 1}


def test_another_process_comes_to_the_same_slots():
    assembly = plan_of(URLS[2:4], plan_of(URLS[:4], SlotBook()).slots)
    copy = SlotBook(assembly.slots.leases)
    assert by_url(plan_of(URLS[2:4], copy)) == by_url(assembly)


plans = st.lists(
    st.tuples(st.lists(st.sampled_from(URLS), unique=True, min_size=1), st.sets(st.integers(0, 9)))
)


@given(plans)
def test_no_two_that_live_share_a_slot_and_none_is_moved(steps):
    book = SlotBook()
    held = {}  # what lives: the plan's, and what has not been emptied
    for urls, still_busy in steps:
        assembly = plan_of(urls, book)
        now = by_url(assembly)
        assert all(held.get(url, slot) == slot for url, slot in now.items())
        held = {url: slot for url, slot in held.items() if slot in still_busy} | now
        assert len(set(held.values())) == len(held)
        book = assembly.slots.released(set(held.values()))
