"""Visits on the wire: what the simulator means is what a gateway and an engine read."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.config.errors import ConfigError
from forebay.domain.ability import Ability
from forebay.simulator.workloads.ask import Ask, Block, Medium
from forebay.simulator.workloads.requests import visit
from forebay.testing.bench_live.wire import WIDEST, body_of, family, read_back, sides

RULES = family()
MARKS = 2  # around each picture


def wired(ask, number=0):
    drawn = visit(number, 1.0, ask)
    return read_back(drawn, body_of(drawn), RULES, 3.0)


@given(st.integers(1, 3_000), st.lists(st.integers(1, 60), max_size=4), st.integers(1, 500))
def test_an_engine_finds_the_sizes_that_were_drawn(text, squares, output):
    ask = Ask(text, output, tuple(Medium(Ability.IMAGE, side * side, side) for side in squares))
    found = wired(ask)
    assert (found.at, found.output_tokens) == (3.0, output)
    assert found.patches == tuple(4 * side * side for side in squares)
    assert found.prompt_tokens == text + sum(side * side + MARKS for side in squares)


@given(st.integers(1, 20_000))
def test_a_picture_takes_about_the_tokens_that_were_drawn(tokens):
    columns, rows = sides(tokens)
    assert rows <= columns <= WIDEST * rows
    assert tokens <= columns * rows <= 1.3 * tokens + 1
    assert (
        RULES.image(columns * 32, rows * 32).tokens == min(columns * rows, 16_384) or columns * rows > 16_384
    )


def test_a_picture_that_comes_again_is_the_same_bytes_and_another_is_not():
    ask = Ask(10, 5, (Medium(Ability.IMAGE, 100, 7),))
    one, two = wired(ask, 1), wired(ask, 2)
    other = wired(Ask(10, 5, (Medium(Ability.IMAGE, 100, 8),)), 3)
    hashes = [found.request.media[0].content_hash for found in (one, two, other)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_prompts_that_begin_alike_do_so_on_the_wire():
    def begins(number, *shared):
        return wired(
            Ask(1_500, 5, shared=tuple(Block(one, 512) for one in shared)), number
        ).request.prefix_blocks

    one, two, three = begins(1, 11, 12), begins(2, 11, 12), begins(3, 11, 13)
    alike = [sum(1 for a, b in zip(one, other, strict=True) if a == b) for other in (two, three)]
    assert alike == [2 * 512 * 4 // 256, 512 * 4 // 256]


def test_sound_is_refused():
    ask = Ask(10, 5, (Medium(Ability.AUDIO, 100, 7),))
    with pytest.raises(ConfigError, match="sound"):
        body_of(visit(0, 0.0, ask))


def test_a_body_says_what_it_is():
    body = msgspec.json.decode(body_of(visit(0, 0.0, Ask(5, 9))))
    assert body["modelled_output_tokens"] == 9
    assert body["stream"]
