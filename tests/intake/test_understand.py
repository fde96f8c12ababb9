import json

import pytest

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake.forms import FORM_OF
from forebay.intake.json_form import JsonForm

JSON_APIS = [api for api, form in FORM_OF.items() if isinstance(form, JsonForm)]


def test_p01_parameters_of_a_data_url(read, case):
    body = case("p01_charset_param.json")
    request = read(body).request
    item = request.media[0]
    assert (item.mime, item.width, item.height, item.tokens, item.exact) == ("image/png", 280, 140, 50, True)
    assert request.needs == Ability.TEXT | Ability.CHAT | Ability.IMAGE | Ability.PNG
    assert request.body_bytes == len(body)


def test_p02_spellings_of_base64(read, refused, case):
    hashes = set()
    for line in case("p02_base64_variants.jsonl").splitlines():
        variant = json.loads(line)
        if variant["ok"]:
            item = read(variant["request"]).request.media[0]
            assert (item.mime, item.width, item.height, item.tokens) == ("image/png", 280, 140, 50)
            hashes.add(item.content_hash)
        else:
            refusal = refused(variant["request"])
            assert refusal.status == 400
            assert "messages[0].content[1]" in refusal.message
            assert "iVBOR" not in refusal.message
    assert len(hashes) == 1


def test_p03_surrogates(read, refused, case):
    assert refused(case("p03_lone_surrogate.json")).status == 400
    assert read(case("p03_paired_surrogate_ok.json")).request.text.four_byte_bytes == 4


@pytest.mark.parametrize(
    "where", ['{"model":"m","x":"\\ud83d"}', '{"model":"m","messages":[{"content":"a","y":"\\udc00"}]}']
)
def test_p03_lone_surrogates_in_unknown_fields(refused, where):
    assert refused(where.encode()).code == "invalid_json"


@pytest.mark.parametrize("name", ["nan", "infinity", "1e999", "deep", "long_int"])
def test_p05_hostile_numbers_and_depth(refused, case, name):
    assert refused(case(f"p05_{name}.json")).status == 400


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", "9" * 6_000, "[" * 5_000 + "]" * 5_000])
@pytest.mark.parametrize(
    "body",
    ['{"model":"m","x":%s}', '{"model":"m","messages":[{"role":"user","content":[{"type":"text","x":%s}]}]}'],
)
def test_p05_in_unknown_fields_too(refused, body, value):
    assert refused((body % value).encode()).status == 400


@pytest.mark.parametrize(
    "body", [b"", b"{", b"null", b"[]", b'"x"', b"7", b"{}{}", b"\xef\xbb\xbf{}", b"true", b"\x00"]
)
@pytest.mark.parametrize("api", JSON_APIS)
def test_p06_a_body_is_an_object(refused, body, api):
    refusal = refused(body, api)
    assert (refusal.status, refusal.param) == (400, None)


def test_p06_files(refused, case):
    assert refused(case("p06_array.json")).code == refused(case("p06_null.json")).code == "invalid_body"


@pytest.mark.parametrize("model", [None, "", 5])
def test_a_model_is_needed(refused, model):
    assert refused({"model": model, "messages": []}).param == "model"


@pytest.mark.parametrize("key", ["model", "stream", "messages", "max_tokens", "stream_options", "n", "tools"])
def test_a_key_that_is_read_comes_once(refused, key):
    values = {
        "model": '"m"',
        "stream": "true",
        "messages": "[]",
        "max_tokens": "1",
        "stream_options": "{}",
        "n": "1",
        "tools": "[]",
    }
    members = ",".join(f'"{name}":{value}' for name, value in values.items())
    for spelling in (key, f"\\u{ord(key[0]):04x}{key[1:]}"):
        refusal = refused(f'{{{members},"{spelling}":{values[key]}}}'.encode())
        assert (refusal.code, refusal.param) == ("duplicate_key", key)


def test_bounds_of_output(read):
    assert read({"model": "m", "max_tokens": 5}).request.max_output_tokens == 5
    assert read({"model": "m", "max_tokens": 5, "max_completion_tokens": 3}).request.max_output_tokens == 3
    assert read({"model": "m", "max_tokens": 5, "max_completion_tokens": None}).request.max_output_tokens == 5
    assert read({"model": "m", "max_tokens": -1}).request.max_output_tokens == 0
    assert read({"model": "m", "max_tokens": 10**30}).request.max_output_tokens == 1 << 31


def test_choices(read):
    assert read({"model": "m", "stream": True, "n": 3}).edits.choices == 3
    assert read({"model": "m", "stream": True, "n": None}).edits.choices == 1
    assert read({"model": "m", "stream": True, "n": -5}).edits.choices == 1


@pytest.mark.parametrize(("key", "value"), [("stream", "yes"), ("max_tokens", "5"), ("n", 1.5)])
def test_wrong_types_are_refused(refused, key, value):
    refusal = refused({"model": "m", "stream": True, key: value})
    assert (refusal.code, refusal.param) == ("invalid_type", key)


def test_p39_another_picture_is_another_prompt(read, case):
    a, b = (read(case(f"p39_same_text_image_{name}.json")).request for name in "ab")
    assert a.text == b.text
    assert not set(a.prefix_blocks) & set(b.prefix_blocks)


def test_the_request_has_what_the_client_said(read):
    request = read(bytearray(b'{"model":"m","stream":true,"messages":[]}')).request
    assert (request.request_id, request.api, request.model, request.stream) == ("r1", Api.CHAT, "m", True)


def test_a_broken_payload_in_an_unknown_field_is_no_json(refused):
    body = b'{"model":"m","x":"data:image/png;base64,' + b"QUJD" * 3_000 + b"\x01" + b'"}'
    assert refused(body).code == "invalid_json"


def test_a_broken_payload_in_a_text_is_no_json(refused):
    text = b"data:image/png;base64," + b"QUJD" * 3_000 + b"\x01"
    assert refused(b'{"model":"m","messages":[{"content":"' + text + b'"}]}').code == "invalid_json"
