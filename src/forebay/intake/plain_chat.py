"""A short way for the commonest body: a chat of plain texts, whose keys come once each.

It reads what `understand` would read, in one pass, or nothing: whatever is rare, odd or wrong is left to the exact way,
which also words the refusals.
"""

from typing import Annotated

import msgspec

from forebay.intake.members import MAX_MEMBERS, come_once
from forebay.intake.prompt import turn_mark

# Media do not fit, and a long history of tools does: it would be read in vain.
_MAX_BYTES = 16_384


class PlainMessage(msgspec.Struct, gc=False):
    """A turn. What is None must be null or absent here."""

    role: str | None = None
    content: str | None = None
    name: None = None
    refusal: None = None
    reasoning: None = None
    reasoning_content: None = None
    tool_calls: None = None
    function_call: None = None


class PlainChat(msgspec.Struct, gc=False):
    """The members that count. What is None must be null or absent here; of others nothing is kept."""

    model: msgspec.Raw
    messages: list[PlainMessage]
    stream: bool | None = None
    stream_options: msgspec.Raw = msgspec.Raw()
    n: int | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    tools: None = None
    functions: None = None
    response_format: None = None
    images: None = None
    audios: None = None
    videos: None = None
    mm_processor_kwargs: None = None
    media_io_kwargs: None = None

    def segments(self) -> list[str]:
        """The prompt, piece by piece."""
        segments = []
        for message in self.messages:
            segments.append(turn_mark(message.role or ""))
            if message.content:
                segments.append(message.content)
        return segments


_CHAT = msgspec.json.Decoder(PlainChat)
_NAME = msgspec.json.Decoder(Annotated[str, msgspec.Meta(min_length=1)])


def read_plain(text: bytes, sensitive: frozenset[str]) -> tuple[str, PlainChat] | None:
    """The model and the chat, or None when it takes more than this to read them.

    `sensitive` are keys that may come once only.
    """
    if len(text) > _MAX_BYTES or text.count(b":") > MAX_MEMBERS:
        return None
    try:
        chat = _CHAT.decode(text)
        model = _NAME.decode(chat.model)
    except (msgspec.DecodeError, RecursionError):
        return None
    if text.count(b'"content"') > len(chat.messages):
        return None
    return (model, chat) if come_once(text, sensitive) else None
