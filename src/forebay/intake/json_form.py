"""APIs whose bodies are JSON objects that name their model: how any of them is read."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from forebay.domain.ability import Ability
from forebay.domain.request import ANYWHERE, Api, InferenceRequest
from forebay.intake.cache_keys import SALTS, salt_edits, uuid_edits
from forebay.intake.document import check_document, malformed
from forebay.intake.engine_keys import ENGINE_KEYS, refuse_engine_keys
from forebay.intake.form import Incoming, Replies, Seat, Understood
from forebay.intake.media_reader import MediaReader
from forebay.intake.members import Members, Span, check_hidden_media
from forebay.intake.prompt import Prompt
from forebay.intake.refusal import bad_request
from forebay.intake.settings import IntakeSettings
from forebay.intake.skeleton import Skeleton
from forebay.intake.splice import Edit, EditPoints, usage_edit

COMMON = ENGINE_KEYS | frozenset(
    ["model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n", *SALTS]
)
# vLLM's way to give one request other resolutions or frame rates.
_PROCESSOR_KEYS = ("mm_processor_kwargs", "media_io_kwargs")
_RARE = frozenset([*_PROCESSOR_KEYS, *SALTS, *ENGINE_KEYS])
_TEXT = msgspec.json.Decoder(str)
_FLAG = msgspec.json.Decoder(bool)
_NUMBER = msgspec.json.Decoder(int)
# No engine's context is longer; larger numbers mean "no bound".
_MAX_OUTPUT_TOKENS = 1 << 31
_MAX_CHOICES = 1 << 16


def _nothing_short(_skeleton: Skeleton, _incoming: Incoming, _sensitive: frozenset[str]) -> Understood | None:
    return None


@dataclass(frozen=True, slots=True)
class JsonForm:
    """One API with JSON bodies.

    `read` reads the prompt out of the members. `sensitive` are the keys that it reads,
    COMMON among them, which may come once only. `bounds`
    are the keys of the bound on the output, the first given counts. `prompts` counts the prompts of a batch. `choices` tells
    that `n` answers are written and that a stream must be asked for its usage. `paths` are further ones that mean the same.
    `goes_on` is the key of the id of a kept response that the prompt goes on from.
    `short` is a quicker way for the commonest bodies, or None when a body is not one of those.
    """

    api: Api
    read: Callable[[Members, Prompt], None]
    sensitive: frozenset[str]
    bounds: tuple[str, ...] = ()
    prompts: Callable[[Members], int] | None = None
    choices: bool = False
    replies: Replies = Replies.CHUNKS
    paths: tuple[str, ...] = ()
    goes_on: str = ""
    short: Callable[[Skeleton, Incoming, frozenset[str]], Understood | None] = _nothing_short

    @property
    def routes(self) -> Sequence[tuple[str, str]]:
        """See Form."""
        return [("POST", path) for path in (self.api.value, *self.paths)]

    def understand(self, incoming: Incoming) -> Understood:
        """See Form."""
        skeleton = Skeleton(incoming.body)
        return self.short(skeleton, incoming, self.sensitive) or self._read(skeleton, incoming)

    def _read(self, skeleton: Skeleton, incoming: Incoming) -> Understood:
        settings = incoming.settings
        members = members_of(skeleton, self.sensitive, settings)
        model = _model(members, skeleton)
        rare = members.holds_any(_RARE)
        if rare and not settings.trust_engine_keys:
            refuse_engine_keys(members)
        overridden = rare and any(members.raw(key) for key in _PROCESSOR_KEYS)
        media = MediaReader(incoming.family_of(model), settings, skeleton, overridden=overridden)
        prompt = Prompt(media, skeleton, settings)
        self.read(members, prompt)
        media.check_budget()
        if prompt.turns or prompt.holds_parts:
            check_hidden_media(
                skeleton.text,
                prompt.keys_read,
                holds_parts=prompt.holds_parts,
                holds_unseen=prompt.holds_unseen,
            )
        _check_rest(skeleton)
        stream = members.get("stream", _FLAG) or False
        prompts = self.prompts(members) if self.prompts else 1
        choices = choices_of(members.get("n", _NUMBER)) if self.choices else 1
        edits, usage_wanted = self._edits(members, skeleton, prompts * choices, stream=stream)
        seat = self._seat(members, incoming)
        if seat is not None:
            edit = Edit(*self._span(members, skeleton, self.goes_on), msgspec.json.encode(seat.engine_id))
            edits = msgspec.structs.replace(edits, always=(*edits.always, edit))
        if (rare or prompt.uuids) and not settings.trust_cache_keys:
            edits = _with_own_keys(edits, members, skeleton, prompt, incoming.tenant)
        prefix = prompt.prefix()
        needs = needs_of(self.api)
        request = InferenceRequest(
            request_id=incoming.request_id,
            api=self.api,
            model=model,
            needs=needs | media.needs if media.items else needs,
            text=prompt.measure(),
            media=tuple(media.items),
            prefix_blocks=prefix.blocks,
            prefix_tokens=prefix.tokens,
            stream=stream,
            usage_wanted=usage_wanted,
            max_output_tokens=bound_of(members.get(key, _NUMBER) for key in self.bounds),
            body_bytes=len(incoming.body),
            prompts=prompts,
            choices=choices,
            tenant=incoming.tenant,
            only_slot=ANYWHERE if seat is None else seat.slot,
        )
        return Understood(request, edits, self.replies)

    def _seat(self, members: Members, incoming: Incoming) -> Seat | None:
        held_id = members.get(self.goes_on, _TEXT) if self.goes_on else None
        return None if held_id is None else incoming.seat_of(held_id, incoming.tenant, self.goes_on)

    def _edits(
        self, members: Members, skeleton: Skeleton, answers: int, *, stream: bool
    ) -> tuple[EditPoints, bool]:
        model = self._span(members, skeleton, "model")
        if not stream or not self.choices:
            return EditPoints(model), False
        span = members.span("stream_options") if "stream_options" in members else None
        edit, wanted = usage_edit(members.raw("stream_options"), span, first_member(skeleton.text))
        if edit is not None:
            edit = Edit(skeleton.place(edit.start), skeleton.place(edit.stop), edit.text)
        return EditPoints(model, edit, answers), wanted

    @staticmethod
    def _span(members: Members, skeleton: Skeleton, key: str) -> Span:
        """Where the value of a key lies in the body."""
        start, stop = members.span(key)
        return Span(skeleton.place(start), skeleton.place(stop))


# Flags are dear to make from a name.
_NEEDS = {api: Ability.TEXT | api.ability for api in Api}


def needs_of(api: Api) -> Ability:
    """What an endpoint must have for a request without media."""
    return _NEEDS[api]


def members_of(skeleton: Skeleton, sensitive: frozenset[str], settings: IntakeSettings) -> Members:
    """The members of a body. Raises a Refusal when it is no sound JSON object, or repeats a sensitive key."""
    check_document(skeleton.text, settings)
    try:
        return Members(skeleton.text, sensitive)
    except msgspec.ValidationError:
        raise bad_request("invalid_body", "the body is not a JSON object") from None
    except (msgspec.DecodeError, RecursionError):
        raise malformed() from None


def _with_own_keys(
    edits: EditPoints, members: Members, skeleton: Skeleton, prompt: Prompt, tenant: str
) -> EditPoints:
    """With the keys for an engine's caches made the tenant's own."""
    own = salt_edits(members, skeleton, tenant)
    if prompt.uuids:
        own += uuid_edits(skeleton, prompt.uuids)
    return msgspec.structs.replace(edits, always=(*edits.always, *own)) if own else edits


def bound_of(bounds: Iterable[int | None]) -> int:
    """The client's bound, 0 for none. llama.cpp's clients write -1 for that. The first that is given counts."""
    for bound in bounds:
        if bound is not None:
            return min(max(0, bound), _MAX_OUTPUT_TOKENS)
    return 0


def choices_of(asked: int | None) -> int:
    """How many answers `n` asks for, at least 1."""
    return min(max(1, asked or 1), _MAX_CHOICES)


def first_member(text: bytes) -> int:
    """Where a first member can be put into an object."""
    return text.index(b"{") + 1


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
