import json

import pytest

from forebay.domain.request import Api
from forebay.gateway.streams.errors import error_body, error_event, error_type


@pytest.mark.parametrize(
    ("status", "openai", "anthropic"),
    [
        (400, "invalid_request_error", "invalid_request_error"),
        (404, "not_found_error", "not_found_error"),
        (413, "invalid_request_error", "request_too_large"),
        (422, "invalid_request_error", "invalid_request_error"),
        (429, "rate_limit_error", "rate_limit_error"),
        (499, "invalid_request_error", "invalid_request_error"),
        (502, "server_error", "api_error"),
        (503, "overloaded_error", "overloaded_error"),
        (599, "server_error", "api_error"),
    ],
)
def test_words_of_each_api(status, openai, anthropic):
    assert error_type(Api.CHAT, status) == openai
    assert error_type(Api.MESSAGES, status) == anthropic


def test_openai_body():
    body = json.loads(error_body(Api.CHAT, 400, "bad", 'a "quoted" é', param="messages[0]"))
    assert body == {
        "error": {
            "message": 'a "quoted" é',
            "type": "invalid_request_error",
            "param": "messages[0]",
            "code": "bad",
        }
    }


def test_anthropic_body():
    body = json.loads(error_body(Api.MESSAGES, 413, "too_large", "no"))
    assert body == {"type": "error", "error": {"type": "request_too_large", "message": "no"}}


def test_events_end_in_an_empty_line():
    assert error_event(Api.CHAT, 502, "x", "y").startswith(b'data: {"error"')
    assert error_event(Api.MESSAGES, 502, "x", "y").startswith(b"event: error\ndata: {")
    assert error_event(Api.CHAT, 502, "x", "a\n\nb").count(b"\n\n") == 1
