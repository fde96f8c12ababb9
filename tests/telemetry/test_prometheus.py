import math
from types import SimpleNamespace

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_families
from prometheus_client.parser import text_string_to_metric_families as text_families

from forebay import __version__
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.outcome import Ending
from forebay.telemetry.counters import Counters
from forebay.telemetry.endpoints_json import EndpointRow
from forebay.telemetry.prometheus import ForebayCollector, exposition

OPEN = "application/openmetrics-text; version=1.0.0"


def row(slot, reachable, **beliefs):
    endpoint = Endpoint(slot=slot, name=f"ep-{slot}", url="http://h")
    return EndpointRow(
        "qwen", endpoint, EndpointView(slot=slot, reachable=reachable), SimpleNamespace(**beliefs)
    )


@pytest.fixture
def collector(decision, outcome, passage):
    counters = Counters({"qwen": "qwen"})
    counters.decided(decision())
    counters.ended(outcome())
    counters.ended(outcome("r-2", Ending.REJECTED, reason="rejected-saturated", ttft_us=0))
    counters.ended(outcome("r-3", Ending.FAILED, reason="connect", ttft_us=200_000_000, tries=2))
    counters.served(passage())
    rows = [
        row(0, True, in_flight=4, running=3.0, kv_usage=math.nan, usable=1.0, viewed_at=1_000_000),
        row(1, None, in_flight=0, running=math.nan, usable=0.0, viewed_at=math.nan),
        EndpointRow("qwen", Endpoint(slot=2, name="ep-2", url="http://h")),
    ]
    return ForebayCollector(
        lambda: counters.tally, lambda: rows, lambda: 3_500_000, lambda: {"forebay_observer_errors": 7}
    )


def samples(families):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.fixture(params=["", OPEN], ids=["text", "openmetrics"])
def found(request, collector):
    content_type, body = exposition(collector, request.param)
    assert content_type.startswith("application/openmetrics-text" if request.param else "text/plain")
    return samples((open_families if request.param else text_families)(body.decode()))


def test_requests_and_reasons(found):
    pool = ("pool", "qwen")
    assert found["forebay_requests_total", ("ending", "finished"), pool] == 1
    assert found["forebay_rejections_total", pool, ("reason", "rejected-saturated")] == 1
    assert found["forebay_failures_total", pool, ("reason", "connect")] == 1
    assert found["forebay_decisions_total", pool, ("reason", "placed")] == 1
    assert found["forebay_retries_total", pool] == 1
    assert found["forebay_observer_errors_total",] == 7
    assert found["forebay_build_info", ("version", __version__)] == 1


def test_tokens_by_kind_and_modality(found):
    pool = ("pool", "qwen")
    assert found["forebay_tokens_total", ("kind", "prompt"), ("modality", "image"), pool] == 100
    assert found["forebay_tokens_total", ("kind", "prompt"), ("modality", "text"), pool] == 15
    assert found["forebay_tokens_total", ("kind", "completion"), ("modality", "text"), pool] == 90
    assert found["forebay_predicted_prompt_tokens_total", ("modality", "text"), pool] == 10


def test_histograms_are_cumulative_and_end_in_infinity(found):
    buckets = {
        dict(key[1:])["le"]: value
        for key, value in found.items()
        if key[0] == "forebay_time_to_first_token_seconds_bucket" and ("pool", "qwen") in key
    }
    assert float(buckets["+Inf"]) == 2
    assert buckets["0.0398"] == 0
    assert buckets["0.0631"] == 1
    assert buckets["100.0"] == 1
    assert found["forebay_time_to_first_token_seconds_sum", ("pool", "qwen")] == pytest.approx(200.05)
    assert found["forebay_time_to_first_token_seconds_count", ("pool", "qwen")] == 2


def test_bytes_and_replies(found):
    assert found["forebay_received_bytes_total", ("pool", "qwen")] == 1000
    assert found["forebay_http_replies_total", ("api", "/v1/chat/completions"), ("status", "200")] == 1


def test_endpoints_and_what_is_unknown_of_them_has_no_sample(found):
    def of(name, number):
        return found.get((name, ("endpoint", f"ep-{number}"), ("pool", "qwen")))

    assert [of("forebay_endpoint_up", number) for number in range(3)] == [1, None, None]
    assert [of("forebay_endpoint_in_flight", number) for number in range(3)] == [4, 0, None]
    assert [of("forebay_endpoint_running", number) for number in range(3)] == [3, None, None]
    assert [of("forebay_endpoint_kv_usage_ratio", number) for number in range(3)] == [None] * 3
    assert [of("forebay_endpoint_view_age_seconds", number) for number in range(3)] == [2.5, None, None]


def test_describing_collects_nothing(collector):
    assert list(collector.describe()) == []
