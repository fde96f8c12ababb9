import io
import json

from forebay.domain.endpoint import Endpoint
from forebay.telemetry.access_log import AccessLog
from forebay.telemetry.desk import Desk
from forebay.telemetry.endpoints_json import EndpointRow

ROW = EndpointRow("qwen", Endpoint(slot=1, name="ep-b", url="http://h"))


def test_what_is_heard_can_be_asked_for(decision, outcome, passage):
    stream = io.BytesIO()
    desk = Desk({"qwen": "qwen"}, lambda: [ROW], lambda: 7, AccessLog(stream, flush_seconds=60.0))
    desk.observers.decided(decision())
    desk.observers.ended(outcome())
    desk.observers.served(passage())
    desk.close()
    assert json.loads(stream.getvalue())["predicted_prompt_tokens"] == 140
    assert desk.decision("r-1")["decisions"][0]["chosen"] == "ep-b"
    assert desk.decision("r-2") is None
    (endpoint,) = desk.endpoints()["endpoints"]
    assert endpoint["name"] == "ep-b"
    assert endpoint["served"]["finished"] == 1
    content_type, body = desk.metrics("*/*")
    assert content_type.startswith("text/plain")
    assert b"forebay_access_log_dropped_total 0.0" in body


def test_the_latest_come_first(decision):
    desk = Desk({"qwen": "qwen"}, list, lambda: 7)
    for number in range(3):
        desk.observers.decided(decision(f"r-{number}"))
    latest = desk.latest(2)
    assert latest["at_us"] == 7
    assert [story["request_id"] for story in latest["requests"]] == ["r-2", "r-1"]
    assert latest["requests"][0] == desk.decision("r-2")


def test_without_an_access_log_and_with_a_faulty_listener(decision):
    class Faulty:
        def decided(self, _decision):
            raise RuntimeError

    desk = Desk({"qwen": "qwen"}, list, lambda: 7, further=[Faulty()])
    desk.observers.decided(decision())
    desk.close()
    body = desk.metrics("")[1]
    assert b"forebay_observer_errors_total 1.0" in body
    assert b"access_log" not in body
