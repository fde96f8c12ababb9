"""What endpoints served lately."""

import pytest

from forebay.domain.outcome import Ending, Usage
from forebay.telemetry.decisions import Story
from forebay.telemetry.served import WINDOW_US, served, together

NOW = 100_000_000


@pytest.fixture
def story(decision, outcome):
    """A request that arrived so long ago, and ended so long after."""

    def story(ago_us, e2e_us=1_000_000, tokens=30, **changes):
        at = NOW - ago_us
        usage = Usage(completion_tokens=tokens)
        return Story([decision(at=at)], outcome(e2e_us=e2e_us, usage=usage, **changes))

    return story


def test_ends_within_the_window_count_by_endpoint(story):
    stories = [
        story(2_000_000, tokens=100, ttft_us=50_000),
        story(4_000_000, tokens=20, ttft_us=150_000),
        story(5_000_000, endpoint="ep-a", ending=Ending.FAILED, ttft_us=0, tokens=0),
        story(10_000_000, tokens=80, ttft_us=90_000, e2e_us=9_000_000),
    ]
    assert served(stories, NOW) == {
        "ep-b": {
            "window_seconds": 10.0,
            "finished": 3,
            "failed": 0,
            "ttft_p50_ms": 90.0,
            "output_tokens_per_second": 20.0,
        },
        "ep-a": {
            "window_seconds": 10.0,
            "finished": 0,
            "failed": 1,
            "ttft_p50_ms": None,
            "output_tokens_per_second": 0.0,
        },
    }


def test_the_window_ends_what_is_long_ago_and_bounds_the_rate(story):
    stories = [story(WINDOW_US + 2_000_000, e2e_us=5_000_000, tokens=60), story(WINDOW_US + 5_000_000)]
    found = served(stories, NOW)["ep-b"]
    assert (found["finished"], found["output_tokens_per_second"]) == (1, 2.0)


def test_what_has_no_end_or_no_endpoint_is_left_out(story, decision):
    stories = [Story([decision(at=NOW)]), story(0, endpoint="", ending=Ending.REJECTED)]
    assert served(stories, NOW) == {}
    assert served([], NOW) == {}


def test_one_answer_just_now_is_no_wild_rate(story):
    assert served([story(10_000, e2e_us=9_000, tokens=10)], NOW)["ep-b"]["output_tokens_per_second"] == 10.0


def test_what_several_workers_served_is_added_up(story):
    busy = served(
        [story(2_000_000, tokens=100, ttft_us=50_000), story(3_000_000, tokens=20, ttft_us=50_000)], NOW
    )
    calm = served([story(6_000_000, tokens=60, ttft_us=110_000)], NOW)
    quiet = served([story(4_000_000, ending=Ending.FAILED, ttft_us=0, tokens=0)], NOW)
    ((_, both),) = together([busy, calm, quiet]).items()
    assert (both["finished"], both["failed"], both["window_seconds"]) == (3, 1, 6.0)
    assert both["ttft_p50_ms"] == pytest.approx((2 * 50 + 110) / 3)
    assert both["output_tokens_per_second"] == pytest.approx(120 / 3 + 60 / 6)


def test_without_a_first_token_there_is_no_median(story):
    quiet = served([story(4_000_000, ending=Ending.FAILED, ttft_us=0, tokens=0)], NOW)
    ((_, both),) = together([quiet, quiet]).items()
    assert both["ttft_p50_ms"] is None
