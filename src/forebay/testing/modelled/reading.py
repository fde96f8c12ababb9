"""How a modelled engine reads a request: as Forebay's own intake does, and what it was told of the answer's length."""

from collections.abc import Mapping

import msgspec

from forebay.domain.request import Api, InferenceRequest
from forebay.intake.refusal import bad_request
from forebay.intake.settings import IntakeSettings
from forebay.intake.tokens.family import Family
from forebay.intake.understand import understand
from forebay.testing.modelled.words import WORDS

BYTES_PER_TOKEN = 4
APIS: Mapping[str, Api] = {api.value: api for api in (Api.CHAT, Api.COMPLETIONS)}

_SETTINGS = IntakeSettings()


class _StreamOptions(msgspec.Struct):
    include_usage: bool = False
    continuous_usage_stats: bool = False


class _Ask(msgspec.Struct):
    stream: bool | None = False
    stream_options: _StreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    # How long the answer will be, which no balancer knows. vLLM ignores unknown fields.
    modelled_output_tokens: int | None = None


_read_ask = msgspec.json.Decoder(_Ask).decode


class Asked(msgspec.Struct, frozen=True):
    """One request as the engine will work on it: sizes that are true here by definition."""

    request: InferenceRequest
    prompt_tokens: int
    output_tokens: int
    stream: bool
    usage: bool
    usage_always: bool

    @property
    def patches(self) -> list[int]:
        """Of each medium, what the encoder reads."""
        return [item.encoder_patches for item in self.request.media]


def read(api: Api, body: bytes, family: Family, request_id: str = "") -> Asked:
    """Read a body. Raises Refusal.

    Without `modelled_output_tokens` the answer is as long as the request allows, or a sentence where it says nothing.
    """
    request = understand(api, body, _SETTINGS, request_id, lambda _model: family).request
    try:
        ask = _read_ask(body)
    except msgspec.DecodeError as error:
        raise bad_request("invalid_body", str(error)) from None
    bound = ask.max_completion_tokens or ask.max_tokens
    wanted = ask.modelled_output_tokens or bound or len(WORDS)
    options = ask.stream_options or _StreamOptions()
    return Asked(
        request,
        prompt_tokens(request),
        max(1, min(wanted, bound or wanted)),
        bool(ask.stream),
        options.include_usage,
        options.continuous_usage_stats,
    )


def prompt_tokens(request: InferenceRequest) -> int:
    """Tokens of the whole prompt, at least 1: a token for every four bytes of text, and what each medium takes."""
    text = request.text
    written = text.ascii_bytes + text.two_byte_bytes + text.three_byte_bytes + text.four_byte_bytes
    media = sum(item.tokens + item.wrapper_tokens for item in request.media)
    return max(1, written // BYTES_PER_TOKEN + media)
