"""The demo's client: asks the gateway, and asks those who know what came of it."""

import http.client
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from forebay.testing.asks import CHAT, Answer, Ask, read
from forebay.testing.engines.launch import EngineProcess

HOST = "127.0.0.1"
ASK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Visit:
    """What became of one request. Without an answer, `error` says why.

    `media_tokens` are those that were predicted and those that the engine counted, None without media. `why` names engines
    by their names in the demo.
    """

    ask: Ask
    milliseconds: float
    request_id: str = ""
    answer: Answer | None = None
    error: str = ""
    engine: str = ""
    endpoint: str = ""
    why: str = ""
    predicted_tokens: int = 0
    media_tokens: tuple[int, int] | None = None

    @property
    def true(self) -> bool | None:
        """Whether the answer is the right one; None when there is no right one."""
        if self.answer is None:
            return False
        return self.answer.text == self.ask.truth if self.ask.truth else None

    @property
    def right(self) -> bool:
        """Answered, not untrue, and its media counted to the token."""
        exact = self.media_tokens is None or self.media_tokens[0] == self.media_tokens[1]
        return not self.error and self.true is not False and exact


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Visitor:
    """Knows the gateway's two ports, and the engines behind it."""

    listen: int
    admin: int
    engines: Sequence[EngineProcess]
    by_endpoint: dict[str, EngineProcess] = field(init=False)

    def __post_init__(self) -> None:
        named = {engine.url.removeprefix("http://"): engine for engine in self.engines}
        object.__setattr__(self, "by_endpoint", named)

    def ready(self) -> bool:
        """Whether the gateway takes requests."""
        try:
            return _call("GET", self.admin, "/ready")[0] == http.client.OK
        except OSError:
            return False

    def serving(self, ask: Ask) -> list[str]:
        """The names of the engines that serve the model that is asked for."""
        return [engine.spec.name for engine in self.engines if engine.spec.model == ask.body["model"]]

    def visit(self, ask: Ask) -> Visit:
        """Send one request, and find out its story."""
        return self.explain(self.send(ask))

    def visit_all(self, asks: Sequence[Ask], told: Callable[[], None] = _nothing) -> list[Visit]:
        """Send all requests at once, and then find out their stories. `told` is called after each answer."""

        def send(ask: Ask) -> Visit:
            visit = self.send(ask)
            told()
            return visit

        with ThreadPoolExecutor(len(asks)) as pool:
            sent = list(pool.map(send, asks))
        return [self.explain(visit) for visit in sent]

    def send(self, ask: Ask) -> Visit:
        """Send one request and read its answer."""
        began = time.monotonic()
        try:
            status, request_id, body = _call("POST", self.listen, ask.path, ask.body)
        except OSError as error:
            return Visit(ask, _since(began), error=str(error) or type(error).__name__)
        took = _since(began)
        if status != http.client.OK:
            return Visit(ask, took, request_id, error=f"HTTP {status}: {body.decode(errors='replace')}")
        try:
            return Visit(ask, took, request_id, read(ask, body))
        except (ValueError, LookupError) as error:
            return Visit(ask, took, request_id, error=f"not an answer: {error!r}")

    def explain(self, visit: Visit) -> Visit:
        """The same visit with where it went and why, and both counts of its tokens."""
        if visit.answer is None:
            return visit
        story = json.loads(_call("GET", self.admin, f"/forebay/decisions/{visit.request_id}")[2])
        demand, last = story["demand"], story["decisions"][-1]
        engine = self.by_endpoint[last["chosen"]]
        return Visit(
            ask=visit.ask,
            milliseconds=visit.milliseconds,
            request_id=visit.request_id,
            answer=visit.answer,
            engine=engine.spec.name,
            endpoint=last["chosen"],
            why=self._with_names(last["why"]),
            predicted_tokens=demand["prompt_tokens"],
            media_tokens=self._media_tokens(visit.ask, visit.answer, demand, engine),
        )

    def _media_tokens(
        self, ask: Ask, answer: Answer, demand: dict[str, Any], engine: EngineProcess
    ) -> tuple[int, int] | None:
        if not ask.medium:
            return None
        count = _call("POST", engine.spec.port, f"{CHAT}/input_tokens", ask.words_alone())[2]
        return demand[f"{ask.medium}_tokens"], answer.prompt_tokens - json.loads(count)["input_tokens"]

    def _with_names(self, why: str) -> str:
        for endpoint, engine in self.by_endpoint.items():
            why = why.replace(endpoint, engine.spec.name)
        return why


def _call(method: str, port: int, path: str, data: object = None) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(HOST, port, timeout=ASK_SECONDS)
    try:
        body = None if data is None else json.dumps(data).encode()
        connection.request(method, path, body, {"content-type": "application/json"})
        response = connection.getresponse()
        return response.status, response.headers.get("x-request-id", ""), response.read()
    finally:
        connection.close()


def _since(began: float) -> float:
    return (time.monotonic() - began) * 1e3
