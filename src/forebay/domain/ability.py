"""What an endpoint can take, and what a request needs, as one set of flags."""

import enum
import functools
import operator


class Ability(enum.IntFlag):
    """An endpoint may serve a request when it has every flag that the request needs.

    Formats are flags too: engines differ in their image decoders, and a picture in a format that one of them drops in
    silence must go to another.
    """

    TEXT = enum.auto()
    IMAGE = enum.auto()
    AUDIO = enum.auto()
    VIDEO = enum.auto()

    CHAT = enum.auto()
    COMPLETIONS = enum.auto()
    EMBEDDINGS = enum.auto()
    MESSAGES = enum.auto()

    JPEG = enum.auto()
    PNG = enum.auto()
    GIF = enum.auto()
    BMP = enum.auto()
    WEBP = enum.auto()
    TIFF = enum.auto()
    HEIC = enum.auto()
    AVIF = enum.auto()

    RESPONSES = enum.auto()
    COUNT_TOKENS = enum.auto()
    TRANSCRIPTIONS = enum.auto()
    TRANSLATIONS = enum.auto()
    SPEECH = enum.auto()
    IMAGES = enum.auto()
    IMAGE_EDITS = enum.auto()
    IMAGE_VARIATIONS = enum.auto()
    RERANK = enum.auto()
    SCORE = enum.auto()
    CLASSIFY = enum.auto()
    POOLING = enum.auto()
    TOKENIZE = enum.auto()
    DETOKENIZE = enum.auto()


# APIs whose answers are written token by token; those of the others are done with the prompt.
WRITING = (
    Ability.CHAT
    | Ability.COMPLETIONS
    | Ability.MESSAGES
    | Ability.RESPONSES
    | Ability.TRANSCRIPTIONS
    | Ability.TRANSLATIONS
    | Ability.SPEECH
    | Ability.IMAGES
    | Ability.IMAGE_EDITS
    | Ability.IMAGE_VARIATIONS
)
ANY_FORMAT = (
    Ability.JPEG
    | Ability.PNG
    | Ability.GIF
    | Ability.BMP
    | Ability.WEBP
    | Ability.TIFF
    | Ability.HEIC
    | Ability.AVIF
)
ANY_API = functools.reduce(
    operator.or_, (flag for flag in Ability if flag not in ANY_FORMAT and flag > Ability.VIDEO)
)
# By MIME type.
IMAGE_FORMATS = {f"image/{flag.name.lower()}": flag for flag in ANY_FORMAT if flag.name}
MODALITIES = (Ability.TEXT, Ability.IMAGE, Ability.AUDIO, Ability.VIDEO)


def names(flags: Ability) -> list[str]:
    """Lower-case names of the flags that are set, for people and JSON."""
    return [flag.name.lower() for flag in Ability if flag in flags and flag.name]


class Role(enum.IntFlag):
    """The stages that an endpoint runs. An ordinary engine runs all three."""

    ENCODE = enum.auto()
    PREFILL = enum.auto()
    DECODE = enum.auto()
    ALL = ENCODE | PREFILL | DECODE
