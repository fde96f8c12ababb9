"""Batches: scenes and text turns packed into tensors, drawn from a seed and a step number alone.

A row is a prefix (turn openings and pictures) followed by segments (question and answer) that see the prefix and
themselves only. So a batch of step n can be made again without the ones before it.
"""

from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from torch import Tensor

from tinyvlm import courses, forward, scenes
from tinyvlm.questions import Ask, system_prompt, text_ask
from tinyvlm.vocabulary import END, IMAGE_PAD, VISION_END, VISION_START, encode

IGNORED = -100
IMAGE_TOKENS_IN_BATCH = 512
LAYOUTS = {"image_first": 0.82, "text_first": 0.06, "pair": 0.06, "text": 0.06}
OPEN_USER = "<|im_start|>user\n"
TO_ASSISTANT = "<|im_end|>\n<|im_start|>assistant\n"


@dataclass(frozen=True)
class Segment:
    """Tokens after the prefix, which of them are answers, and the question's kind."""

    tokens: list[int]
    answers: list[bool]
    kind: str


@dataclass(frozen=True)
class Row:
    """Tokens before the questions (IMAGE_PAD where a picture stands) and the questions."""

    prefix: list[int]
    segments: list[Segment]


@dataclass(frozen=True)
class Batch:
    """What one training step needs; `kinds` maps (row, segment) numbers in `segment` to the kind of question."""

    patches: Tensor | None
    labels: Tensor | None
    grid: tuple[int, int]
    ids: Tensor
    targets: Tensor
    positions: Tensor
    mask: Tensor
    segment: Tensor
    kinds: list[list[str]]


def step_rng(seed: int, step: int, purpose: str) -> Random:
    """The chance of one step."""
    return Random(f"tinyvlm {purpose} {seed} {step}")


def crowded_batch(rng: Random, size: int) -> tuple[Tensor, Tensor, tuple[int, int]]:
    """Patches, labels and grid of a batch of crowded pictures."""
    height, width = rng.choice([(112, 112)] * 6 + [(112, 140), (140, 112), (84, 112)])
    drawn = [
        scenes.crowded(rng, height, width)
        if rng.random() < 0.8
        else scenes.scene(rng, height, width, courses.draw_kind(rng, courses.FIRST_STAGE_KINDS))
        for _ in range(size)
    ]
    return *_pixels(drawn), (height // 14, width // 14)


def draw_batch(rng: Random, layout: str = "", course: courses.Course = courses.EVEN) -> Batch:
    """A batch of one layout (drawn where not given): all pictures of one size."""
    layout = layout or rng.choices(list(LAYOUTS), list(LAYOUTS.values()))[0]
    if layout == "text":
        return pack([_text_row(rng) for _ in range(48)], None, None, (0, 0))
    height, width = courses.choose_size(rng, course)
    tokens = height * width // 784
    count = IMAGE_TOKENS_IN_BATCH // tokens
    if layout == "pair":
        pairs = [scenes.pair(rng, height, width) for _ in range(count // 2)]
        drawn = [picture for first, second, _ in pairs for picture in (first, second)]
        prefixes = [_opening(rng) + 2 * _picture(tokens) for _ in pairs]
        rows = [Row(p, [segment([a]) for a in asks]) for p, (_, _, asks) in zip(prefixes, pairs, strict=True)]
    else:
        drawn = [_draw(rng, height, width, course) for _ in range(count)]
        make = _image_first if layout == "image_first" else _text_first
        rows = [make(rng, picture, tokens, course) for picture in drawn]
    return pack(rows, *_pixels(drawn), (height // 14, width // 14))


def segment(asks: list[Ask]) -> Segment:
    """One turn for each ask, in a row; the kind is the last one's."""
    tokens: list[int] = []
    answers: list[bool] = []
    for index, ask in enumerate(asks):
        question = encode((OPEN_USER if index else "") + ask.question + TO_ASSISTANT)
        answer = [*encode(ask.answer), END]
        tokens += [*question, *answer]
        answers += [False] * len(question) + [True] * len(answer)
        if index + 1 < len(asks):
            newline = encode("\n")
            tokens += newline
            answers += [False] * len(newline)
    return Segment(tokens, answers, asks[-1].kind)


def pack(rows: list[Row], patches: Tensor | None, labels: Tensor | None, grid: tuple[int, int]) -> Batch:
    """Tensors of equal length from rows; padding sees and is seen by nothing but itself."""
    length = max(len(r.prefix) + sum(len(s.tokens) for s in r.segments) for r in rows)
    ids, number = np.zeros((len(rows), length), np.int64), np.full((len(rows), length), -1, np.int64)
    targets, positions = (
        np.full((len(rows), length), IGNORED, np.int64),
        np.zeros((3, len(rows), length), np.int64),
    )
    for index, row in enumerate(rows):
        at = len(row.prefix)
        ids[index, :at], number[index, :at] = row.prefix, 0
        positions[:, index, :at], following = prefix_positions(row.prefix, grid)
        for segment_number, part in enumerate(row.segments, 1):
            end = at + len(part.tokens)
            ids[index, at:end], number[index, at:end] = part.tokens, segment_number
            positions[:, index, at:end] = following + np.arange(len(part.tokens))
            wanted = np.where(part.answers, part.tokens, IGNORED)
            targets[index, at : end - 1] = wanted[1:]
            at = end
    seg = torch.from_numpy(number)
    same = (seg[:, :, None] == seg[:, None, :]) | (seg[:, None, :] == 0)
    mask = same & torch.ones(length, length, dtype=torch.bool).tril()
    kinds = [[s.kind for s in row.segments] for row in rows]
    return Batch(
        patches,
        labels,
        grid,
        *(torch.from_numpy(a) for a in (ids, targets, positions)),
        mask[:, None],
        seg,
        kinds,
    )


def prefix_positions(prefix: list[int], grid: tuple[int, int]) -> tuple[np.ndarray, int]:
    """Qwen2-VL's positions [3, T] (time, row, column) of a prefix, and the position that follows it."""
    rows, columns = grid[0] // 2, grid[1] // 2
    out, following, index = np.zeros((3, len(prefix)), np.int64), 0, 0
    while index < len(prefix):
        if prefix[index] == IMAGE_PAD:
            span = slice(index, index + rows * columns)
            out[0, span] = following
            out[1, span] = following + np.repeat(np.arange(rows), columns)
            out[2, span] = following + np.tile(np.arange(columns), rows)
            index, following = span.stop, following + max(rows, columns)
        else:
            out[:, index] = following
            index, following = index + 1, following + 1
    return out, following


def _pixels(drawn: list[scenes.Scene]) -> tuple[Tensor, Tensor]:
    pictures = torch.from_numpy(np.stack([picture.pixels for picture in drawn]))
    labels = torch.from_numpy(np.stack([picture.labels for picture in drawn]))
    return forward.to_patches(pictures), forward.to_blocks(labels)


def _draw(rng: Random, height: int, width: int, course: courses.Course) -> scenes.Scene:
    if course.barred and rng.random() < course.barred:
        return scenes.barred_scene(rng, height, width, course)
    return scenes.scene(rng, height, width, course=course)


def _opening(rng: Random) -> list[int]:
    system = f"<|im_start|>system\n{system_prompt(rng)}<|im_end|>\n" if rng.random() < 0.35 else ""
    return [*encode(system + OPEN_USER)]


def _picture(tokens: int) -> list[int]:
    return [VISION_START, *[IMAGE_PAD] * tokens, VISION_END]


def _spoken(rng: Random, ask: Ask) -> Ask:
    if rng.random() < 0.1:
        return Ask(ask.kind, ask.question.lower().rstrip("?."), ask.answer)
    return ask


def _image_first(rng: Random, picture: scenes.Scene, tokens: int, course: courses.Course) -> Row:
    asks = [_spoken(rng, ask) for ask in rng.sample(picture.asks, min(4, len(picture.asks)))]
    if course.counts and all(ask.kind != "count" for ask in asks):
        asks += [ask for ask in picture.asks if ask.kind == "count"]
    turns = [[ask] for ask in asks]
    if len(asks) > 1 and rng.random() < 0.12:
        turns = [asks[:2], *turns[2:]]
    return Row(_opening(rng) + _picture(tokens), [segment(turn) for turn in turns])


def _text_first(rng: Random, picture: scenes.Scene, tokens: int, _: courses.Course) -> Row:
    ask = rng.choice(picture.asks)
    answer = Segment(*_answer_only(ask), ask.kind)
    return Row([*_opening(rng), *encode(ask.question), *_picture(tokens)], [answer])


def _answer_only(ask: Ask) -> tuple[list[int], list[bool]]:
    opening, answer = encode(TO_ASSISTANT), [*encode(ask.answer), END]
    return [*opening, *answer], [False] * len(opening) + [True] * len(answer)


def _text_row(rng: Random) -> Row:
    return Row(_opening(rng), [segment([_spoken(rng, text_ask(rng))]) for _ in range(4)])
