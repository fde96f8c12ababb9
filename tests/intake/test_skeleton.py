import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.intake.skeleton import MIN_PAYLOAD_BYTES, Skeleton

LONG = "QUJD" * (MIN_PAYLOAD_BYTES // 4)
URL = "data:image/png;base64," + LONG


def strings_of(value):
    if isinstance(value, str):
        return [value]
    return [
        text for item in (value.values() if isinstance(value, dict) else value) for text in strings_of(item)
    ]


@pytest.mark.parametrize("body_type", [bytes, bytearray])
def test_a_payload_is_cut_and_claimed_once(body_type):
    body = body_type(json.dumps({"a": [URL, "b"], "c": "d"}).encode())
    skeleton = Skeleton(body)
    assert len(skeleton.text) < 100
    url = json.loads(skeleton.text)["a"][0]
    head, payload = skeleton.claim(url)
    assert (head, bytes(payload).decode()) == ("data:image/png;base64,", LONG)
    assert skeleton.claim(url) == (url, None)
    assert skeleton.place(skeleton.text.index(b'"d"')) == body.index(b'"d"')
    assert skeleton.place(1) == 1


def test_values_of_data_are_cut_too():
    skeleton = Skeleton(json.dumps({"data": LONG, "x": {"data": URL}}).encode())
    parsed = json.loads(skeleton.text)
    assert skeleton.claim(parsed["data"])[0] == ""
    assert skeleton.claim(parsed["x"]["data"])[0] == "data:image/png;base64,"


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"a": URL[:1_000]}),
        json.dumps({"text": "see " + URL}),
        json.dumps({"text": '"' + URL + '"'}),
        json.dumps({"text": LONG * 3}),
        json.dumps({"a": URL + '"'}),
        '{"a":"' + URL,
        '{"a":"' + URL + '\\"}',
        LONG * 4,
    ],
)
def test_what_is_no_payload_stays(body):
    assert Skeleton(body.encode()).text == body.encode()


def test_wrapped_payloads_are_cut():
    wrapped = json.dumps({"a": "data:image/png;base64," + "QUJD\r\n" * MIN_PAYLOAD_BYTES})
    assert len(Skeleton(wrapped.encode()).text) < 100


ESCAPED = [
    "#forebay-0#".replace(sign, f"\\u00{code}", 1)
    for sign in "#forebay-"
    for code in (f"{ord(sign):02x}", f"{ord(sign):02X}")
]


@pytest.mark.parametrize("text", ["#forebay-0#", *ESCAPED])
def test_a_mark_written_by_the_client_stops_the_cutting(text):
    body = (json.dumps({"a": URL})[:-1] + ', "b": "' + text + '"}').encode()
    skeleton = Skeleton(body)
    assert skeleton.text == body
    assert skeleton.claim("#forebay-0#") == ("#forebay-0#", None)


def test_odd_marks_are_text():
    skeleton = Skeleton(json.dumps({"a": URL}).encode())
    for text in (
        "#",
        "#forebay-#",
        "#forebay-7#",
        "#forebay-²#",
        "#forebay-\u0660#",
        "#forebay-" + "9" * 5_000 + "#",
        "x",
    ):
        assert skeleton.claim(text) == (text, None)


def test_payloads_that_nobody_claimed_are_checked():
    Skeleton(json.dumps({"a": URL}).encode()).check_unclaimed()
    with pytest.raises(msgspec.DecodeError):
        Skeleton(('{"a":"' + URL + "\x01" + '"}').encode()).check_unclaimed()


def test_restored_json_holds_its_payloads():
    body = json.dumps({"data": LONG, "n": [1]}).encode()
    skeleton = Skeleton(body)
    assert skeleton.restored(skeleton.text) == body
    assert skeleton.restored(b"{}") == b"{}"


TEXTS = st.one_of(
    st.text(max_size=5),
    st.just(URL),
    st.just(LONG),
    st.just("x" * 5_000),
    st.just('\\"' + URL + "\\"),
    st.just("DATA:x/y;a=b;base64, " + LONG + "="),
)


@given(
    st.recursive(
        TEXTS, lambda i: st.lists(i, max_size=4) | st.dictionaries(st.sampled_from(["data", "url", "z"]), i)
    )
)
def test_nothing_but_payloads_is_lost(value):
    body = json.dumps(value).encode()
    skeleton = Skeleton(body)
    parsed = json.loads(skeleton.text)
    assert [skeleton.whole(text) for text in strings_of(parsed)] == strings_of(value)
    skeleton.check_unclaimed()
