"""Whatever the body: an answer or a Refusal, and nothing else."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.domain.request import Api
from forebay.intake.forms import FORM_OF
from forebay.intake.json_form import JsonForm
from forebay.intake.refusal import Refusal
from forebay.intake.settings import IntakeSettings
from forebay.intake.splice import model_edits, splice
from forebay.intake.tokens.registry import build
from forebay.intake.understand import understand

JSON_APIS = [api for api, form in FORM_OF.items() if isinstance(form, JsonForm)]
FAMILY = build("qwen2.5-vl")
KEYS = st.sampled_from(
    [
        *(
            "model",
            "messages",
            "role",
            "content",
            "type",
            "text",
            "refusal",
            "tool_calls",
            "tools",
            "system",
            "prompt",
            "input",
            "instructions",
            "output",
            "query",
            "documents",
            "tokens",
            "uuid",
            "cache_salt",
        ),
        *(
            "image_url",
            "video_url",
            "audio_url",
            "url",
            "input_audio",
            "data",
            "format",
            "file",
            "file_data",
            "images",
        ),
        *("source", "media_type", "stream", "stream_options", "include_usage", "max_tokens", "n"),
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["user", "image", "image_url", "text", "data:image/png;base64,", "https://a.example/x", "#forebay-0#"]
    ),
    st.binary(max_size=40).map(lambda data: "data:image/png;base64," + base64.b64encode(data).decode()),
    st.binary(min_size=4_000, max_size=4_001).map(
        lambda data: base64.b64encode(b"\x89PNG\r\n\x1a\n" + data).decode()
    ),
    st.just("data:audio/wav;base64," + "UklGRgAA" * 700),
    # Marks that the JSON below writes with an escaped letter, one of a number that Python cannot read.
    st.sampled_from(["#\u0192orebay-0#", "#\u0192orebay-" + "9" * 5_000 + "#"]),
    # 5,000 bytes of 0xff, once written.
    st.just("\u0193" * 5_000),
)
VALUES = st.recursive(
    LEAVES, lambda v: st.lists(v, max_size=3) | st.dictionaries(KEYS, v, max_size=4), max_leaves=12
)
PARTS = st.dictionaries(KEYS, VALUES, max_size=4)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": LEAVES, "content": st.lists(PARTS, max_size=3) | VALUES}), max_size=3
)
BODIES = st.builds(
    lambda base, more: base | more,
    st.fixed_dictionaries(
        {"model": st.just("m") | LEAVES, "messages": MESSAGES | VALUES, "stream": st.just(True) | LEAVES}
    ),
    st.dictionaries(KEYS, VALUES, max_size=3),
)


def check(api, body):
    try:
        understood = understand(api, body, IntakeSettings(), "r", lambda _: FAMILY)
    except Refusal as fault:
        refusal = fault
    else:
        check_understood(body, understood)
        return
    assert 400 <= refusal.status < 500
    assert refusal.code
    assert "base64," not in refusal.message


def without_keys(value):
    """Without the keys for caches, which are the only ones that may change."""
    if isinstance(value, list):
        return [without_keys(inner) for inner in value]
    if isinstance(value, dict):
        return {key: without_keys(inner) for key, inner in value.items() if key not in {"uuid", "cache_salt"}}
    return value


def check_understood(body, understood):
    request = understood.request
    assert all(item.tokens > 0 for item in request.media)
    points = understood.edits
    made_own = json.loads(b"".join(splice(body, points.always)))
    assert json.dumps(without_keys(made_own)) == json.dumps(without_keys(json.loads(body)))
    edits = [*model_edits(points, "real"), *([points.want_usage] if points.want_usage else [])]
    before, after = json.loads(body), json.loads(b"".join(splice(body, edits)))
    assert after.pop("model") == "real"
    assert before.pop("model") == request.model
    if points.want_usage:
        assert after["stream_options"].pop("include_usage") is True
        options = before.get("stream_options") or {}
        options.pop("include_usage", None)
        assert after.pop("stream_options") == options
        before.pop("stream_options", None)
    assert json.dumps(after) == json.dumps(before)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(JSON_APIS), BODIES, st.booleans())
def test_any_value(api, body, compact):
    text = json.dumps(body, separators=(",", ":") if compact else None).encode()
    check(api, text.replace(b"\\u0192", b"\\u0066").replace(b"\\u0193", b"\xff"))


FULL = b"\xff" * 5_000
URL = b"data:image/png;base64," + b"QUJD" * 2_000


@pytest.mark.parametrize("api", JSON_APIS)
@pytest.mark.parametrize(
    "member",
    [
        b'"tools":[{"data":"%b"}],"messages":[]' % FULL,
        b'"messages":[{"role":"assistant","tool_calls":[{"data":"%b"}]}]' % FULL,
        b'"messages":[{"content":[{"type":"tool_use","input":{"data":"%b"}}]}]' % FULL,
        b'"messages":[{"content":[{"type":"x","data":"%b"}]}]' % FULL,
        b'"messages":[{"content":"#\\u0066orebay-%b#"}],"x":"%b"' % (b"9" * 5_000, URL),
        b'"messages":[{"content":[{"image_url":"%b"}]},{"content":"#\\u0066orebay-0#"}]' % URL,
    ],
)
def test_what_once_raised_something_else(api, member):
    check(api, b'{"model":"m",%b}' % member)


def test_a_forged_mark_stays_a_text():
    body = (
        b'{"model":"m","messages":[{"content":"#forebay\\u002d0#"},{"content":[{"image_url":"%b"}]}]}' % URL
    )
    request = understand(Api.CHAT, body, IntakeSettings(), "r", lambda _: FAMILY).request
    assert request.text.ascii_bytes == len("#forebay-0#")
    assert request.media[0].size_bytes == 6_000


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(JSON_APIS), BODIES, st.data())
def test_any_damage(api, body, data):
    text = bytearray(json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        until = data.draw(st.integers(at, min(len(text), at + 4)))
        text[at:until] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b'"', b"\\", b"{", b"]", b"#", b",", b":"])
        )
    check(api, bytes(text))
