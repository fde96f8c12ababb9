"""The ledger: each writes its own row, and reads all others as one."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.domain.load import AMOUNTS, Load, together
from forebay.runtime.ledger import Ledger, OtherRows, OwnRow


@pytest.fixture
def ledger():
    made = Ledger.create(3, slots=64)
    yield made
    made.close()


def test_what_one_writes_the_others_read(ledger):
    full = Load(5, *range(1, len(AMOUNTS) + 1))
    OwnRow(ledger, 0).write(full)
    assert ledger.load(0, 5) == full
    assert ledger.load(1, 5) == Load(5)
    assert ledger.version(0) == 1
    assert not OtherRows(ledger, 0).news(64), "one's own row is no news"


def test_another_process_sees_the_same(ledger):
    code = (
        "from forebay.domain.load import Load; from forebay.runtime.ledger import Ledger, OwnRow;"
        f"OwnRow(Ledger({ledger.descriptor}, 3, 64), 2).write(Load(63, in_flight=9))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, pass_fds=[ledger.descriptor], timeout=60)
    assert OtherRows(ledger, 0).news(64) == (Load(63, in_flight=9),)


def test_news_are_told_once(ledger):
    others, row = OtherRows(ledger, 0), OwnRow(ledger, 1)
    row.write(Load(0, in_flight=1))
    row.write(Load(7, in_flight=2))
    assert others.news(8) == (Load(0, in_flight=1), Load(7, in_flight=2))
    assert others.news(8) == ()
    row.write(Load(7, in_flight=2))
    assert others.news(8) == (), "written anew, and the same"
    row.write(Load(7))
    assert others.news(8) == (Load(7),)


def test_more_slots_are_looked_at_when_a_plan_has_more(ledger):
    others = OtherRows(ledger, 0)
    OwnRow(ledger, 1).write(Load(9, in_flight=2))
    assert others.news(8) == ()
    assert others.news(10) == (Load(9, in_flight=2),)
    OwnRow(ledger, 1).write(Load(9, in_flight=3))
    assert others.news(8) == (), "the plan has fewer again"
    assert others.news(10) == (Load(9, in_flight=3),)


def test_counters_begin_with_the_first_look_and_never_fall(ledger):
    row, others = OwnRow(ledger, 1), OtherRows(ledger, 0)
    row.write(Load(0, failed=5))
    assert others.news(1) == (Load(0),), "what was before is not told"
    assert others.news(2) == ()
    OwnRow(ledger, 2).write(Load(1, failed=1))
    assert others.news(2) == (Load(1, failed=1),), "the first failure after the first look counts"
    row.write(Load(0, failed=7, in_flight=1))
    assert others.news(1) == (Load(0, failed=2, in_flight=1),)
    ledger.clear(1, 1)
    assert others.news(1) == (Load(0, failed=2),), "a dead worker has nothing, and had failed"
    OwnRow(ledger, 1).write(Load(0, failed=1))
    assert others.news(1) == (Load(0, failed=3),)


def test_a_row_is_cleared_alone(ledger):
    for worker in range(3):
        OwnRow(ledger, worker).write(Load(1, in_flight=1))
    ledger.clear(1, 64)
    assert [ledger.load(worker, 1).in_flight for worker in range(3)] == [1, 0, 1]
    assert ledger.version(1) == 2


def test_a_slot_beyond_the_table_is_named(ledger):
    with pytest.raises(IndexError, match="slot 64: the ledger has 64"):
        OwnRow(ledger, 0).write(Load(64))


def test_room_that_nobody_uses_takes_no_memory():
    made = Ledger.create(64)
    assert os.fstat(made.descriptor).st_size > 64 * 2**20
    assert os.fstat(made.descriptor).st_blocks * 512 < 2**20
    made.close()


loads = st.builds(Load, st.integers(0, 7), *[st.integers(0, 9)] * len(AMOUNTS))


@given(st.lists(st.tuples(st.integers(1, 2), loads), max_size=12))
def test_gauges_are_those_of_all_others_together(writes):
    made = Ledger.create(3, slots=8)
    others = OtherRows(made, 0)
    known = {}
    for worker, load in writes:
        OwnRow(made, worker).write(load)
        known |= {news.slot: news for news in others.news(8)}
    for slot, news in known.items():
        truth = together(slot, [made.load(worker, slot) for worker in (1, 2)])
        for name in AMOUNTS[: AMOUNTS.index("answered")]:
            assert getattr(news, name) == getattr(truth, name)
    made.close()


def test_a_look_while_somebody_writes_is_taken_anew(ledger, monkeypatch):
    others, row = OtherRows(ledger, 0), OwnRow(ledger, 1)
    row.write(Load(0, in_flight=1))
    versions, meanwhile = others._versions, iter([2, 3, 4, 5])

    def busy():
        seen = versions()
        for count in meanwhile:
            row.write(Load(0, in_flight=count))
            break
        return seen

    monkeypatch.setattr(others, "_versions", busy)
    assert others.news(1)[0].in_flight >= 3
    monkeypatch.undo()
    others.news(1)
    assert others._rows[1][:8] == ledger.memory[ledger.row_at(1) : ledger.row_at(1) + 8]
