"""The answers that the fake engine gives and the load generator expects."""

import json

from forebay.testing.bench import wire


def test_reply_is_json_that_names_both_digests():
    body = b'{"messages":[{"role":"user","content":"hello"}]}'
    reply = json.loads(wire.reply(wire.body_digest(body), wire.content_digest(body)))
    assert reply["id"] == "chatcmpl-" + wire.body_digest(body).decode()
    assert wire.content_digest(body).decode() in reply["choices"][0]["message"]["content"]
    assert (
        reply["usage"]["total_tokens"]
        == reply["usage"]["prompt_tokens"] + reply["usage"]["completion_tokens"]
    )


def test_content_digest_survives_rewritten_json_and_sees_changed_content():
    compact = b'{"model":"m","messages":[{"content":"hello","role":"user"}]}'
    spaced = b'{"messages": [{"role": "user", "content": "hello"}], "model": "m"}'
    changed = b'{"messages": [{"role": "user", "content": "hullo"}], "model": "m"}'
    assert wire.content_digest(compact) == wire.content_digest(spaced)
    assert wire.content_digest(compact) != wire.content_digest(changed)
    assert wire.body_digest(compact) != wire.body_digest(spaced)


def test_content_digest_of_an_image_is_of_its_base64_alone():
    first = b'{"content":[{"type":"text","text":"a"},{"url":"data:image/png;base64,AAAA"}]}'
    second = b'{"content":[{"type":"text","text":"b"},{"url":"data:image/png;base64,AAAA"}]}'
    third = b'{"content":[{"type":"text","text":"a"},{"url":"data:image/png;base64,AAAB"}]}'
    assert wire.content_digest(first) == wire.content_digest(second) != wire.content_digest(third)


def test_content_digest_of_nothing_and_of_a_cut_body():
    assert wire.content_digest(b"{}") == wire.content_digest(b"")
    assert wire.content_digest(b'"data:;base64,AA') == wire.content_digest(b'"data:;base64,AA"')


def test_stream_has_role_content_finish_usage_and_done():
    text = wire.StreamText(b"0" * 32, b"1" * 16, 3, usage=True)
    events = text.whole().decode().split("\n\n")
    assert events.pop() == ""
    assert events.pop() == "data: [DONE]"
    values = [json.loads(event.removeprefix("data: ")) for event in events]
    assert values[0]["choices"][0]["delta"] == {"role": "assistant", "content": "1" * 16}
    assert [value["choices"][0]["delta"]["content"] for value in values[1:4]] == [" t0", " t1", " t2"]
    assert [value["choices"][0]["finish_reason"] for value in values[1:4]] == [None, None, "length"]
    assert values[4]["usage"]["completion_tokens"] == 3


def test_stream_without_usage_ends_in_done_alone():
    assert wire.StreamText(b"0", b"1", 1, usage=False).closing() == b"data: [DONE]\n\n"
