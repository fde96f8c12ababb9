import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.intake.members import Members, layout_of
from forebay.intake.refusal import Refusal

KEYS = frozenset(["model", "stream"])
TEXT = msgspec.json.Decoder(str)
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=2)
)


@given(
    st.dictionaries(st.text(max_size=6), VALUES, max_size=6),
    st.sampled_from([None, (",", ":"), (" , ", "\n:\t")]),
)
def test_spans_hold_the_values(value, separators):
    document = (" " + json.dumps(value, separators=separators)).encode()
    layout = layout_of(document)
    assert not layout.hidden
    assert {key: json.loads(document[start:stop]) for key, (start, stop) in layout.spans.items()} == value


@given(st.lists(st.tuples(st.sampled_from(["a", "b", '"', "model"]), VALUES), min_size=1, max_size=6))
def test_hidden_keys_are_those_that_come_again(pairs):
    document = "{" + ",".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs) + "}"
    keys = [key for key, _ in pairs]
    layout = layout_of(document.encode())
    assert layout.hidden == {key for key in keys if keys.count(key) > 1}
    last = dict(pairs)
    assert {
        key: json.loads(document.encode()[start:stop]) for key, (start, stop) in layout.spans.items()
    } == last


@pytest.mark.parametrize(
    "document",
    [
        b'{"model":"a","model":"b"}',
        b'{"model":"a","x":1,"model":"a"}',
        b'{"mod\\u0065l":"a","model":"b"}',
        b'{"model":"a","x":{"model":2}, "model" : "c"}',
        b'{"model":"a","pad":"' + b"x" * 5_000 + b'","model":"b"}',
    ],
)
def test_a_sensitive_key_may_come_once(document):
    with pytest.raises(Refusal, match="model: the key comes more than once"):
        Members(document, KEYS)


@pytest.mark.parametrize(
    "document",
    [
        b'{"model":"a","x":1,"x":2}',
        b'{"model":"a","x":{"model":"b","stream":[{"model":1}]}}',
        b'{"x":"\\u00e9","model" : "a"}',
        b'{"x":"\\"model\\":\\"b\\"","model":"a"}',
        b'{"m\\u006fdel":"a"}',
        b'{"pad":"' + b"x" * 5_000 + b'", "model":"a"}',
    ],
)
def test_other_duplicates_and_nested_keys_are_left_alone(document):
    members = Members(document, KEYS)
    assert members.get("model", TEXT) == "a"
    start, stop = members.span("model")
    assert document[start:stop] == b'"a"'


def test_there_is_a_bound_on_keys():
    Members(json.dumps({str(number): 1 for number in range(1_000)}).encode(), KEYS)
    with pytest.raises(Refusal, match="more than 1000 keys"):
        Members(json.dumps({str(number): 1 for number in range(1_001)}).encode(), KEYS)


def test_absent_null_and_wrong_values():
    members = Members(b'{"model":null,"stream":5}', KEYS)
    assert members.get("model", TEXT) is None
    assert members.get("x", TEXT) is None
    assert members.raw("model") == members.raw("x") == b""
    assert members.raw("stream") == b"5"
    assert "model" in members
    with pytest.raises(Refusal, match="stream: Expected `str`, got `int`") as caught:
        members.get("stream", TEXT)
    assert caught.value.param == "stream"
