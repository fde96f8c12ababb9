"""Streams whose events name their type."""

import json

import pytest

from forebay.domain.outcome import FailureKind, Usage
from forebay.domain.request import Api
from forebay.gateway.streams.kept_ids import ResponseRestorer
from forebay.gateway.streams.machine import EndKind
from forebay.gateway.streams.typed_stream import TypedStream


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


CREATED = event("response.created", response={"id": "r1", "model": "eng", "usage": None})
ITEM = event("response.output_item.added", item={"type": "message"})
TEXT = event("response.output_text.delta", delta="a")
THOUGHT = event("response.reasoning_text.delta", delta="a")
CALL = event("response.function_call_arguments.delta", delta="{")
USAGE = {"input_tokens": 5, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 1}}
DONE = event("response.completed", response={"id": "r1", "model": "eng", "usage": USAGE})


def machine(**options):
    return TypedStream(Api.RESPONSES, "alias", **options)


def test_nothing_passes_before_the_first_content():
    stream = machine()
    assert stream.feed(CREATED + ITEM, 1).out == b""
    step = stream.feed(TEXT, 2)
    assert (step.out, step.first_content) == (CREATED + ITEM + TEXT, True)
    assert stream.feed(DONE, 3).out == DONE
    assert stream.finish(4).kind is EndKind.COMPLETE
    assert stream.done
    assert stream.tally.usage == Usage(5, 2, 1, reported=True)


def test_kinds_of_deltas_are_told_apart():
    stream = machine()
    for at, told in enumerate((THOUGHT, TEXT, CALL, TEXT)):
        stream.feed(told, at + 1)
    tally = stream.tally
    assert (tally.deltas, tally.content_deltas, tally.reasoning_deltas, tally.tool_deltas) == (4, 2, 1, 1)
    assert tally.first_content_at == 2


def test_response_objects_are_restored_and_no_other_byte():
    stream = machine(rename=True, responses=ResponseRestorer(lambda name: name + "_sealed", "alias"))
    stream.feed(TEXT, 1)
    odd = b'event: x\ndata: {"type":"x", "response" : {"previous_response_id":"r0","n":1e2,"id" :"r1","model":"eng","y":"r1"}}\n\n'
    assert stream.feed(odd, 2).out == odd.replace(b'"r0"', b'"r0_sealed"').replace(
        b'"id" :"r1"', b'"id" :"r1_sealed"'
    ).replace(b'"eng"', b'"alias"')


@pytest.mark.parametrize("hidden", [b'"id":"a","id":"b"', b'"id":7', b'"id":null', b'"model":"x"'])
def test_what_is_no_id_or_comes_twice_stays(hidden):
    stream = machine(responses=ResponseRestorer(lambda name: name + "_sealed"))
    told = b'data: {"type":"x","response":{%b}}\n\n' % hidden
    assert stream.feed(told, 1).out == told


def test_a_response_that_comes_twice_stays():
    stream = machine(responses=ResponseRestorer(lambda name: name + "_sealed"))
    told = b'data: {"type":"x","response":{"id":"a"},"response":{"id":"b"}}\n\n'
    assert stream.feed(told, 1).out == told


@pytest.mark.parametrize(
    ("told", "status"),
    [
        (event("error", code="rate_limit_exceeded", message="slow down"), 502),
        (event("error", error={"type": "overloaded_error", "message": "x"}), 503),
        (event("response.failed", response={"error": {"code": "server_error", "message": "x"}}), 502),
        (event("response.failed", response=None), 502),
        (b'data: {"error":{"code":400,"message":"bad"}}\n\n', 400),
    ],
)
def test_errors_end_the_stream(told, status):
    early, late = machine(), machine()
    step = early.feed(CREATED + told, 1)
    assert (step.out, step.failure.kind, step.failure.status) == (b"", FailureKind.STREAM_ERROR, status)
    late.feed(TEXT, 1)
    step = late.feed(told, 2)
    assert (step.out, step.failure.status) == (told, status)


def test_an_end_without_the_last_event_is_a_truncation():
    stream = machine()
    assert stream.finish(1).kind is EndKind.TRUNCATED
    stream = machine()
    stream.feed(TEXT, 1)
    end = stream.finish(2)
    assert end.kind is EndKind.TRUNCATED
    assert b'"type":"error"' in end.tail


@pytest.mark.parametrize("last", [DONE[:-1], b"data: [DONE]\n"])
def test_a_last_event_without_its_empty_line_counts(last):
    stream = machine()
    stream.feed(TEXT, 1)
    assert stream.feed(last, 2).out == b""
    assert stream.finish(3).kind is EndKind.COMPLETE


@pytest.mark.parametrize(
    "odd", [b"data: not json\n\n", b"data: [1]\n\n", b": comment\n\n", b'data: {"type":7,"delta":{}}\n\n']
)
def test_odd_events_pass(odd):
    stream = machine()
    stream.feed(TEXT, 1)
    assert stream.feed(odd, 2).out == odd
    assert stream.failure is None


def test_half_an_event_at_the_end_is_no_event():
    stream = machine()
    stream.feed(TEXT + b"data: {", 1)
    assert stream.finish(2).kind is EndKind.TRUNCATED


def test_vllms_transcription_chunks():
    stream = TypedStream(Api.TRANSCRIPTIONS, "alias", rename=True)
    chunk = b'data: {"object":"transcription.chunk","model":"eng","choices":[{"delta":{"content":"a"}}]}\n\n'
    assert stream.feed(chunk, 1).out == chunk.replace(b"eng", b"alias")
    stream.feed(b"data: [DONE]\n\n", 2)
    assert stream.finish(3).kind is EndKind.COMPLETE
    assert stream.tally.usage == Usage(0, 1)


def test_speech_and_pictures():
    for last in (
        "speech.audio.done",
        "image_generation.completed",
        "image_edit.completed",
        "transcript.text.done",
    ):
        stream = TypedStream(Api.SPEECH, "m")
        stream.feed(event("speech.audio.delta", audio="QQ=="), 1)
        stream.feed(event(last, usage={"input_tokens": 1, "output_tokens": 2}), 2)
        assert stream.finish(3).kind is EndKind.COMPLETE
        assert stream.tally.usage == Usage(1, 2, 0, reported=True)
