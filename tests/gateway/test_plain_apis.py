"""APIs that are routed by model and passed on as they are: reranking, scoring, tokenizing, speech, pictures and the like."""

import asyncio
import json

import openai
import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Close, Pause, ScriptedEngine, reply

from .words import Client, abilities_known, case, eventually, stream

SOUND = bytes(range(256)) * 40
BODIES = {
    "/v1/embeddings": b'{"input":["a"], "encoding_format":"base64","model":"%b","x":1e2}',
    "/v1/rerank": b'{"query":"q", "documents":["a","b"],"model":"%b","top_n":1,"x":0.10}',
    "/rerank": b'{"query":"q","texts":["a"],"model":"%b"}',
    "/v2/rerank": b'{"query":"q","documents":["a"],"model":"%b"}',
    "/v1/score": b'{"text_1":"a","text_2":["b"],"model":"%b"}',
    "/score": b'{"text_1":"a","text_2":["b"],"model":"%b"}',
    "/classify": b'{"input":"a","model":"%b"}',
    "/pooling": b'{"input":"a","model":"%b"}',
    "/tokenize": b'{"prompt":"a","model":"%b"}',
    "/detokenize": b'{"tokens":[1,2],"model":"%b"}',
    "/v1/audio/speech": b'{"input":"a","voice":"v","model":"%b"}',
    "/v1/images/generations": b'{"prompt":"a","model":"%b","n":1}',
    "/v1/messages/count_tokens": b'{"messages":[{"role":"user","content":"a"}],"model":"%b"}',
    "/v1/responses": b'{"input":"a","model":"%b"}',
}


def pools(*engines, **more):
    return [
        {"model": "real", "endpoints": [{"url": engine.url, "engine": "vllm"} for engine in engines], **more}
    ]


@pytest.mark.parametrize("path", BODIES)
async def test_p24_p25_json_goes_by_its_model_and_no_byte_changes_but_the_alias(path):
    answer = b'{"model":"real","data":[1.50], "usage":{"prompt_tokens":7,"total_tokens":7}}'
    async with (
        ScriptedEngine(lambda _: [reply(answer)], model="real") as engine,
        LiveGateway(pools=pools(engine, aliases=["fast"])) as gateway,
    ):
        for name in (b"real", b"fast"):
            got = await gateway.post(BODIES[path] % name, path, headers={"x-request-id": name.decode()})
            assert got.status == 200
            assert got.body == answer.replace(b"real", name)
            assert (engine.received[-1].path, engine.received[-1].body) == (path, BODIES[path] % b"real")
        if path != "/v1/messages/count_tokens":
            assert (await gateway.story("fast"))["outcome"]["prompt_tokens"] == 7
        got = await gateway.post(BODIES[path] % b"nope", path)
        error = got.json()["error"]
        assert got.status == 404
        assert error["type"] == "not_found_error"
        assert len(engine.received) == 2
        await gateway.settled()


async def test_an_api_that_no_engine_of_the_model_serves_is_named():
    async with ScriptedEngine(lambda _: [reply(b"{}")], model="real") as engine:
        engine.pages["/openapi.json"] = reply(b'{"paths":{"/v1/chat/completions":{}, "/v1/messages": {}}}')
        async with LiveGateway(pools=pools(engine)) as gateway:
            await eventually(lambda: abilities_known(gateway), 30)
            got = await gateway.post(BODIES["/v1/rerank"] % b"real", "/v1/rerank")
            assert (got.status, got.error()["code"]) == (404, "api_not_served")
            assert "rerank" in got.error()["message"]
            got = await gateway.post(
                BODIES["/v1/messages/count_tokens"] % b"real", "/v1/messages/count_tokens"
            )
            assert got.status == 404
            assert got.json()["type"] == "error"
            assert "count_tokens" in got.json()["error"]["message"]
            assert not engine.received


async def test_load_is_counted_while_it_runs():
    async with (
        ScriptedEngine(lambda _: [Pause(0.2), reply(b"{}")], model="real") as engine,
        LiveGateway(pools=pools(engine)) as gateway,
    ):
        task = asyncio.ensure_future(gateway.post(BODIES["/v1/rerank"] % b"real", "/v1/rerank"))
        await eventually(lambda: gateway.in_flight() == 1, 30)
        await task
        await gateway.settled()


class TestSpeech:
    HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ntransfer-encoding: chunked\r\n\r\n"
    PATH = "/v1/audio/speech"

    async def test_sound_is_passed_on_as_it_is_made(self):
        piece = b"%x\r\n%b\r\n" % (len(SOUND), SOUND)
        script = lambda _: [self.HEAD + piece, Pause(60)]  # noqa: E731
        async with (
            ScriptedEngine(script, model="real") as engine,
            LiveGateway(pools=pools(engine)) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(BODIES[self.PATH] % b"real", self.PATH)
            head = await client.until(b"\r\n\r\n", 30)
            assert b"content-type: audio/mpeg" in head
            assert SOUND[:256] in await client.until(SOUND[:256], 30)

    async def test_a_sound_that_breaks_off_cannot_be_taken_for_whole(self):
        head = b"HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ncontent-length: 99999\r\n\r\n"
        async with (
            ScriptedEngine(lambda _: [head + SOUND, Close()], model="real") as engine,
            LiveGateway(pools=pools(engine)) as gateway,
            Client.of(gateway.url) as client,
        ):
            client.ask(BODIES[self.PATH] % b"real", self.PATH)
            got = await client.all(30)
            assert SOUND[:256] in got
            assert not got.endswith(b"0\r\n\r\n")
            await gateway.settled(30)

    async def test_an_empty_sound_is_whole(self):
        async with (
            ScriptedEngine(lambda _: [reply(b"", content_type="audio/mpeg")], model="real") as engine,
            LiveGateway(pools=pools(engine)) as gateway,
        ):
            got = await gateway.post(BODIES[self.PATH] % b"real", self.PATH)
            assert (got.status, got.body, got.headers["content-type"]) == (200, b"", "audio/mpeg")

    async def test_events_that_carry_sound_are_metered(self):
        events = (
            b'data: {"type":"speech.audio.delta","audio":"QUJD"}\n\n'
            b'data: {"type":"speech.audio.done","usage":{"input_tokens":3,"output_tokens":9,"total_tokens":12}}\n\n'
        )
        async with (
            ScriptedEngine(lambda _: [stream(events)], model="real") as engine,
            LiveGateway(pools=pools(engine)) as gateway,
        ):
            got = await gateway.post(BODIES[self.PATH] % b"real", self.PATH, headers={"x-request-id": "s"})
            assert got.body == events
            assert (await gateway.story("s"))["outcome"]["completion_tokens"] == 9

    async def test_openais_sdk_speaks_and_listens(self):
        def script(request):
            if request.path.endswith("speech"):
                return [reply(SOUND, content_type="audio/mpeg")]
            return [reply(b'{"text":"hello","usage":{"type":"duration","seconds":2}}')]

        async with (
            ScriptedEngine(script, model="real") as engine,
            LiveGateway(pools=pools(engine)) as gateway,
            openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="x", max_retries=0) as client,
        ):
            spoken = await client.audio.speech.create(model="real", voice="alloy", input="hi")
            assert spoken.content == SOUND
            sound = ("a.wav", case("p13_tone_1500ms_8k_mono.wav"))
            heard = await client.audio.transcriptions.create(model="real", file=sound, response_format="json")
            assert heard.text == "hello"
        assert engine.received[-1].headers["content-type"].startswith("multipart/form-data; boundary=")


async def test_pictures_come_whole_or_as_they_are():
    png = case("p10_gray16_64x48.png")
    for answer, kind in ((b'{"data":[{"b64_json":"QUJD"}]}', "application/json"), (png, "image/png")):
        async with (
            ScriptedEngine(lambda _, a=answer, k=kind: [reply(a, content_type=k)], model="real") as engine,
            LiveGateway(pools=pools(engine)) as gateway,
        ):
            got = await gateway.post(BODIES["/v1/images/generations"] % b"real", "/v1/images/generations")
            assert (got.status, got.body, got.headers["content-type"]) == (200, answer, kind)


async def test_an_engines_refusal_of_a_form_or_a_sound_is_passed_on():
    script = lambda _: [reply(b'{"error":{"message":"no such voice"}}', "400 Bad Request")]  # noqa: E731
    async with ScriptedEngine(script, model="real") as engine, LiveGateway(pools=pools(engine)) as gateway:
        got = await gateway.post(BODIES["/v1/audio/speech"] % b"real", "/v1/audio/speech")
        assert (got.status, got.error()["message"]) == (400, "no such voice")


class TestPaths:
    async def ask(self, method, path, **options):
        gateway = LiveGateway(["http://127.0.0.1:9"])
        async with gateway, gateway.session.request(method, gateway.url + path, **options) as got:
            return got.status, got.headers.copy(), json.loads(await got.read() or b"{}")

    async def test_realtime_is_said_not_to_be_there(self):
        status, _, body = await self.ask("GET", "/v1/realtime?model=m")
        assert (status, body["error"]["code"]) == (501, "not_implemented")

    async def test_websockets_are_said_not_to_be_spoken(self):
        async with LiveGateway(["http://127.0.0.1:9"]) as gateway, Client.of(gateway.url) as client:
            head = (
                b"GET /v1/realtime HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"
            )
            client.writer.write(head)
            assert (await client.until(b"\r\n", 30)).startswith(b"HTTP/1.1 501 ")

    async def test_unknown_paths_are_told_what_there_is(self):
        status, _, body = await self.ask("POST", "/v1/files")
        assert (status, body["error"]["code"]) == (404, "unknown_path")
        for path in ("/v1/audio/transcriptions", "/v1/responses/{id}/cancel", "/tokenize"):
            assert path in body["error"]["message"]

    @pytest.mark.parametrize(
        ("method", "path", "allowed"),
        [
            ("GET", "/v1/audio/speech", "POST"),
            ("POST", "/v1/responses/resp_1", "GET, DELETE"),
            ("DELETE", "/v1/responses/resp_1/cancel", "POST"),
            ("POST", "/v1/models", "GET"),
        ],
    )
    async def test_wrong_methods_are_told_the_right_ones(self, method, path, allowed):
        status, headers, _ = await self.ask(method, path)
        assert (status, headers["allow"]) == (405, allowed)

    async def test_anthropics_clients_are_refused_in_their_shape(self):
        status, _, body = await self.ask("GET", "/v1/messages/count_tokens")
        assert (status, body["type"]) == (405, "error")
