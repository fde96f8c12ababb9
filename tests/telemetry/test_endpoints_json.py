import json
import math
from types import SimpleNamespace

import pytest

from forebay.domain.ability import Ability, Role
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.telemetry.endpoints_json import EndpointRow, age_seconds, rendered, rendered_row, without_secrets

ENDPOINT = Endpoint(slot=2, name="ep-c", url="http://user:s3cret@10.0.0.1:8000/base?key=s3cret", zone="az-1")
BELIEFS = SimpleNamespace(
    usable=1.0,
    draining=0.0,
    serves=math.nan,
    in_flight=3,
    max_in_flight=math.inf,
    running=math.nan,
    kv_usage=0.5,
    viewed_at=1_000_000,
    backlog_us=250.5,
    kv_tokens=10.0,
)


def test_an_endpoint_never_seen_is_all_unknown():
    row = rendered_row(EndpointRow("qwen", ENDPOINT), 0)
    assert (row["seen"], row["believed"], row["engine"]) == (None, None, None)
    assert row["roles"] == ["encode", "prefill", "decode"]


def test_unknown_is_null_and_never_zero():
    row = rendered_row(EndpointRow("qwen", ENDPOINT, EndpointView(slot=2), BELIEFS), 3_000_000)
    believed, seen = row["believed"], row["seen"]
    assert (believed["serves"], believed["running"], believed["waiting"], believed["max_in_flight"]) == (
        None,
    ) * 4
    assert (believed["usable"], believed["draining"], believed["in_flight"]) == (True, False, 3)
    assert (believed["kv_usage"], believed["kv_tokens"], believed["backlog_us"]) == (0.5, 10, 250.5)
    assert (seen["reachable"], seen["models"], seen["abilities"], seen["running"]) == (None,) * 4
    assert seen["age_seconds"] == 2.0


def test_what_is_known_is_told_in_words():
    view = EndpointView(
        slot=2,
        reachable=True,
        engine="vllm",
        models=("m",),
        abilities=Ability.TEXT | Ability.CHAT,
        running=3.0,
    )
    declared = Endpoint(slot=2, name="ep-c", url="http://h", engine="generic", role=Role.PREFILL, numa_node=0)
    row = rendered_row(EndpointRow("qwen", declared, view, BELIEFS), 1_000_000)
    assert (row["engine"], row["roles"], row["numa_node"]) == ("vllm", ["prefill"], 0)
    assert (row["seen"]["models"], row["seen"]["abilities"]) == (["m"], ["text", "chat"])


def test_everything_is_json():
    text = json.dumps(
        rendered([EndpointRow("qwen", ENDPOINT, EndpointView(slot=2), BELIEFS)], 5), allow_nan=False
    )
    assert "s3cret" not in text
    assert json.loads(text)["at_us"] == 5


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://10.0.0.1:8000", "http://10.0.0.1:8000"),
        ("https://u:p@h/base?token=x#y", "https://h/base"),
        ("http://[::1]:80/", "http://[::1]:80/"),
    ],
)
def test_urls_are_told_without_secrets(url, told):
    assert without_secrets(url) == told


def test_an_age_is_never_negative():
    assert age_seconds(BELIEFS, 0) == 0.0
    assert age_seconds(None, 0) is None
    assert age_seconds(SimpleNamespace(viewed_at=math.nan), 0) is None
