"""A short way for the commonest body: a chat of plain texts, whose keys come once each.

It reads what `understand` would read, in one pass, or nothing: whatever is rare, odd or wrong is left to the exact way,
which also words the refusals.
"""

from typing import Annotated

import msgspec

from forebay.domain.request import Api, InferenceRequest
from forebay.intake.document import check_document
from forebay.intake.form import Incoming, Understood
from forebay.intake.json_form import bound_of, choices_of, first_member, needs_of
from forebay.intake.members import MAX_MEMBERS, come_once, span_of
from forebay.intake.prefix import prefix_of
from forebay.intake.prompt import turn_mark
from forebay.intake.skeleton import Skeleton
from forebay.intake.splice import EditPoints, usage_edit
from forebay.intake.text import measure

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
    cache_salt: None = None
    extra_key: None = None
    kv_transfer_params: None = None
    rid: None = None
    session_params: None = None
    bootstrap_host: None = None
    bootstrap_port: None = None
    bootstrap_room: None = None
    data_parallel_rank: None = None
    disagg_prefill_dp_rank: None = None
    routed_dp_rank: None = None

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


def understand_plain(skeleton: Skeleton, incoming: Incoming, sensitive: frozenset[str]) -> Understood | None:
    """What the exact way would make of a chat, or None when it takes that."""
    text = skeleton.text
    plain = None if skeleton.payloads else read_plain(text, sensitive)
    if plain is None:
        return None
    model, chat = plain
    check_document(text, incoming.settings)
    edits, usage_wanted = _edits(text, chat)
    prefix = prefix_of(chat.segments())
    request = InferenceRequest(
        request_id=incoming.request_id,
        api=Api.CHAT,
        model=model,
        needs=_NEEDS,
        text=measure([message.content for message in chat.messages if message.content], len(chat.messages)),
        prefix_blocks=prefix.blocks,
        prefix_tokens=prefix.tokens,
        stream=chat.stream or False,
        usage_wanted=usage_wanted,
        max_output_tokens=bound_of((chat.max_completion_tokens, chat.max_tokens)),
        body_bytes=len(text),
        choices=choices_of(chat.n),
        tenant=incoming.tenant,
    )
    return Understood(request, edits)


_NEEDS = needs_of(Api.CHAT)


def _edits(text: bytes, chat: PlainChat) -> tuple[EditPoints, bool]:
    model = span_of(text, "model", chat.model)
    if not chat.stream:
        return EditPoints(model), False
    options = bytes(chat.stream_options)
    span = span_of(text, "stream_options", chat.stream_options) if options else None
    edit, wanted = usage_edit(b"" if options == b"null" else options, span, first_member(text))
    return EditPoints(model, edit, choices_of(chat.n)), wanted
