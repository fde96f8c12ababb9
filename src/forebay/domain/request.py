"""A request as Forebay understands it: one shape for every API, without its bytes."""

import enum

import msgspec

from forebay.domain.ability import Ability

ANYWHERE = -1


class Api(enum.StrEnum):
    """The way in. The value is the public path; the ability that it takes has the same name."""

    CHAT = "/v1/chat/completions"
    COMPLETIONS = "/v1/completions"
    EMBEDDINGS = "/v1/embeddings"
    MESSAGES = "/v1/messages"
    RESPONSES = "/v1/responses"
    COUNT_TOKENS = "/v1/messages/count_tokens"
    TRANSCRIPTIONS = "/v1/audio/transcriptions"
    TRANSLATIONS = "/v1/audio/translations"
    SPEECH = "/v1/audio/speech"
    IMAGES = "/v1/images/generations"
    IMAGE_EDITS = "/v1/images/edits"
    IMAGE_VARIATIONS = "/v1/images/variations"
    RERANK = "/v1/rerank"
    SCORE = "/v1/score"
    CLASSIFY = "/classify"
    POOLING = "/pooling"
    TOKENIZE = "/tokenize"
    DETOKENIZE = "/detokenize"

    @property
    def ability(self) -> Ability:
        """What an endpoint must have to serve it."""
        return Ability[self.name]

    @property
    def is_anthropic(self) -> bool:
        """Whether its clients speak Anthropic's dialect, in errors too; else it is OpenAI's."""
        return self in _ANTHROPIC


_ANTHROPIC = frozenset([Api.MESSAGES, Api.COUNT_TOKENS])


class TextMeasure(msgspec.Struct, frozen=True, gc=False):
    """How much text a request holds, by script, counted in bytes of UTF-8.

    Scripts are told apart by the length of their encoding, which is what decides how a byte-level tokenizer splits
    them: ASCII, two-byte alphabets (accented Latin, Cyrillic, Greek, Arabic ...), three-byte scripts (CJK, Indic,
    Thai ...), four-byte signs (emoji ...). `messages` counts turns, each of which costs template tokens.
    """

    ascii_bytes: int = 0
    two_byte_bytes: int = 0
    three_byte_bytes: int = 0
    four_byte_bytes: int = 0
    messages: int = 0


class MediaItem(msgspec.Struct, frozen=True, gc=False):
    """One picture, sound or clip, as told by its header, priced by the served model's own rules.

    `width`, `height` in pixels and `duration_us` are 0 when unknown. `frames` is 1 for a still picture.
    `content_hash` is the xxh3-128 of the decoded bytes, 0 for media that was not in the request (a URL): it routes,
    and must never key a cache. `tokens` counts places in the sequence without wrapper tokens, `wrapper_tokens` the
    marks around them, `encoder_patches` what the encoder reads. `exact` is False for a fallback price.
    """

    modality: Ability
    message_index: int
    part_index: int
    mime: str
    width: int = 0
    height: int = 0
    frames: int = 1
    duration_us: int = 0
    orientation: int = 1
    size_bytes: int = 0
    content_hash: int = 0
    tokens: int = 0
    wrapper_tokens: int = 0
    encoder_patches: int = 0
    exact: bool = False


class InferenceRequest(msgspec.Struct, frozen=True, gc=False):
    """What a client asked for. Never holds text or media bytes.

    `model` is the name as the client wrote it; `max_output_tokens` is 0 when not stated. `prefix_blocks` are chained
    hashes of the prompt's first blocks, media included, first block first: equal lists of hashes mean equal prompts
    so far; `prefix_tokens` tells about how many tokens the prompt has up to the end of each. `needs` are the abilities
    that an endpoint must have. `prompts` counts the prompts or inputs of a batch, all measured together, and `choices`
    the answers wanted to each; both are at least 1. `tenant` stands for the key that the client showed, and is empty
    where none is asked for: what is remembered of one tenant's prompts tells nothing to another. `only_slot` is the one
    endpoint that holds what the request goes on from, or ANYWHERE.
    """

    request_id: str
    api: Api
    model: str
    needs: Ability
    text: TextMeasure
    media: tuple[MediaItem, ...] = ()
    prefix_blocks: tuple[int, ...] = ()
    prefix_tokens: tuple[int, ...] = ()
    stream: bool = False
    usage_wanted: bool = False
    max_output_tokens: int = 0
    body_bytes: int = 0
    prompts: int = 1
    choices: int = 1
    tenant: str = ""
    only_slot: int = ANYWHERE


class Demand(msgspec.Struct, frozen=True, gc=False):
    """What a request will use, free of any device. `exact` tells whether every media price is; text is an estimate.

    `prompts` tells into how many sequences the prompt tokens are split, at least 1.
    """

    text_tokens: int
    image_tokens: int
    audio_tokens: int
    video_tokens: int
    encoder_patches: int
    expected_output_tokens: int
    body_bytes: int
    exact: bool
    prompts: int = 1

    @property
    def prompt_tokens(self) -> int:
        """Places in the sequence before the first output token."""
        return self.text_tokens + self.image_tokens + self.audio_tokens + self.video_tokens

    @property
    def media_tokens(self) -> int:
        """The part of the prompt that is not text."""
        return self.image_tokens + self.audio_tokens + self.video_tokens

    @property
    def kv_tokens(self) -> int:
        """KV-cache tokens held when the request ends."""
        return self.prompt_tokens + self.expected_output_tokens
