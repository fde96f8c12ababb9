"""The form of a decision log: a head, and then each event with the commands that came of it.

A record is a length of four bytes, and so many of msgpack. What is written is what is compared: two lists of commands are
the same when their bytes are. A log holds no text, no media and no keys; requests are told by their measures and hashes.
"""

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import msgspec
import numpy as np

from forebay.conductor import events
from forebay.conductor.commands import Command, Note
from forebay.conductor.events import Arrived, Event, PlanChanged
from forebay.config.assemble import Recipe
from forebay.domain.placement import Decision

FORMAT = "forebay-decisions-1"
LENGTH_BYTES = 4
HASH_BYTES = 16
# Settings that name secrets or certificates: no decision depends on them, and a replay must not ask for their files.
SECRETS = frozenset(
    {"keys_env", "keys_file", "id_key_env", "id_key_file", "api_key_env", "api_key_file", "tls", "admin_tls"}
)


class LogError(ValueError):
    """The file is no decision log, or not one of this format."""


class Head(msgspec.Struct, frozen=True):
    """What the conductor of worker `worker` of `workers` was made of, at `at`. `written_by` is a version of Forebay."""

    format: str
    written_by: str
    worker: int
    workers: int
    seed: int
    at: int
    recipe: Recipe


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One event, by the name of its type, and the commands likewise.

    `hashes` are the content hashes of an Arrived's media, which msgpack has no integers for; `recipe` is a PlanChanged's.
    """

    kind: str
    event: msgspec.Raw
    commands: tuple[msgspec.Raw, ...]
    hashes: tuple[bytes, ...] = ()
    recipe: Recipe | None = None


def without_secrets(recipe: Recipe) -> Recipe:
    """The recipe, without the settings that name secrets."""
    return msgspec.structs.replace(recipe, data=_cleared(recipe.data))


def entry_of(event: Event, commands: Sequence[Command], recipe: Recipe | None = None) -> bytes:
    """The record of one step, without its length. A PlanChanged needs its plan's `recipe`."""
    hashes: tuple[bytes, ...] = ()
    plain: object = event
    if isinstance(event, Arrived) and event.request.media:
        hashes = tuple(item.content_hash.to_bytes(HASH_BYTES) for item in event.request.media)
        plain = _rehashed(event, (0,) * len(hashes))
    elif isinstance(event, PlanChanged):
        plain = {"at": event.at}
    body = msgspec.Raw(_encode(plain))
    kind = type(event).__name__
    return _encode(Entry(kind, body, encoded(commands), hashes, recipe if kind == "PlanChanged" else None))


def encoded(commands: Sequence[Command]) -> tuple[msgspec.Raw, ...]:
    """Commands in the form in which they are compared."""
    return tuple(msgspec.Raw(_encode((type(command).__name__, _told(command)))) for command in commands)


def event_of(entry: Entry) -> Event:
    """The event of an entry that is no PlanChanged. Raises LogError."""
    kind = getattr(events, entry.kind, None)
    try:
        event: Event = msgspec.msgpack.decode(entry.event, type=kind)
    except (msgspec.MsgspecError, TypeError) as error:
        raise LogError(f"`{entry.kind}` is no event of this version: {error}") from None
    if isinstance(event, Arrived) and entry.hashes:
        return _rehashed(event, tuple(int.from_bytes(each) for each in entry.hashes))
    return event


def framed(record: bytes) -> bytes:
    """A record with its length."""
    return len(record).to_bytes(LENGTH_BYTES, "little") + record


def records(stream: BinaryIO) -> Iterator[bytes]:
    """The whole records of a log; one that was cut off at the end is left out."""
    while len(length := stream.read(LENGTH_BYTES)) == LENGTH_BYTES:
        size = int.from_bytes(length, "little")
        record = stream.read(size)
        if len(record) < size:
            break
        yield record


def plain(raw: msgspec.Raw) -> Any:
    """A command as plain values, for people."""
    return msgspec.msgpack.decode(raw)


def _told(command: Command) -> Command:
    if isinstance(command, Note) and isinstance(command.subject, Decision):
        # The names of a pool's endpoints stand in the recipe, and need not be told with each decision.
        return Note(msgspec.structs.replace(command.subject, endpoints={}))
    return command


def _rehashed(event: Arrived, hashes: Sequence[int]) -> Arrived:
    media = zip(event.request.media, hashes, strict=True)
    items = tuple(msgspec.structs.replace(item, content_hash=found) for item, found in media)
    return Arrived(event.at, msgspec.structs.replace(event.request, media=items))


def _cleared(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cleared(inner) for key, inner in value.items() if key not in SECRETS}
    return [_cleared(inner) for inner in value] if isinstance(value, list) else value


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a decision log")


_encode = msgspec.msgpack.Encoder(enc_hook=_plain_numbers).encode
