"""No answer ever speaks of another request's picture, whatever fails: the worst fault that a balancer could have.

Each engine is first asked directly. Pictures whose answers are distinct, and the same on both engines and under load,
are then asked for thousands of times through the gateway, while clients leave and engines are killed.
"""

import asyncio
import itertools
import json
import random
import socket
from dataclasses import dataclass, field

import aiohttp
import pytest

from forebay.gateway import exchange
from forebay.testing import showcase
from forebay.testing.engines import launch, scenes
from forebay.testing.live import LiveGateway

pytestmark = pytest.mark.engines

QUESTION = "What is in the picture?"
PLACES = ((0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75), (0.5, 0.5))
SIZES = ((112, 112), (168, 140))
TIMES_UNDER_LOAD = 3
LEAST_PICTURES = 12
REQUESTS = 2400
CLIENTS = 24
LEAVING = 0.08
KILL_AFTER_SECONDS = 1.0
REPEATS = 100
ONE_IN = 1000


def quiet_port():
    """A free port outside of the range of outgoing connections, which may take a killed engine's port."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    raise AssertionError("no port is free")


def candidates():
    """Pictures by name: every colour, shape and count, in two sizes."""
    kinds, counts = ("circle", "square"), range(1, 6)
    for kind, colour, count, size in itertools.product(kinds, scenes.COLOURS, counts, SIZES):
        radius = 0.25 if count == 1 else 0.11
        shapes = [scenes.Shape(kind, colour, *place, radius) for place in PLACES[:count]]
        yield f"{count} {colour} {kind} {size}", scenes.picture(shapes, *size)


@pytest.fixture(scope="module")
def seeing(tmp_path_factory):
    """Two engines of this test's own, since it kills them."""
    why_not = launch.engines_available()
    if why_not is not None:
        pytest.skip(f"REAL ENGINES NOT TESTED: {why_not}")
    logs = tmp_path_factory.mktemp("logs")
    engines = [launch.EngineProcess(launch.tinyvlm(quiet_port()), logs) for _ in range(2)]
    launch.start_all(engines)
    yield engines
    launch.stop_all(engines)


@pytest.fixture(scope="module")
def bodies(seeing, data_url):
    """What is asked of each candidate, as bytes: whole and streamed, by its own name and by an alias."""

    def body(png, stream, model):
        parts = [
            {"type": "image_url", "image_url": {"url": data_url(png)}},
            {"type": "text", "text": QUESTION},
        ]
        asked = {"model": model, "temperature": 0, "max_tokens": 16, "stream": stream}
        return json.dumps(asked | {"messages": [{"role": "user", "content": parts}]}).encode()

    ways = list(itertools.product((False, True), (launch.TINYVLM, showcase.ALIAS)))
    return {name: [body(png, *way) for way in ways] for name, png in candidates()}


@pytest.fixture(scope="module")
def truths(seeing, bodies):
    """Answers by picture, as the engines give them without a gateway: distinct, and stable under load."""
    return asyncio.run(stable_answers([engine.url for engine in seeing], bodies))


async def stable_answers(urls, bodies):
    async with aiohttp.ClientSession() as session:
        answers = {}
        for url, (name, (body, *_)) in itertools.product(urls, bodies.items()):
            answers.setdefault(name, set()).add((await send(session, url, body, "direct")).text)
        turns = asyncio.Semaphore(CLIENTS)

        async def again(url, name, body):
            async with turns:
                answers[name].add((await send(session, url, body, "direct")).text)

        jobs = [(url, name, body) for url in urls for name, (body, *_) in bodies.items()] * TIMES_UNDER_LOAD
        random.Random(1).shuffle(jobs)
        await asyncio.gather(*(again(*job) for job in jobs))
    by_answer = {}
    for name, given in answers.items():
        if len(given) == 1:
            by_answer.setdefault(given.pop(), name)
    return {name: answer for answer, name in by_answer.items()}


# --- clients


class NotAnsweredError(Exception):
    """The reply was an error, or broke off: the client may ask again."""


@dataclass
class Answered:
    text: str
    attempts: int


@dataclass
class Tally:
    """What clients saw. `wrong` holds what was expected and what came, by request id."""

    answered: int = 0
    left: int = 0
    repeated: int = 0
    retried: int = 0
    wrong: dict[str, tuple[str, str]] = field(default_factory=dict)

    def check(self, request_id, expected, answer):
        self.answered += 1
        self.retried += answer.attempts > 1
        if answer.text != expected:
            self.wrong[request_id] = (expected, answer.text)


async def send(session, url, body, request_id):
    headers = {"content-type": "application/json", "x-request-id": request_id}
    try:
        async with session.post(f"{url}/v1/chat/completions", data=body, headers=headers) as reply:
            data = await reply.read()
    except (aiohttp.ClientError, ConnectionError) as error:
        raise NotAnsweredError(str(error)) from None
    if reply.status != 200:
        raise NotAnsweredError(data.decode())
    attempts = int(reply.headers.get("x-forebay-attempts", "1"))
    streamed = reply.content_type == "text/event-stream"
    return Answered(read_stream(data) if streamed else read_whole(data), attempts)


def read_whole(data):
    return json.loads(data)["choices"][0]["message"]["content"]


def read_stream(data):
    *events, done = [line[6:] for line in data.splitlines() if line.startswith(b"data: ")]
    if done != b"[DONE]" or any(b'"error"' in event for event in events):
        raise NotAnsweredError(data.decode())
    choices = [json.loads(event)["choices"][0] for event in events]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


async def client(session, url, jobs, tally):
    """Send jobs one after another; ask again when there was no answer; leave when the job says so."""
    for request_id, body, expected, leave_after in jobs:
        for turn in range(REPEATS):
            try:
                sending = send(session, url, body, f"{request_id}-{turn}")
                answer = await asyncio.wait_for(sending, leave_after)
            except TimeoutError:
                tally.left += 1
                break
            except NotAnsweredError:
                tally.repeated += 1
                await asyncio.sleep(0.05)
            else:
                tally.check(f"{request_id}-{turn}", expected, answer)
                break
        else:
            raise AssertionError(f"{request_id} was never answered")


def jobs_of(bodies, truths, leaving, seed):
    """An endless order of pictures and ways to ask, with ids; some of their clients leave within a few milliseconds."""
    rng = random.Random(seed)
    names = list(truths)
    for number in range(REQUESTS):
        name = rng.choice(names)
        leave_after = rng.uniform(0, 0.04) if rng.random() < leaving else None
        yield f"ask-{number}", rng.choice(bodies[name]), truths[name], leave_after


async def storm(gateway, bodies, truths, leaving=0.0, seed=0):
    """All requests, by many clients at once."""
    tally = Tally()
    jobs = jobs_of(bodies, truths, leaving, seed)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(client(session, gateway.url, jobs, tally) for _ in range(CLIENTS)))
    return tally


async def kill_in_turn(engines, over):
    """Kill an engine, start it again, then the other, until it is over. Returns how many were killed."""
    kills = 0
    await asyncio.sleep(KILL_AFTER_SECONDS)
    while not over.is_set():
        engine = engines[kills % len(engines)]
        engine.kill()
        kills += 1
        await asyncio.to_thread(engine.start)
        await asyncio.sleep(KILL_AFTER_SECONDS)
    return kills


@pytest.fixture
async def gateway(seeing):
    # A breaker that soon tries again: the engines are back within a second, and the storm is short.
    pools = [
        pool | {"breaker": {"open_seconds": 0.2, "max_open_seconds": 0.5}} for pool in showcase.pools(seeing)
    ]
    async with LiveGateway(pools=pools, eyes={"health_seconds": 0.3}) as running:
        yield running


# --- the tests


def test_the_pictures_tell_themselves_apart(truths):
    assert len(set(truths.values())) == len(truths) >= LEAST_PICTURES


async def test_every_answer_is_that_of_its_own_picture(gateway, seeing, bodies, truths):
    over = asyncio.Event()
    killing = asyncio.create_task(kill_in_turn(seeing, over))
    try:
        tally = await storm(gateway, bodies, truths, leaving=LEAVING)
    finally:
        over.set()
        kills = await killing
    assert tally.wrong == {}
    assert tally.answered + tally.left == REQUESTS
    assert tally.answered >= 2000
    assert tally.left > 0
    assert tally.retried > 0
    assert kills >= 2


class Swap:
    """The fault, injected: one request in a thousand is sent with the picture of the one before it."""

    def __init__(self):
        self.swapped = []
        self._sent = 0
        self._due = False
        self._before = {}

    def __call__(self, request, understood, body, command, pool):
        self._sent += 1
        self._due |= self._sent % ONE_IN == 0
        mine = (understood, bytes(body))
        kind = (understood.request.stream, understood.request.model)
        other = self._before.get(kind, mine)
        self._before[kind] = mine
        if self._due and other[1] != mine[1]:
            self._due = False
            self.swapped.append(understood.request.request_id)
            understood, body = other
        return OUTGOING(request, understood, body, command, pool)


OUTGOING = exchange.outgoing


async def test_a_swap_of_one_in_a_thousand_is_caught(gateway, bodies, truths, monkeypatch):
    swap = Swap()
    monkeypatch.setattr(exchange, "outgoing", swap)
    tally = await storm(gateway, bodies, truths, seed=1)
    assert len(swap.swapped) >= 2
    assert sorted(tally.wrong) == sorted(swap.swapped)
