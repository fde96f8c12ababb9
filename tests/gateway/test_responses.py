"""OpenAI's Responses: typed events, and ids that lead back to the engine that keeps the response, through any gateway."""

import json

import openai
import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine, reply

from .words import eventually, stream

PATH = "/v1/responses"


def response(engine_id, model="m", previous=None, status="completed", **more):
    """A whole response, as vLLM writes it."""
    text = {"type": "output_text", "text": "hello", "annotations": []}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 12,
    }
    return {
        "id": engine_id,
        "object": "response",
        "created_at": 1,
        "model": model,
        "status": status,
        "output": [message],
        "previous_response_id": previous,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "usage": usage,
        **more,
    }


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def streamed(engine_id, model="m"):
    item = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    return b"".join(
        [
            event("response.created", sequence_number=0, response=response(engine_id, model, status="in_progress", usage=None)),
            event("response.output_text.delta", sequence_number=1, delta="hel", logprobs=[], **item),
            event("response.output_text.delta", sequence_number=2, delta="lo", logprobs=[], **item),
            event("response.completed", sequence_number=3, response=response(engine_id, model)),
        ]
    )  # fmt: skip


class Keeper:
    """A fake engine that keeps responses by id, and forgets nothing. It can be asked for them by GET and DELETE too."""

    def __init__(self, name, model="m"):
        self.name, self.model = name, model
        self.bodies, self.paths = [], []
        self.engine = ScriptedEngine(self.answer, model=model, kept_responses=True)

    def answer(self, request):
        self.paths.append(f"{request.method} {request.path}")
        if request.method == "DELETE":
            return [
                reply(
                    json.dumps(
                        {"id": request.path.rpartition("/")[2], "object": "response.deleted", "deleted": True}
                    ).encode()
                )
            ]
        if request.method == "GET" or request.path.endswith("/cancel"):
            if request.path.endswith("input_items"):
                return [reply(b'{"object":"list","data":[{"id":"msg_0"}]}')]
            engine_id = request.path.split("/")[3].partition("?")[0]
            return [reply(json.dumps(response(engine_id, self.model)).encode())]
        body = json.loads(request.body)
        self.bodies.append(body)
        engine_id = f"resp_{self.name}{len(self.bodies)}"
        if body.get("stream"):
            return [stream(streamed(engine_id, self.model))]
        return [reply(json.dumps(response(engine_id, self.model, body.get("previous_response_id"))).encode())]


def pools(*keepers, **more):
    endpoints = [{"url": keeper.engine.url, "engine": "vllm"} for keeper in keepers]
    return [{"model": "m", "endpoints": endpoints, "profile": "round-robin", **more}]


async def ask(gateway, body, path=PATH, **options):
    got = await gateway.post({"model": "m", **body}, path, **options)
    assert got.status == 200, got.body
    return got.json()


async def test_a_response_is_metered_and_its_id_names_its_engine():
    keeper = Keeper("a")
    async with keeper.engine, LiveGateway(pools=pools(keeper)) as gateway:
        got = await ask(gateway, {"input": "hi"}, headers={"x-request-id": "r"})
        assert got["id"].startswith("resp_a1_")
        assert got == response(got["id"])
        assert keeper.bodies == [{"model": "m", "input": "hi"}]
        outcome = (await gateway.story("r"))["outcome"]
        assert (outcome["prompt_tokens"], outcome["completion_tokens"], outcome["cached_tokens"]) == (9, 3, 4)


async def test_what_goes_on_goes_where_it_was_made_through_any_gateway():
    a, b = Keeper("a"), Keeper("b")
    async with (
        a.engine,
        b.engine,
        LiveGateway(pools=pools(a, b)) as one,
        LiveGateway(pools=pools(b, a)) as other,
    ):
        made = [(await ask(one, {"input": "hi"}))["id"] for _ in range(4)]
        assert len(a.bodies) == len(b.bodies) == 2
        for gateway in (one, other):
            for sealed in made:
                got = await ask(gateway, {"input": "and?", "previous_response_id": sealed})
                keeper = a if sealed.startswith("resp_a") else b
                assert keeper.bodies[-1]["previous_response_id"] == sealed[:-21]
                assert got["previous_response_id"] == sealed
        await one.settled()


@pytest.mark.parametrize(
    ("method", "tail", "sent"),
    [
        ("GET", "", "GET /v1/responses/resp_a1"),
        ("GET", "?include%5B%5D=x&stream=false", "GET /v1/responses/resp_a1?include%5B%5D=x&stream=false"),
        ("GET", "?after=/cancel", "GET /v1/responses/resp_a1?after=/cancel"),
        ("DELETE", "", "DELETE /v1/responses/resp_a1"),
        ("POST", "/cancel", "POST /v1/responses/resp_a1/cancel"),
        ("GET", "/input_items?limit=2", "GET /v1/responses/resp_a1/input_items?limit=2"),
    ],
)
async def test_a_kept_response_is_read_cancelled_and_deleted_where_it_is(method, tail, sent):
    a, b = Keeper("a"), Keeper("b")
    async with a.engine, b.engine, LiveGateway(pools=pools(a, b)) as gateway:
        made = [(await ask(gateway, {"input": "hi"}))["id"] for _ in range(2)]
        sealed = next(name for name in made if name.startswith("resp_a"))
        for _ in range(3):
            url = f"{gateway.url}{PATH}/{sealed}{tail}"
            async with gateway.session.request(method, url, headers={"x-request-id": "k"}) as got:
                assert got.status == 200
                body = await got.json()
                assert body.get("id", sealed) == sealed
        assert a.paths[-3:] == [sent] * 3
        outcome = (await gateway.story("k"))["outcome"]
        assert (outcome["prompt_tokens"], outcome["completion_tokens"]) == (None, 0)
        await gateway.settled()


async def test_a_stream_that_is_read_again_is_restored_and_not_metered_again():
    keeper = Keeper("a")
    async with keeper.engine, LiveGateway(pools=pools(keeper)) as gateway:
        sealed = (await ask(gateway, {"input": "hi"}))["id"]
        keeper.engine.script = lambda _: [stream(streamed("resp_a1"))]
        url = f"{gateway.url}{PATH}/{sealed}?stream=true&starting_after=0"
        async with gateway.session.get(url, headers={"x-request-id": "k"}) as got:
            body = await got.read()
        assert body == streamed("resp_a1").replace(b'"resp_a1"', f'"{sealed}"'.encode())
        outcome = (await gateway.story("k"))["outcome"]
        assert (outcome["prompt_tokens"], outcome["completion_tokens"]) == (None, 0)


async def test_ids_that_were_not_made_for_this_client_are_404_and_no_engine_hears_of_them(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("one two")
    keeper = Keeper("a")
    one, two = ({"authorization": f"Bearer {key}"} for key in ("one", "two"))
    async with keeper.engine, LiveGateway(pools=pools(keeper), keys_file=str(keys)) as gateway:
        sealed = (await ask(gateway, {"input": "hi"}, headers=one))["id"]
        for wrong, headers in [
            (sealed, two),
            ("resp_a1", one),
            (sealed[:-1] + ("A" if sealed[-1] != "A" else "B"), one),
            (sealed.replace("a1", "a2"), one),
            ("_" * 21, one),
            ("x", one),
        ]:
            got = await gateway.post(
                {"model": "m", "input": "x", "previous_response_id": wrong}, PATH, headers=headers
            )
            assert (got.status, got.error()["code"], got.error()["param"]) == (
                404,
                "response_not_found",
                "previous_response_id",
            )
            async with gateway.session.get(f"{gateway.url}{PATH}/{wrong}", headers=headers) as reply_:
                assert reply_.status == 404
        assert len(keeper.paths) == 1


async def test_an_engine_that_left_the_fleet_and_one_that_is_down_are_told_apart():
    a, b = Keeper("a"), Keeper("b")
    async with b.engine:
        async with a.engine, LiveGateway(pools=pools(a, b)) as gateway:
            made = [(await ask(gateway, {"input": "hi"}))["id"] for _ in range(2)]
            sealed = next(name for name in made if name.startswith("resp_a"))
            async with LiveGateway(pools=pools(b)) as smaller:
                got = await smaller.post({"model": "m", "input": "x", "previous_response_id": sealed}, PATH)
                assert (got.status, got.error()["code"]) == (404, "response_not_found")
                assert "fleet" in got.error()["message"]
            name = a.engine.url.removeprefix("http://")
            async with gateway.session.post(f"{gateway.admin_url}/forebay/endpoints/{name}/drain"):
                pass
            got = await gateway.post({"model": "m", "input": "x", "previous_response_id": sealed}, PATH)
            assert (got.status, got.error()["code"]) == (503, "rejected_no_endpoints")
            assert "keeps this response" in got.error()["message"]
        assert len(b.bodies) == 1


async def test_a_response_of_another_model_is_not_found():
    a, b = Keeper("a"), Keeper("b", model="n")
    endpoints = [{"url": b.engine.url, "engine": "vllm"}]
    async with a.engine, b.engine:
        endpoints = [{"url": b.engine.url, "engine": "vllm"}]
        async with LiveGateway(pools=[*pools(a), {"model": "n", "endpoints": endpoints}]) as gateway:
            sealed = (await ask(gateway, {"input": "hi"}))["id"]
            got = await gateway.post({"model": "n", "input": "x", "previous_response_id": sealed}, PATH)
            assert (got.status, got.error()["code"]) == (404, "response_not_found")
            assert not b.bodies


async def test_a_stream_has_its_ids_and_its_model_restored_and_nothing_else():
    keeper = Keeper("a")
    async with keeper.engine, LiveGateway(pools=pools(keeper, aliases=["gpt-5"])) as gateway:
        got = await gateway.post(
            {"model": "gpt-5", "input": "hi", "stream": True}, PATH, headers={"x-request-id": "s"}
        )
        first = json.loads(got.body.split(b"\n")[1][6:])
        sealed = first["response"]["id"]
        assert sealed.startswith("resp_a1_")
        assert got.body == streamed("resp_a1").replace(b'"resp_a1"', f'"{sealed}"'.encode()).replace(
            b'"model": "m"', b'"model": "gpt-5"'
        )
        assert keeper.bodies[0] == {"model": "m", "input": "hi", "stream": True}
        outcome = (await gateway.story("s"))["outcome"]
        assert (outcome["ending"], outcome["prompt_tokens"], outcome["completion_tokens"]) == (
            "finished",
            9,
            3,
        )


@pytest.mark.parametrize("cut", [0, 1, 2])
async def test_a_stream_that_breaks_off_says_so(cut):
    whole = streamed("resp_a1")
    end = [
        whole.index(b"event: response.output_text.delta"),
        whole.index(b"event: response.completed"),
        len(whole) - 9,
    ]
    async with (
        ScriptedEngine(lambda _: [stream(whole[: end[cut]])]) as engine,
        LiveGateway([engine.url]) as gateway,
    ):
        got = await gateway.post({"model": "m", "input": "hi", "stream": True}, PATH)
        if cut == 0:
            assert (got.status, got.error()["code"]) == (502, "engine_truncated")
        else:
            assert b"event: error\n" in got.body
            last = json.loads(got.body.strip().rpartition(b"data: ")[2])
            assert (last["type"], last["error"]["type"]) == ("error", "upstream_truncated")


async def test_a_response_that_failed_is_an_answer_when_it_is_read_whole():
    body = json.dumps(
        response("resp_1", status="failed", error={"code": "server_error", "message": "x"})
    ).encode()
    async with ScriptedEngine(lambda _: [reply(body)]) as engine, LiveGateway([engine.url]) as gateway:
        got = await gateway.post({"model": "m", "input": "hi"}, PATH)
        assert (got.status, got.json()["status"]) == (200, "failed")


async def test_a_stream_that_fails_before_its_content_is_tried_elsewhere():
    failed = event(
        "response.failed",
        response=response("r", status="failed", error={"code": "server_error", "message": "x"}),
    )
    good = Keeper("a")
    async with ScriptedEngine(lambda _: [stream(failed)]) as bad, good.engine:
        endpoints = [{"url": url, "engine": "vllm"} for url in (bad.url, good.engine.url)]
        async with LiveGateway(
            pools=[{"model": "m", "endpoints": endpoints, "profile": "round-robin"}]
        ) as gateway:
            for _ in range(3):
                got = await gateway.post({"model": "m", "input": "hi", "stream": True}, PATH)
                assert b"response.completed" in got.body


async def test_a_kept_request_is_tried_again_at_its_engine_alone():
    a, b = Keeper("a"), Keeper("b")
    answers = iter([[reply(b'{"error":{"message":"busy"}}', "503 Service Unavailable")]])
    async with a.engine, b.engine, LiveGateway(pools=pools(a, b)) as gateway:
        made = [(await ask(gateway, {"input": "hi"}))["id"] for _ in range(2)]
        sealed = next(name for name in made if name.startswith("resp_a"))
        a.engine.script = lambda request: next(answers, None) or a.answer(request)
        got = await gateway.post({"model": "m", "input": "x", "previous_response_id": sealed}, PATH)
        assert (got.status, got.headers["x-forebay-attempts"]) == (200, "2")
        assert len(b.bodies) == 1


@pytest.mark.parametrize("key", ["conversation", "request_id", "request\\u005fid"])
async def test_conversations_and_ids_of_ones_own_are_refused(key):
    async with LiveGateway(["http://127.0.0.1:9"]) as gateway:
        for body in (f'"{key}":"resp_1"', f'"{key}":"resp_1","{key}":null'):
            got = await gateway.post(b'{"model":"m","input":"x",%b}' % body.encode(), PATH)
            assert (got.status, got.error()["param"]) == (400, key.encode().decode("unicode_escape"))
            assert got.error()["code"] in {"unsupported_parameter", "duplicate_key"}


async def test_openais_sdk_goes_on_reads_streams_and_deletes():
    keeper = Keeper("a")
    async with keeper.engine, LiveGateway(pools=pools(keeper)) as gateway:
        async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="x", max_retries=0) as client:
            first = await client.responses.create(model="m", input="hi")
            assert first.output_text == "hello"
            again = await client.responses.create(model="m", input="and?", previous_response_id=first.id)
            assert again.previous_response_id == first.id
            assert (await client.responses.retrieve(first.id)).id == first.id
            await client.responses.delete(first.id)
            assert (await client.responses.cancel(first.id)).id == first.id
            items = await client.responses.input_items.list(first.id)
            assert items.data[0].id == "msg_0"
            kinds, text = [], ""
            async for told in await client.responses.create(model="m", input="hi", stream=True):
                kinds.append(told.type)
                text += getattr(told, "delta", "")
            assert (kinds[0], kinds[-1], text) == ("response.created", "response.completed", "hello")
            with pytest.raises(openai.NotFoundError) as caught:
                await client.responses.retrieve("resp_unknown")
            assert caught.value.code == "response_not_found"
        await eventually(gateway.idle)
