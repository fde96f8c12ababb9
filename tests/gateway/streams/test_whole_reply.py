import pytest

from forebay.domain.outcome import Usage
from forebay.gateway.streams.kept_ids import ResponseRestorer
from forebay.gateway.streams.whole_reply import read_reply
from forebay.intake.form import Replies


def test_p23_bytes_are_kept_and_usage_read(case):
    body = case("p23_upstream_body.json")
    reply = read_reply(Replies.CHUNKS, body, "eng", rename=True)
    assert reply.body is body
    assert reply.usage == Usage(5, 7, 0, reported=True)


def test_the_model_is_renamed_and_nothing_else():
    body = b'{ "x":{"model":"eng"}, "seed":1e2,"model" : "eng", "usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":1}}}'
    reply = read_reply(Replies.CHUNKS, body, "alias", rename=True)
    assert reply.body == body.replace(b'"model" : "eng"', b'"model" : "alias"')
    assert reply.usage == Usage(1, 0, 1, reported=True)
    assert read_reply(Replies.CHUNKS, body, "alias", rename=False).body is body


@pytest.mark.parametrize(
    "body", [b"", b"plain text", b"[1]", b"[" * 5_000, b'{"model":"a","model":"b"}', b'{"usage":7}']
)
def test_what_is_not_understood_passes_as_it_is(body):
    reply = read_reply(Replies.CHUNKS, body, "alias", rename=True)
    assert reply.body == body
    assert not reply.usage.reported


def test_an_id_that_is_no_text_stays():
    body = b'{"id":"\xff","previous_response_id":"r","object":"response"}'
    restorer = ResponseRestorer(lambda name: name + "_sealed")
    reply = read_reply(Replies.RESPONSES, body, "m", rename=False, responses=restorer)
    assert reply.body == body.replace(b'"r"', b'"r_sealed"')


def test_anthropic_usage():
    body = b'{"usage":{"cache_read_input_tokens":31,"input_tokens":1,"output_tokens":2}}'
    assert read_reply(Replies.MESSAGES, body, "m", rename=False).usage == Usage(32, 2, 31, reported=True)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (b'{"message":"no","code":400,"type":"invalid_request_error"}', 400, "invalid_request_error"),
        (b'{"message":"no","code":"429"}', 429, "upstream_error"),
        (b'{"message":"no","code":"model_not_found","type":"not_found_error"}', 404, "model_not_found"),
        (b'{"type":"weird"}', 502, "weird"),
        (b'"a word"', 502, "upstream_error"),
    ],
)
def test_errors(error, status, code):
    failure = read_reply(Replies.CHUNKS, b'{"error":' + error + b"}", "m", rename=False).failure
    assert (failure.status, failure.code) == (status, code)
