import json

import pytest

from forebay.domain.outcome import FailureKind, Usage
from forebay.gateway.streams.anthropic_stream import AnthropicStream
from forebay.gateway.streams.machine import EndKind


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


START = event(
    "message_start", message={"model": "eng", "usage": {"input_tokens": 9, "cache_read_input_tokens": 31}}
)
TEXT_BLOCK = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
STOP = event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 3})
LAST = event("message_stop")


def text(words):
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": words})


def feed(machine, *events):
    return b"".join(machine.feed(part, at).out for at, part in enumerate(events, 1))


def test_p16_a_stream_passes_whole_events_however_it_arrives(case):
    data = case("p16_messages.sse")
    machine = AnthropicStream("eng")
    out = b""
    for at, line in enumerate(data.splitlines(keepends=True), 1):
        step = machine.feed(line, at)
        assert step.out == b"" or step.out.endswith(b"\n\n")
        out += step.out
    assert out == data
    assert machine.finish(99).kind is EndKind.COMPLETE
    assert machine.tally.usage == Usage(9, 3, 0, reported=True)
    assert machine.tally.content_deltas == 1


def test_p16_no_comment_before_the_first_content(case):
    machine = AnthropicStream("eng")
    assert not machine.at_boundary
    machine.feed(case("p16_messages.sse"), 1)
    assert machine.at_boundary


def test_preamble_and_pings_are_held_back():
    machine = AnthropicStream("eng")
    assert feed(machine, START, event("ping"), TEXT_BLOCK) == b""
    step = machine.feed(text("a"), 5)
    assert step.first_content
    assert step.out == START + event("ping") + TEXT_BLOCK + text("a")


def test_the_model_in_message_start_is_renamed():
    machine = AnthropicStream("alias", rename=True)
    out = feed(machine, START, text('"model": "eng"'), STOP, LAST)
    assert out == START.replace(b'"eng"', b'"alias"') + text('"model": "eng"') + STOP + LAST


def test_a_model_that_needs_no_change_keeps_its_bytes():
    machine = AnthropicStream("eng", rename=True)
    assert feed(machine, START, text("a")) == START + text("a")


def test_a_message_start_with_two_messages_keeps_its_bytes():
    start = b'data: {"type":"message_start","message":{},"message":{"model":"eng"}}\n\n'
    assert feed(AnthropicStream("alias", rename=True), start, text("a")) == start + text("a")


def test_usage_counts_the_cached_prompt():
    machine = AnthropicStream("eng")
    feed(machine, START, text("a"), STOP)
    assert machine.tally.usage == Usage(40, 3, 31, reported=True)


def test_thinking_tools_and_text_are_counted():
    machine = AnthropicStream("eng")
    events = [
        START,
        event("content_block_start", index=0, content_block={"type": "thinking", "thinking": ""}),
        *(
            event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": f"t{i}"})
            for i in range(3)
        ),
        event(
            "content_block_start",
            index=1,
            content_block={"type": "tool_use", "id": "x", "name": "f", "input": {}},
        ),
        event("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": "{}"}),
        *(text(f"w{i}") for i in range(4)),
        STOP,
        LAST,
    ]
    assert feed(machine, *events) == b"".join(events)
    tally = machine.tally
    assert (tally.reasoning_deltas, tally.tool_deltas, tally.content_deltas) == (3, 2, 4)


def test_an_error_event_is_a_failure():
    machine = AnthropicStream("eng")
    step = machine.feed(event("error", error={"type": "overloaded_error", "message": "full"}), 1)
    assert step.out == b""
    assert (step.failure.kind, step.failure.status) == (FailureKind.STREAM_ERROR, 503)


def test_p17_an_end_in_the_middle_is_truncated():
    machine = AnthropicStream("eng")
    feed(machine, START, text("a"))
    end = machine.finish(3)
    assert end.kind is EndKind.TRUNCATED
    name, data = end.tail.decode().splitlines()[:2]
    assert name == "event: error"
    assert json.loads(data.removeprefix("data: "))["error"]["type"] == "upstream_truncated"


def test_p17_a_missing_message_stop_is_supplied():
    machine = AnthropicStream("eng")
    feed(machine, START, text("a"), STOP)
    end = machine.finish(4)
    assert end.kind is EndKind.COMPLETE
    assert end.tail == b'event: message_stop\ndata: {"type":"message_stop"}\n\n'


def test_a_last_event_without_its_empty_line_counts():
    machine = AnthropicStream("eng")
    feed(machine, START, text("a"), LAST.removesuffix(b"\n\n"))
    assert machine.finish(4).tail == LAST


@pytest.mark.parametrize("rest", [b'data: {"beg', b": comment"])
def test_a_begun_event_at_the_end_is_dropped(rest):
    machine = AnthropicStream("eng")
    feed(machine, START, text("a"), rest)
    assert rest not in machine.finish(4).tail


def test_an_unreadable_event_is_passed_on():
    data = START + text("a") + b"data: what\n\n"
    assert feed(AnthropicStream("eng"), data) == data
