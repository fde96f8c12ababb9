import contextlib
import io
import json
import os
import threading

import pytest

from forebay.config.errors import ConfigError
from forebay.domain.outcome import Ending, Usage
from forebay.telemetry import access_log
from forebay.telemetry.access_log import AccessLog, WholeLines, open_stream, tame

NOON = 1_767_268_800.25


def written(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def stream():
    return io.BytesIO()


@pytest.fixture
def log(stream):
    made = AccessLog(stream, flush_seconds=0.01, now=lambda: NOON)
    yield made
    made.close()


def test_one_line_with_all_that_is_known(log, stream, decision, outcome, passage):
    log.decided(decision())
    log.ended(outcome())
    log.served(passage())
    log.close()
    assert written(stream) == [
        {
            "time": "2026-01-01T12:00:00.250Z",
            "request_id": "r-1",
            "api": "/v1/chat/completions",
            "model": "qwen",
            "pool": "qwen",
            "endpoint": "ep-b",
            "status": 200,
            "ending": "finished",
            "reason": "",
            "tries": 1,
            "prompt_tokens": 145,
            "predicted_prompt_tokens": 140,
            "completion_tokens": 30,
            "ttft_ms": 50.0,
            "e2e_ms": 900.0,
            "body_bytes": 1000,
            "reply_bytes": 300,
        }
    ]


def test_a_request_refused_at_the_door_has_a_line_too(log, stream, passage):
    log.served(passage(status=400, reason="invalid-json"))
    log.close()
    (line,) = written(stream)
    assert (line["ending"], line["reason"], line["status"]) == ("refused", "invalid-json", 400)
    assert (line["pool"], line["endpoint"], line["prompt_tokens"], line["tries"]) == (None, None, None, 0)
    assert line["e2e_ms"] == 910.0


def test_what_was_not_reported_or_reached_is_null(log, stream, outcome, passage):
    log.ended(
        outcome(
            ending=Ending.REJECTED,
            reason="rejected-saturated",
            usage=Usage(),
            ttft_us=0,
            endpoint="",
            tries=0,
        )
    )
    log.served(passage(status=503, reason="overloaded"))
    log.close()
    (line,) = written(stream)
    assert (line["prompt_tokens"], line["ttft_ms"], line["endpoint"]) == (None, None, None)
    assert line["reason"] == "rejected-saturated"


def test_queries_are_cut_off_and_signs_that_forge_lines_are_escaped(log, stream, passage):
    log.served(
        passage(api="/v1/models?key=s3cret", model='a\n{"status":200}\x1b[31m\u202e\ud800' + "x" * 1000)
    )
    log.close()
    raw = stream.getvalue()
    assert b"s3cret" not in raw
    assert raw.count(b"\n") == 1
    assert raw.isascii()
    assert b"\x1b" not in raw
    (line,) = written(stream)
    assert line["model"].startswith('a\\u000a{"status":200}\\u001b[31m\\u202e\\ud800xxx')


def test_words_are_cut():
    assert len(tame("x" * 1000)) == 256
    assert tame("qwen2.5-vl é 模型") == "qwen2.5-vl é 模型"


def test_a_stuck_stream_blocks_nobody_and_losses_are_counted(passage):
    go = threading.Event()

    class Stuck(io.BytesIO):
        def write(self, data):
            go.wait(10)
            return super().write(data)

    stream = Stuck()
    log = AccessLog(stream, capacity=10, flush_seconds=0.001)
    for number in range(1000):
        log.served(passage(f"r-{number}"))
    assert log.dropped >= 900
    log.close(patience_seconds=0.01)
    go.set()
    log.close()
    assert len(written(stream)) + log.dropped == 1000


def test_a_stream_that_breaks_is_counted_and_harms_nobody(passage):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as broken:
        log = AccessLog(broken, flush_seconds=0.001)
        log.served(passage())
        log.close()
    assert log.failed == 1


def test_a_stream_closed_by_its_owner_is_counted(passage):
    stream = io.BytesIO()
    log = AccessLog(stream, flush_seconds=60.0)
    stream.close()
    log.served(passage())
    log.close()
    assert log.failed == 1


def test_closing_writes_what_is_queued_and_leaves_the_stream_open(stream, passage):
    log = AccessLog(stream, flush_seconds=60.0)
    log.served(passage())
    log.close()
    log.close()
    assert len(written(stream)) == 1


def test_requests_whose_passage_never_comes_are_bounded(log, monkeypatch, decision, outcome):
    monkeypatch.setattr(access_log, "MAX_OPEN", 10)
    for number in range(100):
        log.decided(decision(f"r-{number}"))
        log.ended(outcome(f"r-{number}"))
    assert len(log._open) == 10


class TestWholeLines:
    def test_writes_to_a_file_end_at_the_ends_of_lines(self, tmp_path, monkeypatch):
        monkeypatch.setattr(access_log, "MOST_AT_ONCE", 10)
        written = []
        real = os.write
        monkeypatch.setattr(os, "write", lambda fd, data: written.append(bytes(data)) or real(fd, data))
        with (tmp_path / "log").open("ab") as stream:
            lines = WholeLines(stream.fileno())
            lines.write(b"one\ntwo\nthree\n" + b"longer than ten\n" + b"end\n")
            lines.flush()
        assert written == [b"one\ntwo\n", b"three\n", b"longer than ten\n", b"end\n"]
        assert (tmp_path / "log").read_bytes() == b"".join(written)

    def test_writes_to_a_pipe_are_small_enough_to_stay_whole(self):
        inside, outside = os.pipe()
        try:
            WholeLines(outside).write(b"x" * 3000 + b"\n" + b"y" * 3000 + b"\n")
            assert os.read(inside, 100_000).splitlines() == [b"x" * 3000, b"y" * 3000]
        finally:
            os.close(inside)
            os.close(outside)

    def test_a_log_writes_through_it(self, tmp_path, passage):
        with contextlib.ExitStack() as stack:
            stream = open_stream(str(tmp_path / "log"), stack)
            log = AccessLog(WholeLines(stream.fileno()))
            for index in range(3):
                log.served(passage(request_id=f"r{index}"))
            log.close()
        assert len((tmp_path / "log").read_text().splitlines()) == 3

    def test_streams_by_name(self, tmp_path):
        with contextlib.ExitStack() as stack:
            assert open_stream("off", stack) is None
            assert open_stream("stderr", stack) is not None
            with pytest.raises(ConfigError, match=r"access_log\.path"):
                open_stream(str(tmp_path / "nowhere" / "log"), stack)
