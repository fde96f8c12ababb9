"""Streams through a gateway over real sockets: bytes kept, truth told, clients that leave or do not read."""

import asyncio
import itertools
import json

import pytest

from forebay.testing.clock import VirtualClock
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Close, Pause, Reset, ScriptedEngine

from .words import (
    CHUNKED,
    DONE,
    FOR_EVER,
    MESSAGES,
    UNTIL_CLOSE,
    Client,
    answer,
    case,
    chat,
    chunk,
    events,
    eventually,
    image,
    parts,
    piece,
    role,
    says,
    serving,
    stream,
    text_of,
)

ASK = chat(stream=True)


async def test_p14_cuts_within_characters_and_events_change_nothing():
    sse, cuts = case("p14_utf8.sse"), json.loads(case("p14_cuts.json"))
    ends = [0, *cuts["cut_offsets"], len(sse)]
    pieces = [sse[a:b] for a, b in itertools.pairwise(ends)]
    bytewise = [sse[n : n + 1] for n in range(len(sse))]
    for cut in (pieces, bytewise):
        script = [UNTIL_CLOSE, *(part for data in cut for part in (data, Pause(0.0005))), Close()]
        async with (
            ScriptedEngine(lambda _, s=script: s, model="eng") as engine,
            LiveGateway(pools=serving("eng")(engine)) as gateway,
        ):
            got = await gateway.post(ASK | {"model": "eng"}, headers={"x-request-id": "p14"})
            assert got.body == sse
            assert text_of(got.body) == cuts["joined_text"]
            outcome = (await gateway.story("p14"))["outcome"]
            assert outcome["completion_tokens"] == 2
            await gateway.settled()


async def test_p15_comments_stay_comments_and_do_not_count():
    sse = case("p15_comments.sse")
    first, rest = sse.split(b"\n\n", 1)
    script = [UNTIL_CLOSE, first + b"\n\n", Pause(0.15), rest, Close()]
    async with (
        ScriptedEngine(lambda _: script, model="eng") as engine,
        LiveGateway(pools=serving("eng")(engine)) as gateway,
    ):
        got = await gateway.post(ASK | {"model": "eng"}, headers={"x-request-id": "p15"})
        assert got.body == sse
        outcome = (await gateway.story("p15"))["outcome"]
        assert outcome["completion_tokens"] == 2
        assert outcome["ttft_ms"] >= 150


async def test_p16_messages_pass_line_by_line_and_no_head_is_sent_too_early():
    sse = case("p16_messages.sse")
    lines = [part for line in sse.splitlines(keepends=True) for part in (line, Pause(0.002))]
    async with (
        ScriptedEngine(lambda _: [UNTIL_CLOSE, *lines, Close()], model="eng") as engine,
        LiveGateway(pools=serving("eng")(engine)) as gateway,
    ):
        body = chat(model="eng", stream=True, max_tokens=9)
        got = await gateway.post(body, MESSAGES, headers={"x-request-id": "p16"})
        assert got.body == sse
        outcome = (await gateway.story("p16"))["outcome"]
        assert (outcome["prompt_tokens"], outcome["completion_tokens"]) == (9, 3)


async def test_p16_heartbeats_stand_between_whole_events_only():
    sse = case("p16_messages.sse")
    lines = [part for line in sse.splitlines(keepends=True) for part in (line, Pause(0.05))]
    clock = VirtualClock()
    async with (
        ScriptedEngine(lambda _: [UNTIL_CLOSE, *lines, Close()], model="eng") as engine,
        LiveGateway(pools=serving("eng", heartbeat_seconds=1)(engine), clock=clock) as gateway,
    ):
        asked = asyncio.create_task(gateway.post(chat(model="eng", stream=True, max_tokens=9), MESSAGES))
        while not asked.done():
            await asyncio.sleep(0.02)
            clock.advance(seconds=1)
            gateway.station.gateway.sweep()
        got = (await asked).body
        assert got.count(b": heartbeat\n\n") >= 2
        assert got.startswith(sse.split(b"\n\n")[0])  # none before the head and the first content
        assert got.replace(b": heartbeat\n\n", b"") == sse


async def test_p16_no_head_before_content():
    script = [UNTIL_CLOSE, b": wait\n\n", role(), Pause(0.1), chunk(content="x"), chunk(finish="stop"), DONE]
    async with (
        ScriptedEngine(lambda _: [*script, Close()]) as engine,
        LiveGateway([engine.url]) as gateway,
        Client.of(gateway.url) as client,
    ):
        client.ask(ASK)
        await eventually(lambda: engine.busy)
        with pytest.raises(TimeoutError):
            await client.until(b"HTTP/1.1", 0.05)
        assert b"200 OK" in await client.until(b"\r\n\r\n")


@pytest.mark.parametrize("name", ["mid_text", "mid_tool"])
@pytest.mark.parametrize("head", [CHUNKED, UNTIL_CLOSE], ids=["chunked", "until-close"])
async def test_p17_half_an_answer_does_not_look_whole(name, head):
    sse = case(f"p17_eof_{name}.sse")
    data = piece(sse) if head == CHUNKED else sse
    async with (
        ScriptedEngine(lambda _: [head, data, Pause(0.02), Close()], model="eng") as engine,
        LiveGateway(pools=serving("eng")(engine)) as gateway,
    ):
        got = await gateway.post(ASK | {"model": "eng"}, headers={"x-request-id": "p17"})
        assert got.status == 200
        assert got.body.startswith(sse)
        error = events(got.body)[-1]["error"]
        assert error["type"] == "upstream_truncated"
        assert DONE not in got.body
        outcome = (await gateway.story("p17"))["outcome"]
        assert outcome["ending"] == "failed"
        assert outcome["completion_tokens"] >= 1
        assert len(engine.received) == 1
        await gateway.settled()


async def test_p17_an_answer_that_lacks_only_its_last_event_is_completed():
    sse = case("p17_finish_but_no_done.sse")
    async with (
        ScriptedEngine(lambda _: [UNTIL_CLOSE, sse, Close()], model="eng") as engine,
        LiveGateway(pools=serving("eng")(engine)) as gateway,
    ):
        got = await gateway.post(ASK | {"model": "eng"}, headers={"x-request-id": "p17"})
        assert got.body == sse + DONE
        assert (await gateway.story("p17"))["outcome"]["ending"] == "finished"


async def test_p17_anthropics_streams_are_held_to_their_last_event_too():
    sse = case("p16_messages.sse").split(b"event: message_delta")[0]
    async with (
        ScriptedEngine(lambda _: [UNTIL_CLOSE, sse, Close()], model="eng") as engine,
        LiveGateway(pools=serving("eng")(engine)) as gateway,
    ):
        got = await gateway.post(chat(model="eng", stream=True, max_tokens=9), MESSAGES)
        assert got.body.startswith(sse + b"event: error\n")
        assert events(got.body)[-1]["error"]["type"] == "upstream_truncated"


@pytest.mark.parametrize("name", ["p19_usage_tail", "p19_usage_no_choices_key"])
async def test_p19_usage_is_metered_always_and_shown_to_those_who_asked(name):
    sse = case(f"{name}.sse")
    forms = {"absent": {}, "null": {"stream_options": None}}
    forms |= {str(flag): {"stream_options": {"include_usage": flag}} for flag in (False, True)}
    async with (
        ScriptedEngine(lambda _: [stream(sse)], model="eng") as engine,
        LiveGateway(pools=serving("eng")(engine)) as gateway,
    ):
        for form, options in forms.items():
            got = await gateway.post(ASK | {"model": "eng"} | options, headers={"x-request-id": form})
            assert got.status == 200
            asked = json.loads(engine.received[-1].body)["stream_options"]
            assert asked["include_usage"] is True
            outcome = (await gateway.story(form))["outcome"]
            assert (outcome["prompt_tokens"], outcome["completion_tokens"]) == (61, 2), form
            shown = [event for event in events(got.body) if event.get("usage")]
            assert len(shown) == (form == "True"), form
            assert all(event["choices"] == [] for event in shown)
            assert got.body.endswith(DONE)
    assert [line["prompt_tokens"] for line in gateway.lines()] == [61] * 4


async def test_p19_engines_that_refuse_stream_options_are_not_asked_for_usage():
    async with (
        ScriptedEngine(lambda _: [stream(says("a", "b"))]) as engine,
        LiveGateway(pools=serving(ask_usage=False)(engine)) as gateway,
    ):
        await gateway.post(ASK, headers={"x-request-id": "u"})
        assert json.loads(engine.received[0].body) == ASK
        outcome = (await gateway.story("u"))["outcome"]
        assert (outcome["completion_tokens"], outcome["tokens_reported"]) == (2, False)


async def test_usage_is_counted_where_the_engine_gives_none():
    async with (
        ScriptedEngine(lambda _: [stream(says("a", "b", "c"))]) as engine,
        LiveGateway([engine.url]) as gateway,
    ):
        await gateway.post(ASK, headers={"x-request-id": "u"})
        outcome = (await gateway.story("u"))["outcome"]
        assert (outcome["completion_tokens"], outcome["tokens_reported"]) == (3, False)
        assert outcome["prompt_tokens"] is None


BREAKS = {
    "role-only": [UNTIL_CLOSE, case("p20_role_only_then_reset.sse"), Pause(0.02), Reset()],
    "error-first": [stream(case("p20_error_first.sse"))],
    "content": [UNTIL_CLOSE, chunk("eng", content="A sa"), Pause(0.02), Reset()],
}


class TestP20OneAnswerOnly:
    """A breaks in three ways, B is sound."""

    GOOD = case("p20_good.sse")

    async def ask(self, how, other):
        """One request that A gets first: it is the one endpoint that is idle. Returns reply, story and A's requests."""
        async with (
            ScriptedEngine(lambda _: BREAKS[how], model="eng") as a,
            ScriptedEngine(lambda _: other, model="eng") as b,
            LiveGateway(pools=serving("eng", profile="round-robin")(a, b)) as gateway,
        ):
            for name in ("p20-1", "p20-2"):  # one of two in turn comes to A first
                got = await gateway.post(ASK | {"model": "eng"}, headers={"x-request-id": name})
                if a.received:
                    break
                b.received.clear()
            story = await gateway.story(name)
            await gateway.settled()
            return got, story, len(a.received), len(b.received)

    @pytest.mark.parametrize("how", ["role-only", "error-first"])
    async def test_p20_before_content_the_other_answers_alone(self, how):
        got, story, at_a, at_b = await self.ask(how, [stream(self.GOOD)])
        assert (got.status, got.body) == (200, self.GOOD)
        assert got.headers["x-forebay-attempts"] == "2"
        assert (at_a, at_b) == (1, 1)
        assert [decision["try"] for decision in story["decisions"]] == [0, 1]
        assert story["outcome"]["ending"] == "finished"

    async def test_p20_with_both_down_the_status_is_an_error(self):
        got, story, _, _ = await self.ask("error-first", [Reset()])
        assert got.status in {502, 503}
        assert "event-stream" not in got.headers["content-type"]
        assert story["outcome"]["ending"] == "failed"
        got, _, _, _ = await self.ask("error-first", [stream(case("p20_error_first.sse"))])
        assert got.status == 503
        assert got.error()["message"] == "queue full"

    async def test_p20_after_content_there_is_no_second_answer(self):
        got, story, at_a, at_b = await self.ask("content", [stream(self.GOOD)])
        assert (at_a, at_b) == (1, 0)
        assert text_of(got.body) == "A sa"
        assert events(got.body)[-1]["error"]["type"] == "upstream_truncated"
        assert story["outcome"]["ending"] == "failed"


async def test_p22_reasoning_and_tools_pass_unchanged_and_are_counted():
    sse = case("p22_reasoning_tools.sse")
    async with (
        ScriptedEngine(lambda _: [stream(sse)], model="eng") as engine,
        LiveGateway(pools=serving("eng")(engine)) as gateway,
    ):
        got = await gateway.post(ASK | {"model": "eng"}, headers={"x-request-id": "p22"})
        assert got.body == sse
        outcome = (await gateway.story("p22"))["outcome"]
        assert (outcome["completion_tokens"], outcome["ending"]) == (5, "finished")


async def test_p23_a_stream_is_not_to_be_held_up_on_its_way():
    script = [CHUNKED, piece(role() + chunk(content="a")), FOR_EVER]
    async with (
        ScriptedEngine(lambda _: script) as engine,
        LiveGateway([engine.url]) as gateway,
        Client.of(gateway.url) as client,
    ):
        client.ask(ASK)
        head = (await client.until(b"\r\n\r\n")).lower()
        assert b"content-type: text/event-stream" in head
        assert b"cache-control: no-cache, no-transform" in head
        assert b"x-accel-buffering: no" in head
        assert b"content-encoding" not in head
        await client.until(b'"content": "a"')  # flushed while the engine is silent


@pytest.mark.parametrize("path", ["chat", "messages"])
async def test_p25_an_alias_is_restored_in_every_event(path):
    if path == "chat":
        sse, where, body = says("a", "b", "c").replace(b'"m"', b'"org/real"'), "/v1/chat/completions", ASK
    else:
        sse = case("p16_messages.sse").replace(b'"eng"', b'"org/real"')
        where, body = MESSAGES, ASK | {"max_tokens": 9}
    async with (
        ScriptedEngine(lambda _: [stream(sse)], model="org/real") as engine,
        LiveGateway(pools=serving("org/real", aliases=["fast"])(engine)) as gateway,
    ):
        got = await gateway.post(body | {"model": "fast"}, where)
        assert got.body == sse.replace(b'"org/real"', b'"fast"')
        assert json.loads(engine.received[0].body)["model"] == "org/real"


async def test_an_error_event_in_the_middle_is_passed_on_and_ends_the_stream():
    error = b'data: {"error": {"message": "cuda", "type": "internal", "code": 500}}\n\n'
    script = [stream(role() + chunk(content="x") + error + chunk(content="never"))]
    async with ScriptedEngine(lambda _: script) as engine, LiveGateway([engine.url]) as gateway:
        got = await gateway.post(ASK, headers={"x-request-id": "e"})
        assert got.body == role() + chunk(content="x") + error
        outcome = (await gateway.story("e"))["outcome"]
        assert (outcome["ending"], outcome["reason"]) == ("failed", "stream-error")
        await gateway.settled()


async def test_a_client_error_inside_a_stream_is_no_failure_of_the_engine():
    error = b'data: {"error": {"message": "too long", "type": "BadRequestError", "code": 400}}\n\n'
    async with (
        ScriptedEngine(lambda _: [stream(error)]) as engine,
        ScriptedEngine(lambda _: [stream(error)]) as other,
        LiveGateway([engine.url, other.url]) as gateway,
    ):
        got = await gateway.post(ASK)
        assert (got.status, got.error()["message"]) == (400, "too long")
        assert len(engine.received) + len(other.received) == 1


async def test_an_engine_that_streams_unasked_is_understood():
    async with ScriptedEngine(lambda _: [stream(says("x"))]) as engine, LiveGateway([engine.url]) as gateway:
        assert (await gateway.post(chat())).body == says("x")


async def test_an_engine_that_does_not_stream_though_asked_is_understood():
    async with (
        ScriptedEngine(lambda _: [answer("all at once")]) as engine,
        LiveGateway([engine.url]) as gateway,
    ):
        got = await gateway.post(ASK)
        assert got.json()["choices"][0]["message"]["content"] == "all at once"


async def test_a_stream_that_breaks_after_its_last_event_is_whole():
    script = [CHUNKED, piece(says("x")), Pause(0.02), Reset()]
    async with ScriptedEngine(lambda _: script) as engine, LiveGateway([engine.url]) as gateway:
        got = await gateway.post(ASK, headers={"x-request-id": "w"})
        assert got.body == says("x")
        assert (await gateway.story("w"))["outcome"]["ending"] == "finished"


async def test_a_stream_whose_only_event_lacks_its_empty_line_is_read():
    only = chunk(content="all", finish="stop")
    async with (
        ScriptedEngine(lambda _: [UNTIL_CLOSE, only.rstrip(), Close()]) as engine,
        LiveGateway([engine.url]) as gateway,
    ):
        got = await gateway.post(ASK)
        assert (got.status, got.body) == (200, only + DONE)


async def test_what_comes_after_an_error_event_is_not_read():
    error = b'data: {"error": {"message": "no", "code": 503}}\n\n'
    script = [CHUNKED, piece(chunk(content="x") + error), piece(chunk(content="y") + DONE), b"0\r\n\r\n"]
    async with ScriptedEngine(lambda _: script) as engine, LiveGateway([engine.url]) as gateway:
        assert (await gateway.post(ASK)).body == chunk(content="x") + error


async def test_clients_of_http_1_0_get_a_stream_without_chunks():
    async with (
        ScriptedEngine(lambda _: [stream(says("x"))]) as engine,
        LiveGateway([engine.url]) as gateway,
        Client.of(gateway.url) as client,
    ):
        body = json.dumps(ASK)
        client.writer.write(
            f"POST /v1/chat/completions HTTP/1.0\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()
        )
        got = await client.all()
        assert got.partition(b"\r\n\r\n")[2] == says("x")


async def test_many_streams_at_once_are_kept_apart():
    script = lambda request: [stream(says(*json.loads(request.body)["messages"][0]["content"]))]  # noqa: E731
    async with (
        ScriptedEngine(script) as one,
        ScriptedEngine(script) as two,
        LiveGateway([one.url, two.url]) as gateway,
    ):
        words = [f"answer-{n}" for n in range(100)]
        got = await asyncio.gather(*(gateway.post(chat(word, stream=True)) for word in words))
        assert [text_of(reply.body) for reply in got] == words
        assert min(len(one.received), len(two.received)) > 20
        await gateway.settled()


OVERLOADED = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'


async def test_an_anthropic_error_before_content_is_tried_elsewhere():
    good = case("p16_messages.sse")
    async with (
        ScriptedEngine(lambda _: [stream(OVERLOADED)], model="eng") as busy,
        ScriptedEngine(lambda _: [stream(good)], model="eng") as free,
        LiveGateway(pools=serving("eng", profile="round-robin")(busy, free)) as gateway,
    ):
        body = chat(model="eng", stream=True, max_tokens=9)
        for _ in range(2):
            assert (await gateway.post(body, MESSAGES)).body == good
        assert busy.received
        assert len(free.received) == 2


async def test_an_anthropic_error_is_told_in_its_own_shape():
    begun = case("p16_messages.sse").split(b"event: content_block_stop")[0]
    ways = iter([[stream(OVERLOADED)], [stream(OVERLOADED)], [stream(begun + OVERLOADED)]])
    async with (
        ScriptedEngine(lambda _: next(ways), model="eng") as engine,
        LiveGateway(pools=serving("eng")(engine)) as gateway,
    ):
        body = chat(model="eng", stream=True, max_tokens=9)
        got = await gateway.post(body, MESSAGES)
        assert (got.status, got.json()["type"], got.error()["message"]) == (503, "error", "busy")
        got = await gateway.post(body, MESSAGES)
        assert (got.status, got.body) == (200, begun + OVERLOADED)


async def test_a_second_attempt_sends_the_same_bytes():
    """Rewritten once for each attempt, from the client's own."""
    picture = image(case("p10_gray16_64x48.png"))
    async with (
        ScriptedEngine(lambda _: [Reset()], model="org/real") as ill,
        ScriptedEngine(lambda _: [stream(says("x"))], model="org/real") as well,
        LiveGateway(pools=serving("org/real", aliases=["fast"], profile="round-robin")(ill, well)) as gateway,
    ):
        body = json.dumps(
            parts({"type": "text", "text": "é" * 300_000}, picture, model="fast", stream=True)
        ).encode()
        for _ in range(2):
            got = await gateway.post(body)
            assert text_of(got.body) == "x"
        assert ill.received
        (same,) = {request.body for request in (*ill.received, *well.received)}
        sent = json.loads(same)
        assert sent.pop("stream_options") == {"include_usage": True}
        assert sent == json.loads(body) | {"model": "org/real"}
