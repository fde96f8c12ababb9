"""The short way gives what the exact way gives, or gives way to it."""

import json
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.domain.request import Api
from forebay.intake import plain_chat as module
from forebay.intake.plain_chat import read_plain
from forebay.intake.refusal import Refusal
from forebay.intake.settings import IntakeSettings
from forebay.intake.understand import understand

SENSITIVE = frozenset(["model", "messages", "stream", "stream_options", "max_tokens", "tools"])
TEXTS = st.text(max_size=300) | st.sampled_from(
    ['"model"', "model", '\\"tools\\"', "data:,x", "#forebay-0#", "[{" * 99]
)
NUMBERS = st.none() | st.integers(-2, 2**70) | st.floats(allow_nan=False) | st.just("5")
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "role": st.sampled_from(["user", "system", "", None, 5]),
            "content": st.none()
            | TEXTS
            | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})),
            "name": st.none() | TEXTS,
            "tool_calls": st.none() | st.lists(st.just({"id": "1"})),
            "unknown": st.none() | TEXTS,
        },
    ),
    max_size=4,
)
MEMBERS = {
    "model": TEXTS | st.just("m") | st.none(),
    "messages": MESSAGES,
    "stream": st.booleans() | st.none() | st.just("yes"),
    "stream_options": st.none()
    | st.just([])
    | st.fixed_dictionaries({}, optional={"include_usage": st.booleans() | st.none(), "x": st.integers()}),
    "n": NUMBERS,
    "max_tokens": NUMBERS,
    "max_completion_tokens": NUMBERS,
    "tools": st.none() | st.lists(st.just({"type": "function"})),
    "temperature": st.floats() | st.just(10**400),
    "mm_processor_kwargs": st.none() | st.just({"x": 1}),
    "response_format": st.none() | st.just({"type": "text"}),
    "images": st.none() | st.just(["https://a.example/x"]),
}
PAIRS = st.lists(
    st.sampled_from(sorted(MEMBERS)).flatmap(lambda key: st.tuples(st.just(key), MEMBERS[key])), max_size=6
)


def answer(body):
    try:
        return understand(Api.CHAT, body, IntakeSettings(max_elements=200, max_depth=60), "r", lambda _: None)
    except Refusal as refusal:
        return refusal.status, refusal.code, refusal.message, refusal.param


def same_both_ways(body):
    short = answer(body)
    with patch.object(module, "read_plain", lambda _text, _sensitive: None):
        assert answer(body) == short


def written(pairs, *, ascii_only, spaced):
    colon, comma = (" : ", " , ") if spaced else (":", ",")
    members = (json.dumps(key) + colon + json.dumps(value, ensure_ascii=ascii_only) for key, value in pairs)
    return ("{" + comma.join(members) + "}").encode("utf-8", "surrogatepass")


@settings(max_examples=400, deadline=None)
@given(
    st.permutations([*MEMBERS]).flatmap(
        lambda keys: st.tuples(*(st.tuples(st.just(key), MEMBERS[key]) for key in keys[:5]))
    ),
    PAIRS,
    st.booleans(),
    st.booleans(),
)
def test_any_chat(members, more, ascii_only, spaced):
    base = [("model", "m"), ("messages", [{"role": "user", "content": "Why?"}])]
    for pairs in (base + more, [*members], [*members, *more]):
        same_both_ways(written(pairs, ascii_only=ascii_only, spaced=spaced))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_damage(data):
    body = bytearray(
        b'{"model":"m","messages":[{"role":"user","content":"a \\"model\\" \\u00e9"}],"stream":true,'
        b'"stream_options":{"include_usage":false},"n":2,"max_tokens":8}'
    )
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(body)))
        until = data.draw(st.integers(at, min(len(body), at + 3)))
        body[at:until] = data.draw(
            st.binary(max_size=2) | st.sampled_from([b'"', b"\\", b"{", b"]", b'"model"', b'"n":1,', b":"])
        )
    same_both_ways(bytes(body))


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","messages":[{"role":"user","content":[]}]}',
        b'{"model":"m","messages":[],"tools":[]}',
        b'{"model":"m","messages":[],"\\u0074ools":null}',
        b'{"model":"m","messages":[],"model":"m"}',
        b'{"model":"","messages":[]}',
        b'{"model":7,"messages":[]}',
        b'{"messages":[]}',
        b"[]",
        b'{"model":"m","messages":[{"content":"%b"}]}' % (b"x" * 20_000),
        b'{"model":"m","messages":[],%b}' % b",".join(b'"%d":1' % number for number in range(1_001)),
    ],
)
def test_what_is_left_to_the_exact_way(body):
    assert read_plain(body, SENSITIVE) is None


def test_what_is_read():
    body = b'{"model":"m","messages":[{"role":"user","content":"a\\n\\"b\\""}],"seed":1,"tools":null,"stream":true}'
    model, chat = read_plain(body, SENSITIVE)
    assert (model, chat.stream, chat.segments()) == ("m", True, ["\nuser\n", 'a\n"b"'])
