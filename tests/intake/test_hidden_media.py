"""A key about media that comes twice: the gateway and the engine must not see different pictures."""

import base64
import json

import pytest

from forebay.domain.request import Api
from forebay.intake.settings import IntakeSettings
from forebay.intake.tokens.registry import build
from forebay.intake.understand import Refusal, understand
from forebay.testing.engines import scenes

FAMILY = build("qwen2.5-vl")
PNG = "data:image/png;base64," + base64.b64encode(scenes.picture()).decode()


def read(parts):
    body = '{"model":"m","messages":[{"role":"user","content":[%s]}]}' % parts
    return understand(Api.CHAT, body.encode(), IntakeSettings(), "r", lambda _: FAMILY).request


@pytest.mark.parametrize(
    "part",
    [
        '{"type":"image_url","image_url":{"url":"https://a.example/x","url":"%s"}}' % PNG,
        '{"type":"image_url","image_url":{"url":"http://10.0.0.1/x"},"image_url":{"url":"%s"}}' % PNG,
        '{"type":"text","type":"image_url","text":"url","image_url":{"url":"%s","x":{"url":1}}}' % PNG,
        '{"type":"image_url","image_url":{"\\u0075rl":"http://10.0.0.1/x","url":"%s"}}' % PNG,
    ],
)
def test_a_repeated_key_is_refused(part):
    with pytest.raises(Refusal) as raised:
        read(part)
    assert raised.value.code == "duplicate_key"


@pytest.mark.parametrize(
    "part",
    [
        '{"type":"image_url","image_url":{"url":"%s"}}' % PNG,
        '{"type":"image_url","image_url":{"url":"%s","extra":{"url":"x"}}}' % PNG,
        '{"type":"text","text":"say \\"url\\" twice: \\"url\\""},{"type":"image_url","image_url":{"url":"%s"}}'
        % PNG,
        '{"type":"text","text":"\\u0041"},{"type":"image_url","image_url":{"url":"%s"}}' % PNG,
        '{"type":"image_url","image_url":{"url":"%s"},"x_note":1,"x_note":2}' % PNG,
    ],
)
def test_what_hides_nothing_passes(part):
    assert len(read(part).media) == 1


def test_anthropic_sources_are_watched_too():
    source = {"type": "base64", "media_type": "image/png", "data": PNG.partition(",")[2]}
    body = json.dumps(
        {
            "model": "m",
            "max_tokens": 1,
            "messages": [{"role": "user", "content": [{"type": "image", "source": source}]}],
        }
    )
    understand(Api.MESSAGES, body.encode(), IntakeSettings(), "r", lambda _: FAMILY)
    twice = body.replace('"data":', '"data": "", "data":')
    with pytest.raises(Refusal):
        understand(Api.MESSAGES, twice.encode(), IntakeSettings(), "r", lambda _: FAMILY)


BAD = "http://169.254.169.254/"
OK_URL = "https://ok.example.com/a.png"
RAW_PNG = PNG.partition(",")[2]


def refusal_of(part, api=Api.CHAT):
    content = part if isinstance(part, str) else json.dumps(part)
    body = '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[%s]}]}' % content
    with pytest.raises(Refusal) as raised:
        understand(api, body.encode(), IntakeSettings(), "r", lambda _: FAMILY)
    return raised.value


@pytest.mark.parametrize("api", [Api.CHAT, Api.MESSAGES, Api.EMBEDDINGS])
@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "url": BAD},
        {"type": "image", "image": BAD},
        {"type": "audio", "audio": BAD},
        {"type": "video", "video": [OK_URL, BAD]},
        {"type": "x", "x": {"deep": [{"url": BAD}]}},
        {"type": "text", "text": "a", "image": BAD},
        {"type": "input_file", "input_file": {"file_url": BAD}},
        {"type": "input_image", "input_image": "//169.254.169.254/"},
        {"type": "image", "image": " http:/169.254.169.254/"},
        {"type": "image", "image": "http:\\\\169.254.169.254"},
        {"type": "image", "image": "file:///etc/hostname"},
        {"type": "image", "image": "http:169.254.169.254"},
        '{"type":"image","image":"http\\u003a\\u002f\\u002f169.254.169.254"}',
        '{"type":"image","image":"http:\\/\\/169.254.169.254"}',
    ],
)
def test_p37_urls_of_unknown_parts_obey_the_policy(part, api):
    refusal = refusal_of(part, api)
    assert (refusal.code, refusal.param) == ("url_not_allowed", "messages[0].content[0]")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "video_url", "image_url": {"url": OK_URL}, "video_url": {"url": BAD}},
        {"type": "video_url", "image_url": OK_URL, "video_url": "no url"},
        {"type": "file", "image_url": OK_URL, "file": {"file_data": BAD}},
        {"type": "file", "file": {"file_data": BAD}},
        {"type": "file", "file": {"file_url": BAD}},
    ],
)
def test_p37_every_medium_of_a_part_is_read(part):
    assert refusal_of(part).code == "url_not_allowed"


def test_p37_every_medium_of_a_part_is_priced():
    sound = {"data": "QUJD"}
    part = {
        "type": "image_url",
        "image_url": {"url": PNG},
        "video_url": {"url": OK_URL},
        "input_audio": sound,
    }
    assert len(read(json.dumps(part)).media) == 3


@pytest.mark.parametrize(
    "part",
    [
        '{"type":"image_url","image_url":{"url":"%s"},"image_url":null}' % BAD,
        '{"type":"image_url","image_url":{"url":"%s"},"image_url":null}' % OK_URL,
        '{"type":"image_url","image_url":"%s","image_url":null}' % BAD,
        '{"type":"text","text":"x","image_url":"%s","image_url":null}' % BAD,
        '{"type":"text","text":"x","image":"%s","image":"x"}' % BAD,
        '{"type":"image","type":"text","text":"x","image":""}',
    ],
)
def test_p37_what_a_later_key_hides_is_refused(part):
    assert refusal_of(part).code == "duplicate_key"


@pytest.mark.parametrize("before", ["", '{"role":"assistant"},', '{"role":"assistant","content":"a"},'])
@pytest.mark.parametrize("key", ["content", "c\\u006fntent"])
def test_p37_hidden_content_is_refused(before, key):
    parts = json.dumps([{"type": "image_url", "image_url": {"url": BAD}}])
    body = '{"model":"m","messages":[%s{"role":"user","%s":%s,"content":"hi"}]}' % (before, key, parts)
    with pytest.raises(Refusal) as raised:
        understand(Api.CHAT, body.encode(), IntakeSettings(), "r", lambda _: FAMILY)
    assert raised.value.code == "duplicate_key"


def test_p37_hidden_texts_are_refused_too():
    body = b'{"model":"m","messages":[{"role":"user","content":"a","content":"b"}]}'
    with pytest.raises(Refusal) as raised:
        understand(Api.CHAT, body, IntakeSettings(), "r", lambda _: FAMILY)
    assert raised.value.code == "duplicate_key"


@pytest.mark.parametrize("kind", ["image", "document", "video", "audio"])
def test_p37_a_source_has_one_address(kind):
    both = {"type": kind, "source": {"type": "url", "url": OK_URL, "data": RAW_PNG}}
    refusal = refusal_of(both, Api.MESSAGES)
    assert (refusal.code, refusal.param) == ("ambiguous_source", "messages[0].content[0].source")
    for url in (BAD, "169.254.169.254"):
        block = {"type": kind, "source": {"type": "url", "url": url}}
        assert refusal_of(block, Api.MESSAGES).code == "url_not_allowed"


def test_p37_a_source_of_blocks_is_read():
    def block(url):
        picture = {"type": "image", "source": {"type": "url", "url": url}}
        return {"type": "document", "source": {"type": "content", "content": [picture]}}

    assert refusal_of(block(BAD), Api.MESSAGES).code == "url_not_allowed"
    body = json.dumps({"model": "m", "system": [block(OK_URL)], "messages": []})
    request = understand(Api.MESSAGES, body.encode(), IntakeSettings(), "r", lambda _: FAMILY).request
    assert len(request.media) == 1
    with pytest.raises(Refusal) as raised:
        bad = body.replace(OK_URL, BAD)
        understand(Api.MESSAGES, bad.encode(), IntakeSettings(), "r", lambda _: FAMILY)
    assert raised.value.param == "system[0]"


@pytest.mark.parametrize(
    ("part", "api"),
    [
        ({"type": "text", "text": f"see {BAD}"}, Api.CHAT),
        ({"type": "x", "label": BAD, "image": "a cat: black", "more": 1}, Api.CHAT),
        ({"type": "image", "image": PNG, "url": OK_URL}, Api.CHAT),
        ({"type": "tool_use", "id": "1", "name": "get", "input": {"url": BAD, "content": "x"}}, Api.MESSAGES),
        ({"type": "text", "text": "x", "citations": [{"url": BAD}]}, Api.MESSAGES),
        ({"type": "tool_result", "content": [{"type": "web_search_result", "url": BAD}]}, Api.MESSAGES),
    ],
)
def test_p37_what_no_engine_fetches_passes(part, api):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": [part]}]})
    understand(api, body.encode(), IntakeSettings(), "r", lambda _: FAMILY)
