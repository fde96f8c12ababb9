import math

import pytest

from forebay.fleet.histogram import Buckets, Window, buckets, quantile
from forebay.fleet.metrics import Sample, parse

EDGES = (0.01, 0.1, 1.0, math.inf)
SECOND = 1_000_000


def test_ranks_are_summed_and_edges_sorted():
    text = b"""
h_bucket{engine="0",le="+Inf"} 5
h_bucket{engine="0",le="0.1"} 3
h_bucket{engine="1",le="0.1"} 1
h_bucket{engine="1",le="+Inf"} 2
"""
    assert buckets(parse(text, frozenset({"h_bucket"})), "h_bucket") == Buckets((0.1, math.inf), (4.0, 7.0))


@pytest.mark.parametrize("le", ["", "wide", "nan", "0.5"])
def test_without_an_infinite_bucket_there_is_no_total_and_no_histogram(le):
    assert buckets([Sample("h_bucket", {"le": le}, 1.0)], "h_bucket") is None


@pytest.mark.parametrize(
    ("share", "counts", "expected"),
    [
        (0.5, (10, 10, 10, 10), 0.005),  # halfway into the first bucket, which begins at 0
        (0.95, (0, 100, 100, 100), 0.01 + 0.09 * 0.95),
        (0.95, (90, 90, 100, 100), 0.1 + 0.9 * 0.5),
        (0.95, (0, 0, 0, 10), 1.0),  # beyond the highest finite edge
        (0.0, (0, 5, 5, 5), 0.01),  # an empty bucket holds no inside to interpolate in
    ],
)
def test_quantile_as_prometheus_computes_it(share, counts, expected):
    assert quantile(share, EDGES, counts) == pytest.approx(expected)


def test_nothing_counted_has_no_quantile():
    assert quantile(0.95, EDGES, (0, 0, 0, 0)) is None
    assert quantile(0.95, (math.inf,), (3,)) is None


def test_window_tells_the_difference_between_scrapes_not_the_whole_past():
    window = Window()
    window.add(0, Buckets(EDGES, (1000, 1000, 1000, 1000)))
    assert window.quantile(0.95) is None
    window.add(SECOND, Buckets(EDGES, (1000, 1000, 1100, 1100)))
    assert window.quantile(0.95) == pytest.approx(0.1 + 0.9 * 0.95)


def test_window_forgets_what_is_older_than_its_span():
    window = Window(span_us=10 * SECOND)
    window.add(0, Buckets(EDGES, (0, 0, 0, 0)))
    window.add(SECOND, Buckets(EDGES, (0, 0, 100, 100)))
    for at in range(2, 13):
        window.add(at * SECOND, Buckets(EDGES, (at, at, 100 + at, 100 + at)))
    assert window.quantile(0.95) == pytest.approx(0.0095)


def test_window_tells_nothing_while_nothing_is_decoded():
    window = Window()
    window.add(0, Buckets(EDGES, (5, 5, 5, 5)))
    window.add(SECOND, Buckets(EDGES, (5, 5, 5, 5)))
    assert window.quantile(0.95) is None


@pytest.mark.parametrize("after", [Buckets(EDGES, (0, 1, 1, 1)), Buckets((0.5, math.inf), (200, 200)), None])
def test_window_begins_anew_after_a_restart_or_a_gap(after):
    window = Window()
    window.add(0, Buckets(EDGES, (0, 0, 50, 50)))
    window.add(SECOND, Buckets(EDGES, (0, 0, 100, 100)))
    window.add(2 * SECOND, after)
    assert window.quantile(0.95) is None


def test_counts_that_dip_between_edges_do_not_break_the_quantile():
    window = Window()
    window.add(0, Buckets(EDGES, (0, 0, 0, 0)))
    window.add(SECOND, Buckets(EDGES, (0, 20, 19, 20)))
    assert window.quantile(0.95) == pytest.approx(0.01 + 0.09 * 0.95)
