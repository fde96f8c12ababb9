"""Anthropic messages: a system prompt, tools, and messages of content blocks."""

import msgspec

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.media.dataurl import is_data_url
from forebay.intake.media_reader import Place
from forebay.intake.media_urls import check_url
from forebay.intake.members import Members
from forebay.intake.part_urls import check_part_urls
from forebay.intake.prompt import Prompt
from forebay.intake.refusal import bad_request

SENSITIVE = frozenset(["messages", "system", "tools"])


_ABSENT = msgspec.Raw(b"")


class _Source(msgspec.Struct, gc=False):
    type: str | None = None
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    content: "_Content" = msgspec.UNSET


class _Block(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    source: _Source | None = None
    input: msgspec.Raw = _ABSENT
    content: "_Content" = msgspec.UNSET


class _Message(msgspec.Struct, gc=False):
    role: str | None = None
    content: "_Content" = msgspec.UNSET


class _RawMessage(msgspec.Struct, gc=False):
    content: msgspec.Raw = _ABSENT


_Content = str | list[_Block] | msgspec.UnsetType | None
_MESSAGES = msgspec.json.Decoder(list[_Message])
_RAW_MESSAGES = msgspec.json.Decoder(list[_RawMessage])
_SYSTEM = msgspec.json.Decoder(str | list[_Block])
_MODALITIES = {"image": Ability.IMAGE, "audio": Ability.AUDIO, "video": Ability.VIDEO}


def read_messages(members: Members, prompt: Prompt) -> None:
    """Read the whole prompt. Raises a Refusal."""
    prompt.json(members.raw("tools"))
    system = members.get("system", _SYSTEM)
    if system is not None:
        prompt.turn("system")
        check_part_urls(members.raw("system"), prompt.url_settings, "system")
        _read_blocks(prompt, -1, "system", system)
    messages = members.get("messages", _MESSAGES)
    if messages is not None:
        _check_urls(members, prompt)
    for index, message in enumerate(messages or ()):
        prompt.turn(message.role or "")
        _read_content(prompt, index, f"messages[{index}].content", message.content)


def _check_urls(members: Members, prompt: Prompt) -> None:
    for index, message in enumerate(_RAW_MESSAGES.decode(members.raw("messages"))):
        content = bytes(message.content)
        if content.startswith(b"["):
            check_part_urls(content, prompt.url_settings, f"messages[{index}].content")


def _read_content(prompt: Prompt, index: int, path: str, content: _Content) -> None:
    if content is not msgspec.UNSET:
        prompt.keys_read += 1
        _read_blocks(prompt, index, path, content)


def _read_blocks(prompt: Prompt, index: int, path: str, content: str | list[_Block] | None) -> None:
    if content is None or isinstance(content, str):
        prompt.text(content)
        return
    prompt.holds_parts = True
    for part_index, block in enumerate(content):
        _read_block(prompt, Place(index, part_index, f"{path}[{part_index}]"), block)


def _read_block(prompt: Prompt, place: Place, block: _Block) -> None:
    prompt.text(block.text)
    prompt.text(block.thinking)
    if block.source is not None:
        _read_source(prompt, place, block.type or "", block.source)
    prompt.json(bytes(block.input))
    _read_inner(prompt, place, f"{place.path}.content", block.content)


def _read_inner(prompt: Prompt, place: Place, path: str, content: _Content) -> None:
    """Read content inside a block, which stands at the block's place."""
    if content is msgspec.UNSET:
        return
    prompt.keys_read += 1
    if content is None or isinstance(content, str):
        prompt.text(content)
        return
    for number, inner in enumerate(content):
        _read_block(prompt, Place(place.message_index, place.part_index, f"{path}[{number}]"), inner)


def _read_source(prompt: Prompt, place: Place, kind: str, source: _Source) -> None:
    """A medium, or a document: a PDF, plain text, or blocks. Files that the engine keeps are priced unseen."""
    path = f"{place.path}.source"
    if source.data is not None and source.url is not None:
        raise bad_request("ambiguous_source", "give one of `data` and `url`", path)
    prompt.keys_read += (source.data is not None) + (source.url is not None)
    modality = _MODALITIES.get(kind)
    if modality is None:
        _read_document(prompt, place, source)
    elif source.data is not None:
        prompt.data(modality, source.data, source.media_type or "", place)
    elif source.url is not None:
        prompt.url(modality, source.url, place)
    else:
        prompt.unseen(modality, place)
    _read_inner(prompt, place, f"{path}.content", source.content)


def _read_document(prompt: Prompt, place: Place, source: _Source) -> None:
    if source.url is not None and not is_data_url(source.url):
        check_url(source.url, prompt.url_settings, place.path)
    if source.type == "text":
        prompt.text(source.data)
    elif not source.content:
        prompt.document(source.data or source.url or "")


FORM = JsonForm(
    Api.MESSAGES, read_messages, COMMON | SENSITIVE, bounds=("max_tokens",), replies=Replies.MESSAGES
)
