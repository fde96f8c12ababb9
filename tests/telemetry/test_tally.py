import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.telemetry.tally import FIRST_TOKEN_EDGES, Histogram, PoolTally, Tally, log_edges, summed


def test_edges_are_log_spaced_and_readable():
    assert log_edges(0.001, 1) == (0.001, 0.00158, 0.00251, 0.00398, 0.00631, 0.01)
    assert FIRST_TOKEN_EDGES[-1] == 100.0
    assert list(FIRST_TOKEN_EDGES) == sorted(set(FIRST_TOKEN_EDGES))


def test_a_value_on_an_edge_belongs_to_the_bucket_that_ends_there():
    histogram = Histogram.over((0.001, 0.01))
    for value in (0, 1000, 1001, 10_000, 10_001):
        histogram.add(value)
    assert (histogram.counts, histogram.sum_us) == ([2, 2, 1], 22_002)


@given(st.lists(st.integers(0, 10**9), max_size=50))
def test_every_value_is_counted_once(values):
    histogram = Histogram.over(FIRST_TOKEN_EDGES)
    for value in values:
        histogram.add(value)
    assert sum(histogram.counts) == len(values)
    assert histogram.sum_us == sum(values)


def filled(pool, ending, retries):
    tally = PoolTally(endings={ending: 2}, retries=retries, prompt_tokens=[1, 2, 3, 4])
    tally.first_token.add(1000)
    return Tally({pool: tally}, {"/v1/chat/completions": {200: 1}})


def test_processes_are_summed_and_share_nothing_with_the_sum():
    parts = [filled("a", "finished", 1), filled("a", "failed", 2), filled("b", "finished", 3)]
    total = summed(parts)
    assert total.pools["a"].endings == {"finished": 2, "failed": 2}
    assert total.pools["a"].retries == 3
    assert total.pools["a"].prompt_tokens == [2, 4, 6, 8]
    assert total.pools["a"].first_token.counts[0] == 2
    assert total.pools["b"].retries == 3
    assert total.replies == {"/v1/chat/completions": {200: 3}}
    total.pools["b"].first_token.add(1)
    total.pools["b"].endings["finished"] = 99
    assert parts[2] == filled("b", "finished", 3)


def test_a_tally_travels_between_processes():
    tally = filled("a", "finished", 1)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(tally), type=Tally) == tally


def test_nothing_summed_is_nothing():
    assert summed([]) == Tally()


def test_tallies_with_other_edges_are_not_summed_in_silence():
    one, other = Histogram.over((0.1,)), Histogram.over((0.1, 0.2))
    tallies = [Tally({"a": PoolTally(gap=histogram)}) for histogram in (one, other)]
    with pytest.raises(ValueError, match="zip"):
        summed(tallies)
