"""What is remembered of a head gives what parsing gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.gateway.http1 import known_heads
from forebay.gateway.http1.head import HeadError
from forebay.gateway.http1.known_heads import KnownHeads
from forebay.gateway.http1.limits import InboundLimits
from forebay.gateway.http1.request_head import parse

LINES = st.lists(
    st.sampled_from(
        [
            *(
                b"Host: h",
                b"content-length: 5",
                b"Content-Length: 12",
                b"content-length: +5",
                b"Content-Length:7",
            ),
            *(
                b"transfer-encoding: chunked",
                b"connection: close",
                b"expect: 100-continue",
                b"x: y",
                b"X-Forwarded-For: a",
            ),
            *(
                b"content-length: 12, 12",
                b" folded: 1",
                b"a\rb: c",
                b"",
                b"content-length: 9999999999999999999",
            ),
        ]
    ),
    max_size=5,
)


def read(way, head):
    try:
        found = way(head)
    except HeadError as error:
        return error.status, error.code
    request = found.request
    return [
        *(request.method, request.target, request.headers, request.keep_alive, request.peer, request.http10),
        *(found.body_bytes, found.expects_continue),
    ]


@given(LINES, st.lists(st.sampled_from([b"5", b"6", b"12", b"012", b"x"]), min_size=1, max_size=3))
def test_any_head(lines, lengths):
    limits = InboundLimits(max_head_bytes=1024)
    known = KnownHeads(limits)
    for length in lengths * 2:
        for usual in ([b"host: h"], []):
            head = (
                b"\r\n".join([b"POST / HTTP/1.1", *usual, *lines, b"content-length: " + length]) + b"\r\n\r\n"
            )
            expected = read(lambda head: parse(head, "p", limits), head)
            assert read(lambda head: known.parse(head, "p"), head) == expected


def head(length, name=b"h"):
    return b"POST / HTTP/1.1\r\nhost: %b\r\ncontent-length: %d\r\n\r\n" % (name, length)


def test_equal_heads_share_a_request_and_other_peers_do_not():
    known = KnownHeads(InboundLimits())
    first, second = known.parse(head(1), "a"), known.parse(head(20), "a")
    assert first.request is second.request
    assert (first.body_bytes, second.body_bytes) == (1, 20)
    assert known.parse(head(1), "b").request.peer == "b"


def test_the_oldest_is_forgotten(monkeypatch):
    monkeypatch.setattr(known_heads, "MAX_HEADS", 2)
    known = KnownHeads(InboundLimits())
    first = known.parse(head(1), "a").request
    second = known.parse(head(1, b"i"), "a").request
    known.parse(head(1, b"j"), "a")
    assert known.parse(head(2, b"i"), "a").request is second
    assert known.parse(head(2), "a").request is not first


def test_the_bound_on_size_holds_for_a_known_head_with_more_digits():
    known = KnownHeads(InboundLimits(max_head_bytes=len(head(1))))
    known.parse(head(1), "a")
    with pytest.raises(HeadError):
        known.parse(head(10), "a")
