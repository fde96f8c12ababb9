"""Right, rewritten and wrong answers are told apart."""

import json

import pytest

from forebay.testing.bench import wire
from forebay.testing.bench.verdict import Want, meaning

BODY = b'{"messages":[{"role":"user","content":"hello"}]}'
REWRITTEN = b'{"messages": [{"role": "user", "content": "hello"}]}'


def answer_to(body, chunks=0):
    return Want(body, chunks=chunks).whole


@pytest.mark.parametrize("chunks", [0, 5])
def test_the_very_bytes_are_exact(chunks):
    verdict = Want(BODY, chunks=chunks).judge(200, answer_to(BODY, chunks))
    assert (verdict.finding, verdict.request_rewritten) == ("exact", False)


@pytest.mark.parametrize("chunks", [0, 5])
def test_a_request_written_anew_is_seen(chunks):
    verdict = Want(BODY, chunks=chunks).judge(200, answer_to(REWRITTEN, chunks))
    assert (verdict.finding, verdict.request_rewritten) == ("request-rewritten", True)


def test_an_answer_written_anew_with_the_same_meaning_is_seen():
    spaced = json.dumps(json.loads(answer_to(BODY)), indent=1).encode()
    assert Want(BODY).judge(200, spaced).finding == "answer-rewritten"


def test_comments_between_events_change_no_meaning():
    whole = answer_to(BODY, 2)
    assert Want(BODY, chunks=2).judge(200, b": ping\n\n" + whole).finding == "answer-rewritten"


def test_an_answer_without_its_empty_fields_is_rewritten_and_not_wrong():
    value = json.loads(answer_to(BODY))
    del value["prompt_logprobs"], value["choices"][0]["logprobs"]
    assert Want(BODY).judge(200, json.dumps(value).encode()).finding == "answer-rewritten"
    value["usage"]["total_tokens"] += 1
    assert Want(BODY).judge(200, json.dumps(value).encode()).finding == "wrong"


def test_a_stream_that_ends_in_a_chunk_of_its_own_is_rewritten_and_not_wrong():
    whole = answer_to(BODY, 2)
    split = whole.replace(b'"finish_reason":"length"', b'"finish_reason":null')
    end = (
        whole[: whole.index(b'"choices"')]
        + b'"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n'
    )
    at = split.index(b"data: ", split.index(b" t1"))
    told = split[:at] + end + split[at:]
    assert Want(BODY, chunks=2).judge(200, told).finding == "answer-rewritten"
    assert Want(BODY, chunks=2).judge(200, split).finding == "wrong"


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (502, answer_to(BODY)),
        (200, b""),
        (200, answer_to(BODY)[:-1]),
        (200, answer_to(BODY).replace(b"chatcmpl-", b"")),
        (200, answer_to(b'{"messages":[{"role":"user","content":"hullo"}]}')),
    ],
)
def test_wrong_answers_say_why(status, answer):
    verdict = Want(BODY).judge(status, answer)
    assert verdict.finding == "wrong"
    assert verdict.why


def test_a_stream_that_lost_a_chunk_or_its_end_is_wrong():
    whole = answer_to(BODY, 4)
    chunk = wire.StreamText(wire.body_digest(BODY), wire.content_digest(BODY), 4, usage=True).chunk(1)
    assert Want(BODY, chunks=4).judge(200, whole.replace(chunk, b"")).finding == "wrong"
    assert Want(BODY, chunks=4).judge(200, whole.replace(b"data: [DONE]\n\n", b"")).finding == "wrong"


def test_meaning_of_unreadable_text_is_none():
    assert meaning(b"not json") == [None]
    assert meaning(b'data: {"a":1}\n\ndata: oops\n\ndata: [DONE]\n\n') == [{"a": 1}, None, "[DONE]"]
