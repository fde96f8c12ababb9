"""Replays a decision log: the same conductor, the same events, and a look whether the same commands come of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from forebay.conductor.conductor import Conductor
from forebay.conductor.events import Event, PlanChanged
from forebay.config.assemble import follow
from forebay.runtime.records import FORMAT, Entry, Head, LogError, encoded, event_of, plain, records


class Difference(msgspec.Struct, frozen=True):
    """The first event, counted from 1, of which other commands came. `problem` tells the first that differ."""

    number: int
    kind: str
    at: int
    problem: str


class Replayed(msgspec.Struct, frozen=True):
    """What came of a replay: how many events gave the same commands, and the first that did not."""

    head: Head
    same: int
    difference: Difference | None = None


def replay(log: Path) -> Replayed:
    """Replay until the log ends, or something differs. Raises LogError, OSError, and ConfigError."""
    with log.open("rb") as stream:
        found = records(stream)
        head = _head(next(found, b""))
        conductor = Conductor(
            follow(head.recipe).plan, seed=head.seed, at=head.at, worker=head.worker, workers=head.workers
        )
        same = 0
        for number, record in enumerate(found, 1):
            difference = _step(conductor, number, _entry(record))
            if difference is not None:
                return Replayed(head, same, difference)
            same = number
    return Replayed(head, same)


def _step(conductor: Conductor, number: int, entry: Entry) -> Difference | None:
    event = _event(entry)
    commands = encoded(conductor.handle(event))
    if list(map(bytes, commands)) == list(map(bytes, entry.commands)):
        return None
    problem = _first_difference([plain(each) for each in entry.commands], [plain(each) for each in commands])
    return Difference(number, entry.kind, event.at, problem)


def _event(entry: Entry) -> Event:
    if entry.recipe is None:
        return event_of(entry)
    return PlanChanged(msgspec.msgpack.decode(entry.event)["at"], follow(entry.recipe).plan)


def _head(record: bytes) -> Head:
    try:
        head = msgspec.msgpack.decode(record, type=Head)
    except msgspec.MsgspecError:
        raise LogError("this is no decision log") from None
    if head.format != FORMAT:
        raise LogError(f"a log of format `{head.format}`; this version reads `{FORMAT}`")
    return head


def _entry(record: bytes) -> Entry:
    try:
        return msgspec.msgpack.decode(record, type=Entry)
    except msgspec.MsgspecError as error:
        raise LogError(f"the log is damaged: {error}") from None


def _first_difference(logged: list[Any], replayed: list[Any]) -> str:
    """The first place at which two lists of commands differ, in words."""
    names = [[command[0] for command in each] for each in (logged, replayed)]
    if names[0] != names[1]:
        return f"logged {', '.join(names[0]) or 'nothing'}; replayed {', '.join(names[1]) or 'nothing'}"
    places = (
        (f"{one[0]}{path}", was, now)
        for one, other in zip(logged, replayed, strict=True)
        for path, was, now in _differences(one[1], other[1], "")
    )
    place, was, now = next(places, ("the same values in other bytes", None, None))
    return f"{place}: logged {was!r}, replayed {now!r}"


def _differences(one: Any, other: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from _differences(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differences(left, right, f"{path}[{index}]")
    elif one != other:
        yield path, one, other
