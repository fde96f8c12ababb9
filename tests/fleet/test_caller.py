import asyncio

import aiohttp
import pytest
from aiohttp import web

from forebay.domain.endpoint import Endpoint
from forebay.fleet import caller as caller_module
from forebay.fleet.caller import HttpCaller, Reply


@pytest.fixture
async def session():
    async with aiohttp.ClientSession() as open_session:
        yield open_session


def calling(session, url, key=None, timeout=30.0):
    return HttpCaller(session, Endpoint(0, "ep", url), timeout, lambda _endpoint: key)


async def test_asks_below_the_declared_address_with_the_key(session, serving):
    engine = await serving({"/base/health": {"a": 1}})
    reply = await calling(session, engine.url + "/base/", key="k-1")("/health")
    assert (reply.status, reply.good, reply.json()) == (200, True, {"a": 1})
    assert engine.headers[0]["Authorization"] == "Bearer k-1"
    assert engine.headers[0]["Accept-Encoding"] == "identity"


async def test_without_a_key_no_header_is_sent(session, serving):
    engine = await serving({"/health": 200})
    await calling(session, engine.url)("/health")
    assert "Authorization" not in engine.headers[0]


async def test_a_body_is_posted_as_json(session, serving):
    async def echo(request):
        assert request.content_type == "application/json"
        return web.Response(text=f"{request.method} {await request.text()}", headers={"Server": "Llama.CPP"})

    engine = await serving({"/v1/embeddings": echo})
    reply = await calling(session, engine.url)("/v1/embeddings", b"{}")
    assert (reply.body, reply.server) == (b"POST {}", "llama.cpp")


async def test_a_redirect_is_an_answer_and_is_not_followed(session, serving):
    async def away(_request):
        raise web.HTTPFound("/elsewhere")

    engine = await serving({"/health": away, "/elsewhere": 200})
    reply = await calling(session, engine.url)("/health")
    assert (reply.status, reply.good) == (302, False)
    assert engine.asked == ["/health"]


async def test_silence_is_none(session, serving):
    engine = await serving({"/health": 200})
    engine.delay = 5.0
    assert await calling(session, engine.url, timeout=0.05)("/health") is None


async def test_a_closed_port_is_none(session, unused_tcp_port):
    assert await calling(session, f"http://127.0.0.1:{unused_tcp_port}")("/health") is None


async def test_a_reply_that_breaks_off_is_none(session, serving):
    async def half(request):
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"half")
        request.transport.close()
        return response

    engine = await serving({"/metrics": half})
    assert await calling(session, engine.url)("/metrics") is None


async def test_a_reply_without_end_is_cut_off(session, serving, monkeypatch):
    monkeypatch.setattr(caller_module, "MAX_REPLY_BYTES", 1000)

    async def endless(request):
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 500)
            await asyncio.sleep(0)

    engine = await serving({"/metrics": endless})
    assert await calling(session, engine.url)("/metrics") is None


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b""])
def test_what_is_no_json_is_none(body):
    assert Reply(200, "", body).json() is None


def test_an_error_has_no_json():
    assert Reply(500, "", b"{}").json() is None


@pytest.mark.parametrize(
    ("status", "offered"), [(404, False), (405, False), (501, False), (400, True), (200, True)]
)
def test_offered_tells_whether_the_path_exists(status, offered):
    assert Reply(status, "", b"").offered is offered


async def test_the_api_is_asked_below_its_base_and_the_rest_at_the_root(session, serving):
    engine = await serving({"/v3/models": {}, "/metrics": b""})
    call = calling(session, engine.url + "/v3")
    assert (await call("/v1/models")).good
    assert (await call("/metrics")).good


async def test_another_port_of_the_host_is_asked(session, serving):
    engine, other = await serving({}), await serving({"/metrics": b"x 1\n"})
    endpoint = Endpoint(slot=0, name="e", url=engine.url)
    call = HttpCaller(session, endpoint, 1.0, lambda _: None, int(other.url.rpartition(":")[2]))
    assert (await call("/metrics")).body == b"x 1\n"
    assert engine.asked == []


async def test_it_is_told_what_was_wrong_with_the_last_answer(session, serving, unused_tcp_port, monkeypatch):
    engine = await serving({"/health": 200, "/loading": 503})
    call = calling(session, engine.url)
    await call("/loading")
    assert call.trouble == "/loading is answered with 503"
    await call("/health")
    assert call.trouble == ""
    closed = calling(session, f"http://127.0.0.1:{unused_tcp_port}")
    await closed("/health")
    assert f"127.0.0.1:{unused_tcp_port}" in closed.trouble
    clear = calling(session, engine.url.replace("http:", "https:"))
    await clear("/health")
    assert "SSL" in clear.trouble
    engine.delay = 5.0
    late = calling(session, engine.url, timeout=0.05)
    await late("/health")
    assert late.trouble == "no whole answer within 0.05 s"
    engine.delay = 0.0
    monkeypatch.setattr(caller_module, "MAX_REPLY_BYTES", 1)
    engine.table["/long"] = {"a": 1}
    await call("/long")
    assert call.trouble == "/long is answered with more than 1 bytes"
