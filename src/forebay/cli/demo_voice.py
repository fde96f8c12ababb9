"""What the demo shows: aligned lines for people, or one JSON line a request."""

import json
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from forebay.cli.demo_visit import Visit

_VERDICTS = {True: ("true", "green"), False: ("WRONG", "bold red"), None: ("", "")}


class Voice:
    """Lines go to standard output, progress to standard error, where it vanishes unless that is a terminal.

    With `as_json`, standard output holds JSON lines alone, and what is for people goes to standard error.
    """

    def __init__(self, *, as_json: bool) -> None:
        """Colours come only when the stream is a terminal."""
        self._as_json = as_json
        self._progress = Console(stderr=True, highlight=False)
        self._people = self._progress if as_json else Console(highlight=False)

    def note(self, text: str, style: str = "") -> None:
        """Something for people."""
        self._people.print(Text(text, style), soft_wrap=True)

    def working(self, what: str) -> AbstractContextManager[object]:
        """Show that something is going on."""
        return self._progress.status(f"{what} ...")

    @contextmanager
    def counting(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """Show a bar; each call of what is given moves it on by one."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        shown = self._progress.is_terminal
        with Progress(*columns, console=self._progress, transient=True, disable=not shown) as progress:
            task = progress.add_task(what, total=total)
            yield lambda: progress.advance(task)

    def visited(self, visit: Visit) -> None:
        """One request on its own."""
        if self._as_json:
            print(json.dumps(as_json(visit)), flush=True)
            return
        self._people.print(_first_line(visit), soft_wrap=True)
        if visit.answer is not None:
            self.note(f"      {_tokens(visit, visit.answer.prompt_tokens)}", "dim")
            self.note(f"      {visit.why}", "dim")
        sys.stdout.flush()

    def burst(self, visits: Sequence[Visit], engines: Sequence[str]) -> None:
        """Requests that were sent all at once: how they were split over `engines`, and how long they took."""
        summary = burst_as_json(visits, engines)
        if self._as_json:
            print(json.dumps(summary), flush=True)
            return
        for visit in visits:
            if not visit.right:
                self.visited(visit)
        for engine, (texts, pictures) in _split(visits, engines).items():
            counts = f"  {engine:12s}{texts:2d} short texts, {pictures:2d} large pictures  "
            self._people.print(
                Text.assemble(counts, ("t" * texts, "cyan"), ("P" * pictures, "magenta")), soft_wrap=True
            )
        median, largest = summary["median_milliseconds"], summary["largest_milliseconds"]
        self.note(f"  times: median {median:.0f} ms, largest {largest:.0f} ms")


def as_json(visit: Visit) -> dict[str, Any]:
    """One request's line."""
    if visit.answer is None:
        return {"request": visit.ask.name, "error": visit.error, "true": False}
    predicted, reported = visit.media_tokens or (0, 0)
    return {
        "request": visit.ask.name,
        "request_id": visit.request_id,
        "answer": visit.answer.text,
        "true": visit.true,
        "engine": visit.engine,
        "endpoint": visit.endpoint,
        "why": visit.why,
        "predicted_prompt_tokens": visit.predicted_tokens,
        "reported_prompt_tokens": visit.answer.prompt_tokens,
        "predicted_media_tokens": predicted,
        "reported_media_tokens": reported,
        "milliseconds": round(visit.milliseconds, 1),
    }


def burst_as_json(visits: Sequence[Visit], engines: Sequence[str]) -> dict[str, Any]:
    """The burst's line."""
    times = [visit.milliseconds for visit in visits]
    split = _split(visits, engines)
    return {
        "request": f"{len(visits)} at once",
        "true": all(visit.right for visit in visits),
        "wrong": sum(not visit.right for visit in visits),
        "by_engine": {
            engine: {"texts": texts, "pictures": pictures} for engine, (texts, pictures) in split.items()
        },
        "median_milliseconds": round(statistics.median(times), 1),
        "largest_milliseconds": round(max(times), 1),
    }


def _split(visits: Sequence[Visit], engines: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Texts and pictures by engine."""
    counts = Counter((visit.engine, bool(visit.ask.medium)) for visit in visits)
    return {engine: (counts[engine, False], counts[engine, True]) for engine in engines}


def _first_line(visit: Visit) -> Text:
    name = f"  {visit.ask.name:34s}"
    if visit.answer is None:
        return Text.assemble(name, ("FAILED: ", "bold red"), visit.error)
    verdict, style = _VERDICTS[visit.true]
    answer = f"{visit.answer.text:20s}"
    time = f"{visit.milliseconds:5.0f} ms"
    return Text.assemble(name, (answer, "bold"), (f"{verdict:6s}", style), f"{visit.engine:12s}", time)


def _tokens(visit: Visit, reported: int) -> str:
    media = ""
    if visit.media_tokens is not None:
        predicted, engine = visit.media_tokens
        media = f"{visit.ask.medium} tokens: predicted {predicted}, engine {engine}    "
    return f"{media}prompt tokens: predicted {visit.predicted_tokens}, engine {reported}"
