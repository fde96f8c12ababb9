"""Anthropic messages: a system prompt, tools, and messages of content blocks."""

from typing import Any

import msgspec

from forebay.domain.ability import Ability
from forebay.intake.media_reader import Place
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["messages", "system", "tools"])


_ABSENT = msgspec.Raw(b"")


class _Source(msgspec.Struct, gc=False):
    type: str | None = None
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    content: Any = None


class _Block(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    source: _Source | None = None
    input: msgspec.Raw = _ABSENT
    content: "str | list[_Block] | None" = None


class _Message(msgspec.Struct, gc=False):
    role: str | None = None
    content: str | list[_Block] | None = None


_MESSAGES = msgspec.json.Decoder(list[_Message])
_SYSTEM = msgspec.json.Decoder(str | list[_Block])


def read_messages(members: Members, prompt: Prompt) -> None:
    """Read the whole prompt. Raises a Refusal."""
    prompt.json(members.raw("tools"))
    system = members.get("system", _SYSTEM)
    if system is not None:
        prompt.turn("system")
        _read_content(prompt, -1, "system", system)
    messages = members.get("messages", _MESSAGES)
    for index, message in enumerate(messages or ()):
        prompt.turn(message.role or "")
        _read_content(prompt, index, f"messages[{index}].content", message.content)


def _read_content(prompt: Prompt, index: int, path: str, content: str | list[_Block] | None) -> None:
    if isinstance(content, str):
        prompt.text(content)
        return
    for part_index, block in enumerate(content or ()):
        _read_block(prompt, Place(index, part_index, f"{path}[{part_index}]"), block)


def _read_block(prompt: Prompt, place: Place, block: _Block) -> None:
    prompt.text(block.text)
    prompt.text(block.thinking)
    if block.source is not None:
        _read_source(prompt, place, block.type or "", block.source)
    prompt.json(bytes(block.input))
    if isinstance(block.content, str):
        prompt.text(block.content)
        return
    for number, inner in enumerate(block.content or ()):
        path = f"{place.path}.content[{number}]"
        _read_block(prompt, Place(place.message_index, place.part_index, path), inner)


def _read_source(prompt: Prompt, place: Place, kind: str, source: _Source) -> None:
    """An image, or a document: a PDF, plain text, or blocks. Files that the engine keeps are priced unseen."""
    if kind != "image":
        if source.type == "text":
            prompt.text(source.data)
        else:
            prompt.document(source.data or "")
    elif source.data is not None:
        prompt.data(Ability.IMAGE, source.data, source.media_type or "", place)
    elif source.url is not None:
        prompt.url(Ability.IMAGE, source.url, place)
    else:
        prompt.unseen(Ability.IMAGE, place)
