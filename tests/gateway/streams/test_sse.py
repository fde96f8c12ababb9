import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.gateway.streams.sse import (
    EventSplitter,
    EventTooLargeError,
    SseSettings,
    payload_of,
    with_payload,
)


def split(*reads):
    splitter = EventSplitter()
    return [event for read in reads for event in splitter.feed(read)], splitter.rest


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r", b"\r\n\n", b"\n\r\n"])
def test_every_line_end_closes_an_event(end):
    assert split(b"data: 1" + end + b"data: 2" + end) == ([b"data: 1" + end, b"data: 2" + end], b"")


def test_one_read_that_is_one_event_is_not_copied():
    event = b"data: 1\n\n"
    assert EventSplitter().feed(event)[0] is event


def test_a_begun_event_waits():
    assert split(b"data: 1\n\nda", b"ta: 2\n") == ([b"data: 1\n\n"], b"data: 2\n")


@given(
    st.lists(st.sampled_from([b"data: x", b"\n", b"\r\n", b"\r", b": c", b"event: e"]), max_size=12),
    st.data(),
)
def test_p14_any_cutting_gives_the_same_events(pieces, data):
    stream = b"".join(pieces)
    cut = data.draw(st.integers(0, len(stream)))
    halves, half_rest = split(stream[:cut], stream[cut:])
    bytewise, byte_rest = split(*(stream[i : i + 1] for i in range(len(stream))))
    whole, rest = split(stream)
    assert b"".join(whole) + rest == stream
    assert (halves, half_rest) == (bytewise, byte_rest) == (whole, rest)


def test_an_endless_event_is_refused():
    splitter = EventSplitter(SseSettings(max_event_bytes=10))
    splitter.feed(b"data: 1234")
    with pytest.raises(EventTooLargeError):
        splitter.feed(b"5")


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        (b"data: {}\n\n", b" {}\n\n"),
        (b"data:{}\r\n\r\n", b"{}"),
        (b": note\ndata: {}\n\n", b"{}"),
        (b"event: x\ndata: 1\ndata: 2\n\n", b"1\n2"),
        (b"error: {}\n\n", b"{}"),
        (b": only a comment\n\n", None),
        (b"event: ping\n\n", None),
        (b"\n\n", None),
    ],
)
def test_payload(event, payload):
    assert payload_of(event) == payload


def test_with_payload_keeps_the_other_lines():
    assert with_payload(b"id: 1\ndata: {}\n\n", b"{}", b"[]") == b"id: 1\ndata: []\n\n"


def test_with_payload_of_several_lines():
    event = b": c\nevent: e\ndata: {\ndata: }\n\n"
    assert with_payload(event, b"{\n}", b"{\n1}") == b": c\nevent: e\ndata: {\ndata: 1}\n\n"
