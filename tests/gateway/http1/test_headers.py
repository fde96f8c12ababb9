"""Which header lines cross, and in what form."""

import pytest

from forebay.gateway.http1.headers import host_of, request_headers, response_headers, sse_headers
from forebay.gateway.http1.message import Request


def request(*headers, method="POST", target="/v1/x?y=1"):
    return Request(
        method=method,
        target=target,
        path=target.partition("?")[0],
        headers=list(headers),
        keep_alive=True,
        peer="10.1.1.1",
    )


def sent(*headers, extra=(), forward_auth=False, url="http://e:8000"):
    head = request_headers(
        request(*headers), url=url, content_length=7, extra=list(extra), forward_auth=forward_auth
    )
    assert head.endswith(b"\r\n\r\n")
    lines = head[:-4].split(b"\r\n")
    assert lines[0] == b"POST /v1/x?y=1 HTTP/1.1"
    return lines[1:]


def test_a_request_gets_its_own_host_length_and_path_taken():
    assert sent(
        (b"host", b"gateway"), (b"content-length", b"99"), (b"content-type", b"application/json")
    ) == [
        b"host: e:8000",
        b"content-type: application/json",
        b"x-forwarded-for: 10.1.1.1",
        b"content-length: 7",
    ]


def test_the_path_taken_is_continued():
    lines = sent((b"x-forwarded-for", b"1.1.1.1"), (b"a", b"b"), (b"x-forwarded-for", b"2.2.2.2"))
    assert b"x-forwarded-for: 1.1.1.1, 2.2.2.2, 10.1.1.1" in lines
    assert len(lines) == 4


def test_hop_by_hop_lines_and_what_we_answer_for_stay_here():
    lines = sent(
        (b"connection", b"X-Debug, keep-alive"),
        (b"x-debug", b"1"),
        (b"keep-alive", b"timeout=5"),
        (b"te", b"trailers"),
        (b"trailer", b"t"),
        (b"transfer-encoding", b"chunked"),
        (b"upgrade", b"h2c"),
        (b"proxy-authorization", b"Basic x"),
        (b"proxy-connection", b"close"),
        (b"expect", b"100-continue"),
        (b"accept-encoding", b"gzip"),
        (b"content-encoding", b"gzip"),
        (b"x-request-id", b"theirs"),
        (b"x-data-parallel-rank", b"3"),
        extra=[(b"x-request-id", b"ours")],
    )
    assert lines == [
        b"host: e:8000",
        b"x-forwarded-for: 10.1.1.1",
        b"x-request-id: ours",
        b"content-length: 7",
    ]


def test_credentials_go_on_only_when_told():
    credentials = ((b"authorization", b"Bearer x"), (b"x-api-key", b"y"))
    assert not any(b"Bearer" in line or b"x-api-key" in line for line in sent(*credentials))
    lines = sent(*credentials, forward_auth=True)
    assert b"authorization: Bearer x" in lines
    assert b"x-api-key: y" in lines


def test_repeated_lines_stay():
    lines = sent((b"accept", b"a"), (b"accept", b"b"))
    assert lines[1:3] == [b"accept: a", b"accept: b"]


def test_hosts():
    assert host_of("http://e") == b"e"
    assert host_of("http://[::1]:8000") == b"[::1]:8000"
    assert host_of("http://user:secret@e:1/") == b"e:1"
    assert host_of("http://bücher.example:80") == b"xn--bcher-kva.example:80"


ENGINE = [
    (b"connection", b"x-debug"),
    (b"connection", b"Keep-Alive"),
    (b"x-debug", b"1"),
    (b"keep-alive", b"timeout=5"),
    (b"transfer-encoding", b"chunked"),
    (b"content-length", b"5"),
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"set-cookie", b"a=1"),
    (b"set-cookie", b"b=2"),
    (b"cache-control", b"max-age=9"),
    (b"x-request-id", b"engine's"),
]


def test_p23_replies_keep_what_is_for_the_client():
    assert response_headers(ENGINE) == [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"cache-control", b"max-age=9"),
    ]


def test_p23_streams_are_not_held_up():
    assert sse_headers(ENGINE) == [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"cache-control", b"no-cache, no-transform"),
        (b"x-accel-buffering", b"no"),
    ]


@pytest.mark.parametrize(
    ("url", "target", "asked"),
    [
        ("http://e:1/v3", "/v1/chat/completions?a=/v1/b", "/v3/chat/completions?a=/v1/b"),
        ("http://e:1/v3", "/v1/v1/x", "/v3/v1/x"),
        ("http://e:1/v3", "/v10/x", "/v10/x"),
        ("http://e:1/replica-1", "/v1/models", "/replica-1/v1/models"),
        ("http://e:1/replica-1/v3", "/v1/models", "/replica-1/v3/models"),
        ("http://e:1/replica-1/v3", "/health", "/replica-1/health"),
    ],
)
def test_the_base_of_an_address_stands_in_place_of_v1(url, target, asked):
    head = request_headers(request(target=target), url=url, content_length=0, extra=[], forward_auth=False)
    assert head.startswith(b"POST %b HTTP/1.1\r\nhost: e:1\r\n" % asked.encode())
