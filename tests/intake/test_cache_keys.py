"""Keys for an engine's caches are made the tenant's own, and no other byte changes."""

import base64
import json

import pytest

from forebay.domain.request import Api
from forebay.intake.cache_keys import uuid_edits
from forebay.intake.refusal import Refusal
from forebay.intake.skeleton import Skeleton
from forebay.intake.splice import splice

PNG = "p10_gray16_64x48.png"
REMOTE = "https://a.example/x"


@pytest.fixture
def sent(read):
    """What an engine gets."""

    def send(body, api=Api.CHAT, tenant="t", **settings):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return b"".join(splice(data, read(data, api, incoming={"tenant": tenant}, **settings).edits.always))

    return send


@pytest.fixture
def picture(case):
    def part(**more):
        url = "data:image/png;base64," + base64.b64encode(case(PNG) * 9).decode()
        return {"type": "image_url", "image_url": {"url": url}, **more}

    return part


@pytest.mark.parametrize("key", ["cache_salt", "extra_key"])
@pytest.mark.parametrize(
    "api", [Api.CHAT, Api.COMPLETIONS, Api.MESSAGES, Api.EMBEDDINGS, Api.RESPONSES, Api.POOLING]
)
def test_a_salt_is_a_digest_of_itself_and_the_tenant(sent, api, key):
    body = {"model": "m", key: "mine", "x": 1}
    asked = [({**body, key: salt}, tenant) for salt in ("mine", "yours") for tenant in ("", "a", "b")]
    salts = {json.loads(sent(asking, api, tenant))[key] for asking, tenant in asked}
    assert len(salts) == 6
    assert not salts & {"mine", "yours"}
    assert all(len(salt) == 32 for salt in salts)
    assert sent(body, api, "a") == sent(body, api, "a")
    assert {**json.loads(sent(body, api)), key: "mine"} == body


def test_salts_of_a_batch(sent):
    one, two = json.loads(sent({"model": "m", "extra_key": ["a", "b"]}))["extra_key"]
    assert one != two


def test_a_tenant_cannot_give_what_is_anothers_digest(sent):
    others = json.loads(sent({"model": "m", "cache_salt": "s"}, tenant="a"))["cache_salt"]
    assert json.loads(sent({"model": "m", "cache_salt": others}, tenant="b"))["cache_salt"] != others


def test_a_salt_that_is_no_text_or_comes_twice_is_refused(refused):
    assert refused({"model": "m", "cache_salt": 7}).code == "invalid_type"
    assert refused(b'{"model":"m","cache_salt":"a","cache_salt":"b"}').code == "duplicate_key"
    assert refused(b'{"model":"m","cache_salt":"a","cache\\u005fsalt":"b"}').code == "duplicate_key"


def test_bodies_without_keys_are_not_touched(read):
    plain = {"model": "m", "cache_salt": None, "messages": [{"content": "uuid"}]}
    for body in ({"model": "m", "messages": []}, plain):
        assert read(body).edits.always == ()


def test_the_uuid_of_a_picture_becomes_null_and_no_other_byte_changes(sent, chat, picture):
    tool = {"type": "function", "function": {"parameters": {"properties": {"uuid": {"type": "string"}}}}}
    call = [{"type": "function", "id": "1", "uuid": "kept", "function": {"arguments": '{"uuid":"x"}'}}]
    words = {"type": "text", "text": '"uuid": "u1"'}
    body = chat(words, picture(uuid="u1"), picture(uuid="u2"), picture(), tools=[tool])
    body["messages"].append({"role": "assistant", "content": None, "tool_calls": call})
    data = json.dumps(body, indent=1).encode()
    assert sent(data) == data.replace(b'"uuid": "u1"', b'"uuid": null').replace(
        b'"uuid": "u2"', b'"uuid": null'
    )


@pytest.mark.parametrize("spelling", ['"uuid":"a"', '"uu\\u0069d":"a"', '"uuid" : "a"', '"uuid":{"a":[1]}'])
def test_every_spelling(sent, spelling):
    part = '{"type":"image_url","image_url":{"url":"%s"},%s}' % (REMOTE, spelling)
    body = '{"model":"m","messages":[{"role":"user","content":[%s]}]}' % part
    (got,) = json.loads(sent(body.encode()))["messages"][0]["content"]
    assert got == {"type": "image_url", "image_url": {"url": REMOTE}, "uuid": None}


def test_a_part_without_a_type_is_known_by_its_medium(sent, chat):
    got = json.loads(sent(chat({"image_url": REMOTE, "uuid": "a"})))
    assert got["messages"][0]["content"][0]["uuid"] is None


def test_keys_of_other_apis_beside_it_confuse_nobody(sent, chat):
    part = {"type": "image_url", "image_url": {"url": REMOTE}, "uuid": "u"}
    words = [{"type": "text", "text": "input"}, {"type": "text", "text": '"query":'}, part]
    data = json.dumps({**chat(*words), "input": "x", "query": ["y"], "text": None}).encode()
    assert sent(data) == data.replace(b'"uuid": "u"', b'"uuid": null')


def test_one_that_cannot_be_replaced_is_refused():
    skeleton = Skeleton(b'{"model":"m","elsewhere":[{"type":"image_url","uuid":"u"}]}')
    with pytest.raises(Refusal) as caught:
        uuid_edits(skeleton, 1)
    assert caught.value.code == "cache_key_not_trusted"


def test_in_responses_and_documents(sent, picture):
    image = {"type": "input_image", "image_url": REMOTE, "uuid": "u"}
    body = {"model": "m", "input": [{"role": "user", "content": [image]}]}
    assert b'"uuid": null' in sent(body, Api.RESPONSES)
    body = {"model": "m", "query": "q", "documents": {"content": [picture(uuid="u")]}}
    assert b'"uuid": null' in sent(body, Api.RERANK)


def test_a_uuid_that_comes_twice_is_refused(refused):
    part = '{"type":"image_url","image_url":"%s","uuid":"a","uuid":"b"}' % REMOTE
    assert refused(('{"model":"m","messages":[{"content":[%s]}]}' % part).encode()).code == "duplicate_key"


def test_a_medium_by_its_uuid_alone_is_refused(refused, chat):
    for kind in ("image_url", "audio_url", "video_url", "input_audio"):
        refusal = refused(chat({"type": kind, kind: None, "uuid": "u"}))
        assert (refusal.status, refusal.code) == (400, "cache_key_not_trusted")
        assert refusal.param == "messages[0].content[0]"


def test_where_clients_are_trusted_all_of_it_passes(read, chat, picture):
    alone = {"type": "image_url", "image_url": None, "uuid": "u"}
    understood = read(chat(picture(uuid="u"), alone, cache_salt="s"), trust_cache_keys=True)
    assert understood.edits.always == ()
    assert len(understood.request.media) == 2
