"""Who is let in, what is shown to whom, and what is never shown."""

import base64
import json

import pytest

from forebay.cli.main import main
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Reset, ScriptedEngine, reply

from .words import CHAT, MESSAGES, answer, case, chat, eventually, image, parts, refusal

ENGINE_KEY = "sk-engine-7f3a9c"
GATEWAY_KEYS = ("fb-alpha-111", "fb-beta-222")


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    monkeypatch.setenv("ENGINE_KEY", ENGINE_KEY)
    monkeypatch.setenv("GATEWAY_KEYS", "\n".join(GATEWAY_KEYS))


def ok(_request):
    return [answer()]


def pool(*engines, **more):
    return [
        {"model": "m", "endpoints": [{"url": engine.url, "engine": "vllm"} for engine in engines], **more}
    ]


MINE = {"authorization": "Bearer mine", "x-api-key": "mine-too", "cookie": "a=b"}


async def test_the_engines_key_is_sent_and_the_clients_is_not():
    async with (
        ScriptedEngine(ok) as engine,
        LiveGateway(pools=pool(engine, api_key_env="ENGINE_KEY")) as gateway,
    ):
        assert (await gateway.post(chat(), headers=MINE)).status == 200
        headers = engine.received[0].headers
        assert headers["authorization"] == f"Bearer {ENGINE_KEY}"
        assert "x-api-key" not in headers


async def test_without_a_key_none_is_sent():
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine)) as gateway:
        await gateway.post(chat(), headers=MINE)
        assert not {"authorization", "x-api-key"} & set(engine.received[0].headers)


async def test_the_clients_key_goes_on_when_the_owner_says_so():
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine, forward_auth=True)) as gateway:
        await gateway.post(chat(), headers=MINE)
        headers = engine.received[0].headers
        assert (headers["authorization"], headers["x-api-key"]) == ("Bearer mine", "mine-too")


async def test_the_engines_key_comes_before_the_clients():
    pools = lambda engine: pool(engine, forward_auth=True, api_key_env="ENGINE_KEY")  # noqa: E731
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pools(engine)) as gateway:
        await gateway.post(chat(), headers=MINE)
        headers = engine.received[0].headers
        assert headers["authorization"] == f"Bearer {ENGINE_KEY}"
        assert "x-api-key" not in headers


async def test_the_engines_key_is_told_to_its_probes_and_to_no_other_pool():
    asked = []

    class Listening(ScriptedEngine):
        async def _serve(self, request, reader, writer):
            asked.append((self.model, request.path, request.headers.get("authorization")))
            return await super()._serve(request, reader, writer)

    async with Listening(ok, model="a") as one, Listening(ok, model="b") as two:
        pools = [pool(one, api_key_env="ENGINE_KEY")[0] | {"model": "a"}, pool(two)[0] | {"model": "b"}]
        async with LiveGateway(pools=pools) as gateway:
            await eventually(lambda: all(row.view and row.view.models for row in gateway.station.rows()))
            await gateway.post(chat(model="b"))
            await gateway.post(chat(model="a"))
    assert {key for model, _, key in asked if model == "a"} == {f"Bearer {ENGINE_KEY}"}
    assert {key for model, _, key in asked if model == "b"} == {None}


class TestGatewayKeys:
    ADMITTED = (
        *({"authorization": f"Bearer {key}"} for key in GATEWAY_KEYS),
        {"authorization": f"bearer   {GATEWAY_KEYS[0]}"},
        {"x-api-key": GATEWAY_KEYS[1]},
    )
    REFUSED = (
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": GATEWAY_KEYS[0]},
        {"authorization": f"Basic {GATEWAY_KEYS[0]}"},
        {"authorization": f"Bearer {GATEWAY_KEYS[0][:-1]}"},
        {"authorization": f"Bearer {GATEWAY_KEYS[0]}x"},
        {"authorization": f"Bearer {' '.join(GATEWAY_KEYS)}"},
        {"x-api-key": ""},
    )

    async def test_those_with_a_key_come_in_and_others_do_not(self):
        async with (
            ScriptedEngine(ok) as engine,
            LiveGateway(pools=pool(engine), keys_env="GATEWAY_KEYS") as gateway,
        ):
            for headers in self.ADMITTED:
                assert (await gateway.post(chat(), headers=headers)).status == 200, headers
            for headers in self.REFUSED:
                got = await gateway.post(chat(), headers=headers)
                assert (got.status, got.error()["code"]) == (401, "invalid_api_key"), headers
                assert got.error()["type"] == "authentication_error"
            assert len(engine.received) == len(self.ADMITTED)
            assert not any("authorization" in request.headers for request in engine.received)
            got = await gateway.post(chat(max_tokens=5), MESSAGES)
            assert (got.status, got.json()["type"]) == (401, "error")
            assert (await gateway.get("/v1/models")).status == 401
            assert (await gateway.get("/health")).status == 200

    async def test_a_stranger_cannot_make_the_gateway_read_a_body(self):
        async with (
            ScriptedEngine(ok) as engine,
            LiveGateway(pools=pool(engine), keys_env="GATEWAY_KEYS") as gateway,
        ):
            got = await gateway.post(chat("x" * 1024 * 1024))
            assert got.status == 401
            assert gateway.station._public.budget.used_bytes == 0


PICTURE = case("p10_gray16_64x48.png")
MEDIA = base64.b64encode(PICTURE)
WORDS = "the-prompt-of-somebody"


async def test_nothing_secret_and_no_media_is_shown_anywhere(tmp_path, capsys, caplog):
    """Requests that end in every way; then all that can be read is searched."""
    secrets = [
        ENGINE_KEY.encode(),
        *(key.encode() for key in GATEWAY_KEYS),
        MEDIA[:24],
        MEDIA[-24:],
        WORDS.encode(),
    ]
    known = {"authorization": f"Bearer {GATEWAY_KEYS[0]}"}
    ways = iter(
        [[answer()], [refusal("400 Bad Request")], [Reset()], [Reset()], [reply(b"<html>", "502 Bad")]]
    )
    shown = []
    async with ScriptedEngine(lambda _: next(ways, [Reset()])) as engine:
        pools = pool(engine, api_key_env="ENGINE_KEY")
        async with LiveGateway(pools=pools, keys_env="GATEWAY_KEYS") as gateway:
            good = parts({"type": "text", "text": WORDS}, image(PICTURE))
            cut = parts({"type": "text", "text": WORDS}, image(PICTURE[:20] + b"\xff" * 40))
            bad_url = parts(
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{MEDIA.decode()}*"}}
            )
            for number, body in enumerate(
                [good] * 5 + [cut, bad_url, chat(WORDS, model="nope"), WORDS.encode()]
            ):
                got = await gateway.post(body, headers=known | {"x-request-id": f"s{number}"})
                shown.append(got.body + str(got.headers).encode())
                shown.append((await gateway.get(f"/forebay/decisions/s{number}", admin=True)).body)
            shown.extend(
                [
                    (await gateway.get(p, admin=True)).body
                    for p in ("/forebay/endpoints", "/metrics", "/ready")
                ]
            )
            shown.append((await gateway.post(good, headers={"authorization": "Bearer no"})).body)
            file = {"pools": pools, "keys_env": "GATEWAY_KEYS"}
    path = tmp_path / "forebay.yaml"
    path.write_text(json.dumps(file))
    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr()
    shown += [gateway.log.getvalue(), (printed.out + printed.err).encode(), caplog.text.encode()]
    assert len(gateway.lines()) == 10
    for secret in secrets:
        assert not any(secret in text for text in shown), secret


async def test_words_that_clients_choose_cannot_forge_lines_of_the_log():
    async with ScriptedEngine(ok) as engine, LiveGateway(pools=pool(engine)) as gateway:
        await gateway.post(chat(model='x"}\n{"status":200,"\u202e'))
        await gateway.post(chat(), CHAT + "?key=secret-in-query")
    log = gateway.log.getvalue()
    assert len(gateway.lines()) == 2
    assert b"secret-in-query" not in log
    assert b"\xe2\x80\xae" not in log
