"""From an ask to the request that the intake would make of it, and to what the engine will find."""

from collections.abc import Iterable, Iterator

import xxhash

from forebay.domain.ability import Ability
from forebay.domain.request import Api, InferenceRequest, MediaItem, TextMeasure
from forebay.intake.prefix import BLOCK_TOKENS, MAX_BLOCKS
from forebay.simulator.visits import Visit
from forebay.simulator.workloads.ask import Ask, Block, Medium

MODEL = "m"
BYTES_PER_TOKEN = 4
# A JPEG of 2 bits a pixel: 256 pixels of a patch are 64 bytes. In a data URL they are 4/3 as long.
BYTES_PER_PATCH = 64
_MIME = {Ability.IMAGE: "image/jpeg", Ability.AUDIO: "audio/wav"}
# Squares of 16 x 16 pixels.
PATCH_PIXELS = 16


def visit(number: int, at: float, ask: Ask) -> Visit:
    """The `number`th ask of a run, which arrives at `at` seconds."""
    media = tuple(_item(place, medium) for place, medium in enumerate(ask.media))
    prompt_tokens = ask.text_tokens + sum(medium.tokens for medium in ask.media)
    body_bytes = BYTES_PER_TOKEN * ask.text_tokens + sum(item.size_bytes for item in media) * 4 // 3
    hashes, ends = _seen(number, ask)
    request = InferenceRequest(
        f"v{number}",
        Api.CHAT,
        MODEL,
        _needs(media),
        TextMeasure(ascii_bytes=BYTES_PER_TOKEN * ask.text_tokens, messages=1),
        media,
        prefix_blocks=hashes,
        prefix_tokens=ends,
        stream=True,
        body_bytes=body_bytes,
    )
    shared_hashes, shared_ends = _chain(ask.shared)
    return Visit(
        at,
        request,
        prompt_tokens,
        ask.output_tokens,
        tuple(medium.patches for medium in ask.media),
        shared_hashes,
        shared_ends,
    )


def _needs(media: Iterable[MediaItem]) -> Ability:
    needs = Ability.TEXT | Ability.CHAT
    for item in media:
        needs |= item.modality
    return needs


def _item(place: int, medium: Medium) -> MediaItem:
    side = PATCH_PIXELS * round(medium.patches**0.5) if medium.modality is Ability.IMAGE else 0
    return MediaItem(
        medium.modality,
        0,
        place + 1,
        _MIME[medium.modality],
        width=side,
        height=side,
        size_bytes=BYTES_PER_PATCH * medium.patches,
        content_hash=medium.identity,
        tokens=medium.tokens,
        encoder_patches=medium.patches,
        exact=True,
    )


def _seen(number: int, ask: Ask) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What the intake makes of the prompt: its blocks are smaller than the shared ones, and it looks at the first ones only.

    The text stands first, and its part that nobody shares is this request's own; then come the media.
    """
    return _chain(_first(_small(number, ask), MAX_BLOCKS))


def _small(number: int, ask: Ask) -> Iterator[Block]:
    own = ask.text_tokens
    for block in ask.shared:
        own -= block.tokens
        for part in range(block.tokens // BLOCK_TOKENS):
            yield Block(block.identity * 1_024 + part, BLOCK_TOKENS)
    for part in range(max(0, own) // BLOCK_TOKENS):
        yield Block(-(number * 1_024 + part) - 1, BLOCK_TOKENS)
    for medium in ask.media:
        yield Block(medium.identity, medium.tokens)


def _first(blocks: Iterable[Block], count: int) -> Iterator[Block]:
    for _, block in zip(range(count), blocks, strict=False):
        yield block


def _chain(blocks: Iterable[Block]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Chained hashes, and the tokens up to the end of each block."""
    hashes, ends = [], []
    seed, covered = 0, 0
    for block in blocks:
        seed = xxhash.xxh3_64_intdigest(block.identity.to_bytes(24, signed=True), seed)
        covered += block.tokens
        hashes.append(seed)
        ends.append(covered)
    return tuple(hashes), tuple(ends)
