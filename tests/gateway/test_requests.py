"""Whole requests and replies through a gateway over real sockets: bytes kept, names restored, bad input refused."""

import asyncio
import gzip
import json

import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Close, Pause, ScriptedEngine, reply

from .words import CHAT, MESSAGES, Client, answer, case, chat, eventually, image, parts, refusal


def ok(_request):
    return [answer()]


async def test_a_request_is_forwarded_byte_for_byte_and_its_reply_too():
    body = b'{ "messages":[{"content":"hi","role":"user"}],\n "model":"m","x_unknown":[1e2,0.10]}'
    async with ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
        got = await gateway.post(body, headers={"x-custom": "kept"})
        assert (got.status, got.body) == (200, answer().partition(b"\r\n\r\n")[2])
        (request,) = engine.received
        assert request.body == body
        assert request.headers["x-custom"] == "kept"
        assert request.headers["content-length"] == str(len(body))
        assert got.headers["x-forebay-attempts"] == "1"
        await gateway.settled()


async def test_p01_a_data_url_with_parameters_is_read():
    body = case("p01_charset_param.json")
    pools = pools_of("vlm-a")
    async with ScriptedEngine(ok, model="vlm-a") as engine, LiveGateway(pools=pools(engine)) as gateway:
        got = await gateway.post(body, headers={"x-request-id": "p01"})
        assert got.status == 200
        assert engine.received[0].body == body
        assert (await gateway.story("p01"))["demand"]["image_tokens"] == 52  # 50 cells and two marks


def pools_of(model, **more):
    """The pools of a file that serves `model` by the engines given."""
    return lambda *engines: [
        {
            "model": model,
            "family": "qwen2-vl",
            "endpoints": [{"url": engine.url, "engine": "vllm"} for engine in engines],
            **more,
        }
    ]


VARIANTS = [json.loads(line) for line in case("p02_base64_variants.jsonl").splitlines()]


async def test_p02_every_form_of_base64_that_clients_send():
    async with (
        ScriptedEngine(ok, model="vlm-a") as engine,
        LiveGateway(pools=pools_of("vlm-a")(engine)) as gateway,
    ):
        for variant in VARIANTS:
            name, body = variant["variant"], json.dumps(variant["request"]).encode()
            got = await gateway.post(body, headers={"x-request-id": name})
            assert got.status == (200 if variant["ok"] else 400), (name, got.body)
            if variant["ok"]:
                assert engine.received.pop().body == body
                assert (await gateway.story(name))["demand"]["image_tokens"] == 52, name
            else:
                assert got.error()["param"].startswith("messages[0].content[1]"), name
                assert len(got.body) < 400
    assert engine.received == []


async def test_p03_a_lone_surrogate_is_the_clients_fault_and_a_pair_passes():
    pools = pools_of("vlm-a")
    async with ScriptedEngine(ok, model="vlm-a") as engine, LiveGateway(pools=pools(engine)) as gateway:
        got = await gateway.post(case("p03_lone_surrogate.json"))
        assert (got.status, got.error()["type"]) == (400, "invalid_request_error")
        assert engine.received == []
        model = json.loads(case("p03_paired_surrogate_ok.json"))["model"]
        assert model == "vlm-a"
        assert (await gateway.post(case("p03_paired_surrogate_ok.json"))).status == 200
        assert engine.received[0].body == case("p03_paired_surrogate_ok.json")
    refused, passed = gateway.lines()
    assert (refused["status"], refused["ending"], passed["status"]) == (400, "refused", 200)


async def test_p04_only_the_models_name_changes():
    body = case("p04_exact_numbers.json")
    async with (
        ScriptedEngine(lambda _: [answer(model="real-a")], model="real-a") as engine,
        LiveGateway(pools=pools_of("real-a", aliases=["alias-a"])(engine)) as gateway,
    ):
        got = await gateway.post(body)
        assert (got.status, got.json()["model"]) == (200, "alias-a")
        (request,) = engine.received
        assert request.body == body.replace(b'"alias-a"', b'"real-a"')
        assert request.headers["content-length"] == str(len(request.body))


@pytest.mark.parametrize("name", ["nan", "infinity", "1e999", "deep", "long_int"])
async def test_p05_what_no_engine_should_see_is_refused_and_the_next_request_works(name):
    pools = pools_of("vlm-a")
    async with ScriptedEngine(ok, model="vlm-a") as engine, LiveGateway(pools=pools(engine)) as gateway:
        got = await gateway.post(case(f"p05_{name}.json"))
        assert (got.status, got.error()["type"]) == (400, "invalid_request_error")
        assert engine.received == []
        assert (await gateway.post(chat(model="vlm-a"))).status == 200


MIB = 1024 * 1024


def padded(size):
    """A valid chat of exactly so many bytes."""
    head, tail = b'{"model":"m","messages":[{"role":"user","content":"', b'"}]}'
    return head + b"x" * (size - len(head) - len(tail)) + tail


@pytest.mark.parametrize("form", ["chunked", "length", "expect"])
async def test_p06_what_is_too_long_is_refused_before_it_is_read(form):
    limits = {"max_body_bytes": MIB}
    async with ScriptedEngine(ok) as engine, LiveGateway([engine.url], inbound=limits) as gateway:
        async with Client.of(gateway.url) as client:
            head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\n"
            if form == "chunked":
                client.writer.write((head + "transfer-encoding: chunked\r\n\r\n").encode())
                body = padded(3 * MIB)
                for start in range(0, len(body), 65536):
                    data = body[start : start + 65536]
                    client.writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            else:
                expect = "expect: 100-continue\r\n" if form == "expect" else ""
                client.writer.write(f"{head}content-length: {3 * MIB}\r\n{expect}\r\n".encode())
            got_head, body = await client.whole()
            assert got_head.startswith(b"HTTP/1.1 413 ")
            error = json.loads(body)["error"]
            assert str(MIB) in error["message"]
            assert error["code"] == "body_too_large"
        assert (await gateway.post(padded(MIB - 1))).status == 200
        assert len(engine.received) == 1


@pytest.mark.parametrize("name", ["array", "null"])
async def test_p06_a_body_that_is_no_object_is_the_clients_fault(name):
    async with ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
        got = await gateway.post(case(f"p06_{name}.json"))
        assert (got.status, got.error()["code"]) == (400, "invalid_body")
    assert engine.received == []


async def test_p23_an_engines_gzip_is_undone():
    plain, packed = case("p23_upstream_body.json"), case("p23_upstream_body.json.gz")
    script = lambda _: [reply(packed, extra="Content-Encoding: gzip\r\nVary: accept-encoding\r\n")]  # noqa: E731
    async with ScriptedEngine(script) as engine, LiveGateway([engine.url]) as gateway:
        got = await gateway.post(chat(), headers={"accept-encoding": "identity"})
        assert (got.status, got.body) == (200, plain)
        assert "content-encoding" not in got.headers
        assert got.headers["content-length"] == str(len(plain))
        assert "accept-encoding" not in engine.received[0].headers


async def test_p23_a_clients_gzip_is_undone_within_the_limit():
    packed = case("p23_request.json.gz")
    model = json.loads(gzip.decompress(packed))["model"]
    limits = {"max_body_bytes": MIB}
    pools = pools_of(model)
    async with (
        ScriptedEngine(ok, model=model) as engine,
        LiveGateway(pools=pools(engine), inbound=limits) as gateway,
    ):
        got = await gateway.post(packed, headers={"content-encoding": "GZIP"})
        assert got.status == 200
        (request,) = engine.received
        assert request.body == gzip.decompress(packed)
        assert "content-encoding" not in request.headers
        bomb = gzip.compress(padded(64 * MIB), mtime=0)
        assert len(bomb) < MIB
        assert (await gateway.post(bomb, headers={"content-encoding": "gzip"})).status == 413
        assert (await gateway.post(packed, headers={"content-encoding": "br"})).status == 415
        assert (await gateway.post(b"no gzip", headers={"content-encoding": "gzip"})).status == 400


async def test_p23_headers_of_one_hop_stay_on_their_side():
    extra = (
        "Connection: x-debug, keep-alive\r\nX-Debug: 1\r\nKeep-Alive: timeout=5\r\n"
        "Set-Cookie: a=1\r\nSET-COOKIE: b=2\r\nX-Kept: yes\r\n"
    )
    body = answer().partition(b"\r\n\r\n")[2]
    async with (
        ScriptedEngine(lambda _: [reply(body, extra=extra)]) as engine,
        LiveGateway([engine.url]) as gateway,
    ):
        async with Client.of(gateway.url) as client:
            client.ask(chat(), headers="connection: x-mine\r\nx-mine: 1\r\nte: trailers\r\nx-end: 1\r\n")
            head, _ = await client.whole()
        names = [line.partition(b":")[0].lower() for line in head.split(b"\r\n")]
        assert not {b"connection", b"x-debug", b"keep-alive"} & set(names)
        assert names.count(b"set-cookie") == 2
        assert b"x-kept" in names
        (request,) = engine.received
        assert not {"x-mine", "te"} & set(request.headers)
        assert request.headers["x-end"] == "1"


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/embeddings", CHAT, MESSAGES])
async def test_p25_an_alias_is_rewritten_inward_and_restored_outward(path):
    bodies = {
        "/v1/completions": {"model": "fast", "prompt": "hi"},
        "/v1/embeddings": {"model": "fast", "input": "hi", "encoding_format": "base64"},
        CHAT: chat(model="fast"),
        MESSAGES: chat(model="fast", max_tokens=5),
    }
    script = lambda _: [reply(b'{"id":"1","model":"org/real-7b","usage":{"prompt_tokens":3}}')]  # noqa: E731
    pools = pools_of("org/real-7b", aliases=["fast"])
    async with (
        ScriptedEngine(script, model="org/real-7b") as engine,
        LiveGateway(pools=pools(engine)) as gateway,
    ):
        got = await gateway.post(bodies[path], path)
        assert got.body == b'{"id":"1","model":"fast","usage":{"prompt_tokens":3}}'
        assert json.loads(engine.received[0].body) == bodies[path] | {"model": "org/real-7b"}
        listed = (await gateway.get("/v1/models")).json()["data"]
        assert [entry["id"] for entry in listed] == ["org/real-7b", "fast"]
        got = await gateway.post(bodies[path] | {"model": "nope"}, path)
        assert got.status == 404
        assert len(engine.received) == 1


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_errors_have_the_shape_that_the_clients_know(kind):
    async with LiveGateway(["http://127.0.0.1:9"]) as gateway:
        got = await gateway.post(chat(model="nope"), MESSAGES if kind == "anthropic" else CHAT)
        assert got.status == 404
        error = got.error()
        if kind == "anthropic":
            assert got.json()["type"] == "error"
            assert error["type"] == "not_found_error"
        else:
            assert (error["code"], error["type"]) == ("model_not_found", "not_found_error")


async def test_paths_and_methods_that_are_not_here():
    async with ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
        got = await gateway.post(chat(), "/v1/nothing")
        assert (got.status, got.error()["code"]) == (404, "unknown_path")
        assert CHAT in got.error()["message"]
        got = await gateway.get(CHAT)
        assert (got.status, got.headers["allow"]) == (405, "POST")
        got = await gateway.post({}, "/health")
        assert (got.status, got.headers["allow"]) == (405, "GET")
        assert (await gateway.get("/health")).status == 200
        async with gateway.session.head(gateway.url + "/health") as head:
            assert (head.status, await head.read()) == (200, b"")
            assert int(head.headers["content-length"]) > 0
    assert engine.received == []


INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"


async def test_interim_replies_of_an_engine_are_swallowed():
    async with (
        ScriptedEngine(lambda _: [INTERIM, answer()]) as engine,
        LiveGateway([engine.url]) as gateway,
        Client.of(gateway.url) as client,
    ):
        client.ask(chat())
        head, _ = await client.whole()
        assert head.startswith(b"HTTP/1.1 200 OK")
        assert b"link" not in head


async def test_a_reply_without_a_body_is_passed_on():
    script = lambda _: [b"HTTP/1.1 204 No Content\r\nx-a: 1\r\n\r\n"]  # noqa: E731
    async with ScriptedEngine(script) as engine, LiveGateway([engine.url]) as gateway:
        for _ in range(2):
            got = await gateway.post(chat())
            assert (got.status, got.body, got.headers["x-a"]) == (204, b"", "1")
        assert len({request.connection for request in engine.received}) == 1, "it was kept for the second"
        await gateway.settled()


async def test_a_reply_that_ends_with_its_connection_is_whole():
    body = answer().partition(b"\r\n\r\n")[2]
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n"
    async with (
        ScriptedEngine(lambda _: [head, body[:10], Pause(0.01), body[10:], Close()]) as engine,
        LiveGateway([engine.url]) as gateway,
    ):
        got = await gateway.post(chat())
        assert (got.status, got.body) == (200, body)
        assert got.headers["content-length"] == str(len(body))


async def test_an_engine_that_does_not_speak_http_is_a_failure_and_is_tried_elsewhere():
    async with (
        ScriptedEngine(lambda _: [b"SSH-2.0-OpenSSH_9.2\r\n\r\n"]) as odd,
        ScriptedEngine(ok) as good,
        LiveGateway([odd.url, good.url]) as gateway,
    ):
        for _ in range(4):
            assert (await gateway.post(chat())).status == 200
        assert len(good.received) == 4
        await gateway.settled()
    async with ScriptedEngine(lambda _: [b"\x00\x01\x02"]) as odd, LiveGateway([odd.url]) as gateway:
        got = await gateway.post(chat())
        assert (got.status, got.error()["code"]) == (502, "engine_protocol")
        assert got.headers["x-forebay-attempts"] == "2"


async def test_an_error_inside_a_whole_reply_with_status_200_is_an_error():
    body = b'{"object":"error","error":{"message":"out of memory","type":"overloaded","code":503}}'
    async with ScriptedEngine(lambda _: [reply(body)]) as engine, LiveGateway([engine.url]) as gateway:
        got = await gateway.post(chat(), headers={"x-request-id": "e"})
        assert (got.status, got.body) == (503, body)
        assert (await gateway.story("e"))["outcome"]["ending"] == "failed"


async def test_usage_of_every_reply_is_metered():
    async with (
        ScriptedEngine(lambda _: [answer(tokens=(61, 2))]) as engine,
        LiveGateway([engine.url]) as gateway,
    ):
        await gateway.post(chat(), headers={"x-request-id": "u"})
        outcome = (await gateway.story("u"))["outcome"]
        assert (outcome["prompt_tokens"], outcome["completion_tokens"]) == (61, 2)
    (line,) = gateway.lines()
    assert (line["request_id"], line["prompt_tokens"], line["completion_tokens"]) == ("u", 61, 2)
    assert (line["status"], line["ending"], line["tries"], line["model"]) == (200, "finished", 1, "m")


class TestRequestIds:
    async def ask(self, gateway, offered=None):
        headers = {} if offered is None else {"x-request-id": offered}
        return (await gateway.post(chat(), headers=headers)).headers["x-request-id"]

    async def test_they_are_echoed_and_told_to_the_engine(self):
        async with ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
            assert await self.ask(gateway, "my-id:1.2_3") == "my-id:1.2_3"
            assert engine.received[0].headers["x-request-id"] == "my-id:1.2_3"

    async def test_they_are_made_when_there_is_none_or_an_unfit_one(self):
        async with ScriptedEngine(ok) as engine, LiveGateway([engine.url]) as gateway:
            made = [
                await self.ask(gateway),
                await self.ask(gateway, "x" * 129),
                await self.ask(gateway, "a b;c"),
            ]
            assert len(set(made)) == 3
            assert all(name.startswith("req-") for name in made)
            assert [request.headers["x-request-id"] for request in engine.received] == made

    async def test_two_open_requests_may_share_one(self):
        async with (
            ScriptedEngine(lambda _: [Pause(0.05), answer()]) as engine,
            LiveGateway([engine.url]) as gateway,
        ):
            assert await asyncio.gather(self.ask(gateway, "same"), self.ask(gateway, "same")) == ["same"] * 2
            await gateway.settled()
        told = [line["request_id"] for line in gateway.lines()]
        assert "same" in told
        assert len(set(told)) == 2

    async def test_refusals_carry_them_too(self):
        async with LiveGateway(["http://127.0.0.1:9"]) as gateway:
            for body, path in ((b"{", CHAT), (chat(model="nope"), CHAT), (b"", "/nowhere")):
                got = await gateway.post(body, path, headers={"x-request-id": "mine"})
                assert got.headers["x-request-id"] == "mine", path


async def test_a_kept_connection_that_the_engine_closed_costs_one_new_connection():
    # The engine closes after its reply without saying so, as a keep-alive limit does.
    async with ScriptedEngine(lambda _: [answer(), Close()]) as engine, LiveGateway([engine.url]) as gateway:
        for _ in range(5):
            assert (await gateway.post(chat())).status == 200
        assert len(engine.received) == 5
        await gateway.settled()


async def test_large_bodies_pass_whole_both_ways():
    big = answer("y" * 3 * MIB)
    async with ScriptedEngine(lambda _: [big]) as engine, LiveGateway([engine.url]) as gateway:
        body = json.dumps(parts({"type": "text", "text": "x" * 3 * MIB}, image(PNG))).encode()
        got = await gateway.post(body)
        assert engine.received[0].body == body
        assert got.body == big.partition(b"\r\n\r\n")[2]


PNG = case("p10_gray16_64x48.png")


async def test_a_refusal_of_the_engine_reaches_the_client_as_it_is():
    body = b'{"object":"error","message":"too long","code":400}'
    script = lambda _: [reply(body, "400 Bad Request", extra="x-detail: 7\r\n")]  # noqa: E731
    async with ScriptedEngine(script) as engine, LiveGateway([engine.url]) as gateway:
        got = await gateway.post(chat())
        assert (got.status, got.body, got.headers["x-detail"]) == (400, body, "7")
        assert len(engine.received) == 1


async def test_pipelined_requests_are_answered_in_order():
    script = lambda request: [answer(json.loads(request.body)["messages"][0]["content"])]  # noqa: E731
    async with ScriptedEngine(script) as engine, LiveGateway([engine.url]) as gateway:
        async with Client.of(gateway.url) as client:
            for number in range(5):
                client.ask(chat(f"n{number}"))
            for number in range(5):
                _, body = await client.whole()
                assert json.loads(body)["choices"][0]["message"]["content"] == f"n{number}"
        await gateway.settled()


async def test_a_slow_refusal_does_not_hold_the_loop():
    """P05: the hostile bodies are refused in under 200 ms; here, that a good request is served meanwhile."""
    pools = pools_of("vlm-a")
    async with ScriptedEngine(ok, model="vlm-a") as engine, LiveGateway(pools=pools(engine)) as gateway:
        bad = [gateway.post(case("p05_deep.json")) for _ in range(20)]
        *refused, good = await asyncio.gather(*bad, gateway.post(chat(model="vlm-a")))
        assert {got.status for got in refused} == {400}
        assert good.status == 200
        await eventually(gateway.idle)


async def test_engine_errors_are_not_shown_to_be_ours():
    script = lambda _: [refusal("401 Unauthorized", "bad key")]  # noqa: E731
    async with ScriptedEngine(script) as engine, LiveGateway([engine.url]) as gateway:
        got = await gateway.post(chat())
        assert (got.status, got.error()["message"]) == (401, "bad key")


class TestVeryLargeReplies:
    """Past 32 MiB a reply is not kept any more, but passed on as it comes."""

    BODY = b'{"data":"' + b"z" * 33 * MIB + b'"}'

    async def test_they_pass(self):
        async with (
            ScriptedEngine(lambda _: [reply(self.BODY)]) as engine,
            LiveGateway([engine.url]) as gateway,
        ):
            got = await gateway.post(chat())
            assert (got.status, got.body == self.BODY) == (200, True)
            await gateway.settled()

    async def test_a_break_in_the_middle_cannot_be_taken_for_an_end(self):
        part = reply(self.BODY + b" " * MIB)[: 33 * MIB]
        async with (
            ScriptedEngine(lambda _: [part, Pause(0.05), Close()]) as engine,
            LiveGateway([engine.url]) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(chat())
            got = await client.all()
            assert got.startswith(b"HTTP/1.1 200 ")
            assert not got.endswith(b"0\r\n\r\n")
            await gateway.settled()
        (line,) = gateway.lines()
        assert (line["ending"], line["reason"]) == ("failed", "reset")
