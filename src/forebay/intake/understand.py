"""The way in: one body becomes one InferenceRequest, or a Refusal that says where and why."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from forebay.domain.ability import Ability
from forebay.domain.request import Api, InferenceRequest
from forebay.intake import anthropic, completions, embeddings, openai_chat
from forebay.intake.document import check_document, malformed
from forebay.intake.media_reader import MediaReader
from forebay.intake.members import Members, Span, check_hidden_media, span_of
from forebay.intake.plain_chat import PlainChat, read_plain
from forebay.intake.prefix import prefix_of
from forebay.intake.prompt import Prompt
from forebay.intake.refusal import Refusal, bad_request
from forebay.intake.settings import IntakeSettings
from forebay.intake.skeleton import Skeleton
from forebay.intake.splice import Edit, EditPoints, usage_edit
from forebay.intake.text import measure
from forebay.intake.tokens.family import Family

__all__ = ["Refusal", "Understood", "understand"]


class Understood(msgspec.Struct, frozen=True):
    """A request, and where its body may have to change."""

    request: InferenceRequest
    edits: EditPoints


class _Form(NamedTuple):
    """How one API is read: what it needs, its prompt, the keys that it reads, and the keys of its output bound."""

    needs: Ability
    read: Callable[[Members, Prompt], None]
    sensitive: frozenset[str]
    prompt_key: str
    bounds: tuple[str, ...] = ()
    prompts: Callable[[Members], int] | None = None


_COMMON = frozenset(["model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n"])
_FORMS = {
    Api.CHAT: _Form(
        Ability.TEXT | Ability.CHAT,
        openai_chat.read_chat,
        _COMMON | openai_chat.SENSITIVE,
        "messages",
        ("max_completion_tokens", "max_tokens"),
    ),
    Api.COMPLETIONS: _Form(
        Ability.TEXT | Ability.COMPLETIONS,
        completions.read_completion,
        _COMMON | completions.SENSITIVE,
        "prompt",
        ("max_tokens",),
        completions.count_prompts,
    ),
    Api.EMBEDDINGS: _Form(
        Ability.TEXT | Ability.EMBEDDINGS,
        embeddings.read_embedding,
        _COMMON | embeddings.SENSITIVE,
        "input",
        prompts=embeddings.count_inputs,
    ),
    Api.MESSAGES: _Form(
        Ability.TEXT | Ability.MESSAGES,
        anthropic.read_messages,
        _COMMON | anthropic.SENSITIVE,
        "messages",
        ("max_tokens",),
    ),
}
# vLLM's way to give one request other resolutions or frame rates.
_PROCESSOR_KEYS = ("mm_processor_kwargs", "media_io_kwargs")
_TEXT = msgspec.json.Decoder(str)
_FLAG = msgspec.json.Decoder(bool)
_NUMBER = msgspec.json.Decoder(int)
# No engine's context is longer; larger numbers mean "no bound".
_MAX_OUTPUT_TOKENS = 1 << 31
_MAX_CHOICES = 1 << 16
_WITH_CHOICES = frozenset([Api.CHAT, Api.COMPLETIONS])


def understand(
    api: Api,
    body: bytes | bytearray,
    settings: IntakeSettings,
    request_id: str,
    family_of: Callable[[str], Family | None],
) -> Understood:
    """Read `body`. `family_of` gives the token rules of a model by the client's name, None for unknown ones.

    Raises Refusal, and nothing else.
    """
    form = _FORMS[api]
    skeleton = Skeleton(body)
    if api is Api.CHAT and not skeleton.payloads:
        plain = read_plain(skeleton.text, form.sensitive)
        if plain is not None:
            return _understand_plain(form, skeleton.text, settings, request_id, *plain)
    members = _members(skeleton, form, settings)
    model = _model(members, skeleton)
    overridden = any(members.raw(key) for key in _PROCESSOR_KEYS)
    media = MediaReader(family_of(model), settings, skeleton, overridden=overridden)
    prompt = Prompt(media, skeleton, settings)
    form.read(members, prompt)
    media.check_budget()
    if prompt.turns:
        check_hidden_media(
            skeleton.text,
            prompt.keys_read,
            holds_parts=prompt.holds_parts,
            holds_unseen=prompt.holds_unseen,
        )
    _check_rest(skeleton)
    stream = members.get("stream", _FLAG) or False
    prompts = form.prompts(members) if form.prompts else 1
    choices = _choices(members.get("n", _NUMBER)) if api in _WITH_CHOICES else 1
    edits, usage_wanted = _edits(api, members, skeleton, prompts * choices, stream=stream)
    prefix = prompt.prefix()
    request = InferenceRequest(
        request_id=request_id,
        api=api,
        model=model,
        needs=form.needs | media.needs if media.items else form.needs,
        text=prompt.measure(),
        media=tuple(media.items),
        prefix_blocks=prefix.blocks,
        prefix_tokens=prefix.tokens,
        stream=stream,
        usage_wanted=usage_wanted,
        max_output_tokens=_max_output_tokens(members.get(key, _NUMBER) for key in form.bounds),
        body_bytes=len(body),
        prompts=prompts,
        choices=choices,
    )
    return Understood(request, edits)


def of_tenant(understood: Understood, tenant: str) -> Understood:
    """The same, as asked by this tenant."""
    request = msgspec.structs.replace(understood.request, tenant=tenant)
    return Understood(request, understood.edits)


def _understand_plain(
    form: _Form, text: bytes, settings: IntakeSettings, request_id: str, model: str, chat: PlainChat
) -> Understood:
    """The same, of a chat whose body has been read already."""
    check_document(text, settings)
    edits, usage_wanted = _plain_edits(text, chat)
    prefix = prefix_of(chat.segments())
    request = InferenceRequest(
        request_id=request_id,
        api=Api.CHAT,
        model=model,
        needs=form.needs,
        text=measure([message.content for message in chat.messages if message.content], len(chat.messages)),
        prefix_blocks=prefix.blocks,
        prefix_tokens=prefix.tokens,
        stream=chat.stream or False,
        usage_wanted=usage_wanted,
        max_output_tokens=_max_output_tokens((chat.max_completion_tokens, chat.max_tokens)),
        body_bytes=len(text),
        choices=_choices(chat.n),
    )
    return Understood(request, edits)


def _members(skeleton: Skeleton, form: _Form, settings: IntakeSettings) -> Members:
    check_document(skeleton.text, settings)
    try:
        return Members(skeleton.text, form.sensitive)
    except msgspec.ValidationError:
        raise bad_request("invalid_body", "the body is not a JSON object") from None
    except (msgspec.DecodeError, RecursionError):
        raise malformed() from None


def _check_rest(skeleton: Skeleton) -> None:
    try:
        skeleton.check_unclaimed()
    except msgspec.DecodeError:
        raise malformed() from None


def _model(members: Members, skeleton: Skeleton) -> str:
    model = members.get("model", _TEXT)
    if not model:
        raise bad_request("missing_model", "the name of a model is needed", "model")
    if skeleton.claim(model)[1] is not None:
        raise bad_request("invalid_model", "this is no name of a model", "model")
    return model


def _max_output_tokens(bounds: Iterable[int | None]) -> int:
    """The client's bound, 0 for none. llama.cpp's clients write -1 for that. The first that is given counts."""
    for bound in bounds:
        if bound is not None:
            return min(max(0, bound), _MAX_OUTPUT_TOKENS)
    return 0


def _edits(
    api: Api, members: Members, skeleton: Skeleton, answers: int, *, stream: bool
) -> tuple[EditPoints, bool]:
    start, stop = members.span("model")
    model = Span(skeleton.place(start), skeleton.place(stop))
    if not stream or api not in _WITH_CHOICES:
        return EditPoints(model), False
    span = members.span("stream_options") if "stream_options" in members else None
    edit, wanted = usage_edit(members.raw("stream_options"), span, _first_member(skeleton.text))
    if edit is not None:
        edit = Edit(skeleton.place(edit.start), skeleton.place(edit.stop), edit.text)
    return EditPoints(model, edit, answers), wanted


def _plain_edits(text: bytes, chat: PlainChat) -> tuple[EditPoints, bool]:
    model = span_of(text, "model", chat.model)
    if not chat.stream:
        return EditPoints(model), False
    options = bytes(chat.stream_options)
    span = span_of(text, "stream_options", chat.stream_options) if options else None
    edit, wanted = usage_edit(b"" if options == b"null" else options, span, _first_member(text))
    return EditPoints(model, edit, _choices(chat.n)), wanted


def _first_member(text: bytes) -> int:
    return text.index(b"{") + 1


def _choices(asked: int | None) -> int:
    return min(max(1, asked or 1), _MAX_CHOICES)
