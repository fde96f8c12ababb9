"""Property: whatever engines do and clients do, every request ends once, answers are never mixed, counters return to 0."""

import asyncio
import contextlib
import json
import re
from typing import NamedTuple

import uvloop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forebay.testing.live import LiveGateway
from forebay.testing.scripted import Close, Pause, Reset, ScriptedEngine

from .words import CHUNKED, DONE, FOR_EVER, Client, answer, chat, chunk, eventually, piece, refusal, role

WORDS = 3
# So long a client waits; engines that hang are left by then.
PATIENCE_SECONDS = 0.25
BREATH = Pause(0.003)

WAYS = (
    "ok", "slow", "reset", "close", "head-reset", "role-reset", "content-reset", "content-close", "finish-close",
    "500", "503", "429", "400", "garbage", "error-first", "error-late", "hang", "role-hang", "content-hang",
)  # fmt: skip


def actions(way, engine, number):
    """What an engine does about a request. Every word names the engine and the request."""
    words = [piece(chunk(content=f"{engine}/{number}/{word} ")) for word in range(WORDS)]
    end = [piece(chunk(finish="stop") + DONE), b"0\r\n\r\n"]
    error = piece(b'data: {"error": {"message": "no", "code": 503}}\n\n')
    begin = [CHUNKED, piece(role())]
    return {
        "ok": [*begin, *words, *end],
        "slow": [*begin, *(part for word in words for part in (BREATH, word)), BREATH, *end],
        "reset": [Reset()],
        "close": [Close()],
        "head-reset": [CHUNKED, BREATH, Reset()],
        "role-reset": [*begin, BREATH, Reset()],
        "content-reset": [*begin, words[0], BREATH, Reset()],
        "content-close": [*begin, *words, Close()],
        "finish-close": [*begin, *words, piece(chunk(finish="stop")), BREATH, Close()],
        "500": [refusal("500 Internal Server Error")],
        "503": [refusal("503 Service Unavailable", extra="retry-after: 1\r\n")],
        "429": [refusal("429 Too Many Requests", extra="retry-after: 1\r\n")],
        "400": [refusal("400 Bad Request")],
        "garbage": [b"%PDF-1.7\r\n\r\n"],
        "error-first": [*begin, error, b"0\r\n\r\n"],
        "error-late": [*begin, words[0], error, b"0\r\n\r\n"],
        "hang": [FOR_EVER],
        "role-hang": [*begin, FOR_EVER],
        "content-hang": [*begin, words[0], FOR_EVER],
    }[way]


class Visit(NamedTuple):
    """One client: when it comes, when it leaves of its own will (None: it stays), and whether it wants a stream."""

    comes_ms: int
    leaves_ms: int | None
    stream: bool


VISITS = st.builds(
    Visit,
    st.integers(0, 20),
    st.one_of(st.none(), st.none(), st.integers(0, 15)),
    st.sampled_from([True, True, False]),
)


def engine(number, ways):
    """An engine that goes through its ways, and stays sound when they are over."""
    left = iter(ways)

    def script(request):
        asked = json.loads(request.body)
        who = asked["messages"][0]["content"]
        way = next(left, "ok")
        if way == "ok" and not asked.get("stream"):
            return [answer(f"{number}/{who}/")]
        return actions(way, number, who)

    return ScriptedEngine(script)


async def visit(gateway, number, plan):
    """Be one client. Returns what came, and whether it left before the end."""
    await asyncio.sleep(plan.comes_ms / 1000)
    async with Client.of(gateway.url) as client:
        client.ask(chat(str(number), stream=plan.stream), headers="connection: close\r\n")
        patience = PATIENCE_SECONDS if plan.leaves_ms is None else plan.leaves_ms / 1000
        got = b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(patience):
                while data := await client.reader.read(65536):
                    got += data
                return got, False
        client.leave()
        return got, True


def check_answer(number, got, *, left):
    """At most one head, words of one engine only, in order, and no end that is not one."""
    assert got.count(b"HTTP/1.1 ") <= 1
    words = [word.split(b"/") for word in re.findall(rb"\d+/\d+/\d*", got)]
    assert {word[1] for word in words} <= {str(number).encode()}, "another request's answer"
    assert len({word[0] for word in words}) <= 1, "two engines' answers"
    parts = [int(word[2]) for word in words if word[2]]
    assert parts == list(range(len(parts))), "a word lost or repeated"
    if left:
        return
    assert got.startswith(b"HTTP/1.1 "), "no answer at all"
    if b"HTTP/1.1 200" in got and b"event-stream" in got:
        whole, failed = got.count(b"[DONE]"), got.count(b'{"error"')
        assert whole + failed == 1, "a stream has one end"
        assert got.endswith(b"0\r\n\r\n")
        assert not whole or len(parts) == WORDS
        assert got.count(b'"role"') <= 1


async def play(plans, visits):
    async with contextlib.AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(engine(n, ways)) for n, ways in enumerate(plans)]
        endpoints = [{"url": one.url, "engine": "vllm", "max_in_flight": 3} for one in engines]
        pools = [
            {
                "model": "m",
                "endpoints": endpoints,
                "retry": {"max_retries": 2},
                "breaker": {"open_seconds": 0.05},
            }
        ]
        gateway = await stack.enter_async_context(LiveGateway(pools=pools))
        came = await asyncio.gather(*(visit(gateway, number, plan) for number, plan in enumerate(visits)))
        for number, (got, left) in enumerate(came):
            check_answer(number, got, left=left)
        await gateway.settled()
        await eventually(lambda: not any(one.busy for one in engines))
        tally = gateway.station.desk.counters.tally.pools["m"]
        assert [row.beliefs.in_flight for row in gateway.station.rows()] == [0] * len(engines)
        assert gateway.station._public.budget.used_bytes == 0
        arrived = sum(tally.endings.values())
        desk = gateway.station.desk
        assert not desk.access_log._open, "a decision or an outcome is kept for a request that is over"
        assert not desk.counters._open
    lines = gateway.lines()
    assert len({line["request_id"] for line in lines}) == len(lines), "a request was served twice"
    assert arrived == len([line for line in lines if line["ending"] != "refused"]), (
        "an outcome was told twice or never"
    )
    assert len(lines) <= len(visits)
    assert len(lines) >= sum(not left for _, left in came)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    plans=st.lists(st.lists(st.sampled_from(WAYS), max_size=8), min_size=2, max_size=3),
    visits=st.lists(VISITS, min_size=1, max_size=10),
)
def test_every_request_ends_once_whatever_happens(plans, visits):
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(play(plans, visits))
