"""Responses: every kind of input item is read, and priced as what it is."""

import base64
import json

import pytest

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake.form import Seat
from forebay.intake.splice import splice

TONE = "p13_tone_1500ms_8k_mono.wav"


@pytest.fixture
def respond(read):
    return lambda **body: read({"model": "m", **body}, Api.RESPONSES)


def data_url(data, mime):
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def test_a_text_is_a_turn(respond):
    request = respond(input="hello", instructions="be brief", max_output_tokens=7).request
    assert request.text.ascii_bytes == len("hello" + "be brief")
    assert (request.text.messages, request.max_output_tokens) == (2, 7)
    assert request.needs == Ability.TEXT | Ability.RESPONSES


def test_items_are_read(respond):
    items = [
        {"role": "user", "content": "abc"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "de"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "f"}, {"type": "refusal", "refusal": "no"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "why"}], "encrypted_content": "x" * 999},
        {"type": "function_call", "name": "fn", "arguments": "{}"},
        {"type": "function_call_output", "output": "result"},
        "bare",
    ]  # fmt: skip
    measure = respond(input=items).request.text
    assert measure.ascii_bytes == len("abc" + "de" + "f" + "no" + "why" + "fn" + "{}" + "result" + "bare")
    assert measure.messages == len(items)


def test_p13_media_are_priced_as_media_wherever_they_stand(respond, case):
    picture = data_url(case("p08_tail_cut_280x140.jpg"), "image/jpeg")
    sound = base64.b64encode(case(TONE)).decode()
    content = [
        {"type": "input_image", "image_url": picture, "detail": "auto"},
        {"type": "input_audio", "input_audio": {"data": sound, "format": "wav"}},
        {"type": "input_file", "file_data": picture},
        {"type": "input_image", "file_id": "file-1"},
    ]
    items = [
        {"role": "user", "content": content},
        {"type": "function_call_output", "output": [{"type": "input_image", "image_url": picture}]},
    ]
    request = respond(input=items).request
    assert [item.modality for item in request.media] == [
        Ability.IMAGE,
        Ability.AUDIO,
        Ability.IMAGE,
        Ability.IMAGE,
        Ability.IMAGE,
    ]
    assert request.media[1].duration_us == 1_500_000
    assert {(item.width, item.height) for item in request.media if item.size_bytes and item.width} == {
        (280, 140)
    }
    assert request.text.ascii_bytes == 0
    assert request.needs & Ability.AUDIO


def test_documents_count_as_pages(respond):
    content = [{"type": "input_file", "file_data": data_url(b"%PDF" * 2_000, "application/pdf")}]
    assert respond(input=[{"role": "user", "content": content}]).request.text.ascii_bytes == 20_000


def test_an_unknown_part_is_text_and_each_counts_once(respond):
    parts = [{"type": "input_poem", "lines": [str(number)]} for number in range(5)]
    items = [
        "bare",
        {"role": "user", "content": parts[:2]},
        {"role": "user", "content": [{"type": "input_text", "text": "ab"}, parts[2]]},
        {"type": "reasoning", "summary": [parts[3]], "content": [parts[4]]},
    ]
    written = sum(len(json.dumps(part)) for part in parts)
    assert respond(input=items).request.text.ascii_bytes == len("bare") + len("ab") + written


def test_addresses_inside_are_refused(refused):
    for item in (
        {"role": "user", "content": [{"type": "input_image", "image_url": "http://127.0.0.1/x"}]},
        {"role": "user", "content": [{"type": "input_file", "file_url": "file:///etc/passwd"}]},
        {
            "type": "function_call_output",
            "output": [{"type": "input_image", "image_url": "http://10.0.0.1/"}],
        },
    ):
        refusal = refused({"model": "m", "input": [item]}, Api.RESPONSES)
        assert (refusal.status, refusal.code) == (400, "url_not_allowed")


def test_a_hidden_picture_is_refused(refused):
    hidden = '{"role":"user","content":[{"type":"input_image","image_url":"https://a.example/1","image_url":"https://a.example/2"}]}'
    body = f'{{"model":"m","input":[{hidden}]}}'.encode()
    assert refused(body, Api.RESPONSES).code == "duplicate_key"


def test_schemas_and_tools_are_part_of_the_prompt(respond):
    plain = respond(input="x").request.text.ascii_bytes
    assert respond(input="x", tools=[{"type": "function", "name": "f"}]).request.text.ascii_bytes > plain
    assert respond(input="x", text={"format": {"type": "json_schema"}}).request.text.ascii_bytes > plain


def test_the_id_to_go_on_from_becomes_the_engines_and_pins_the_request(read):
    body = b'{"model":"m", "previous_response_id" : "sealed", "input":"x","tools":[{"previous_response_id":"mine"}]}'
    asked = []

    def seat_of(held_id, tenant, param):
        asked.append((held_id, tenant, param))
        return Seat("m", 3, "resp_1")

    understood = read(body, Api.RESPONSES, incoming={"seat_of": seat_of, "tenant": "t"})
    assert asked == [("sealed", "t", "previous_response_id")]
    assert (understood.request.only_slot, understood.request.tenant) == (3, "t")
    sent = b"".join(splice(body, understood.edits.always))
    assert sent == body.replace(b'"sealed"', b'"resp_1"')


def test_no_response_is_kept_unless_something_says_where(refused):
    refusal = refused({"model": "m", "input": "x", "previous_response_id": "r"}, Api.RESPONSES)
    assert (refusal.status, refusal.param) == (404, "previous_response_id")
