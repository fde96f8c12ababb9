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
