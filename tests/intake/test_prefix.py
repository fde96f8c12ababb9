from hypothesis import given
from hypothesis import strategies as st

from forebay.intake.prefix import BLOCK_BYTES, BLOCK_TOKENS, MAX_BLOCKS, Medium, prefix_of

MEDIA = st.builds(Medium, st.integers(0, 2**128 - 1), st.integers(1, 5_000))
SEGMENTS = st.lists(st.text(max_size=600) | MEDIA, max_size=8)
SEVEN, EIGHT = Medium(7, 400), Medium(8, 400)


def blocks(*segments):
    return prefix_of(segments).blocks


def test_only_full_blocks_count_at_the_end():
    text = "a" * BLOCK_BYTES
    assert blocks(text[:-1]) == ()
    assert len(blocks(text)) == 1
    assert blocks(text, "b" * 100) == blocks(text)


def test_a_medium_and_the_words_before_it_are_one_block():
    assert len(blocks("what is it", SEVEN, "tail")) == 1
    assert blocks("what is it", SEVEN) != blocks("what is it", EIGHT)
    assert blocks("what is it", SEVEN) != blocks("where is it", SEVEN)
    text = "a" * (BLOCK_BYTES + 5)
    assert len(blocks(text, SEVEN)) == 2
    assert blocks(text, SEVEN)[0] == blocks(text, EIGHT)[0]


def test_each_block_tells_how_many_tokens_it_ends_at():
    text = "a" * (2 * BLOCK_BYTES + 40)
    assert prefix_of([text, SEVEN, text]).tokens == (
        BLOCK_TOKENS,
        2 * BLOCK_TOKENS,
        2 * BLOCK_TOKENS + 10 + 400,
        3 * BLOCK_TOKENS + 10 + 400,
        4 * BLOCK_TOKENS + 10 + 400,
    )


def test_blocks_are_chained():
    first, second = "a" * BLOCK_BYTES, "b" * BLOCK_BYTES
    assert blocks(second)[0] != blocks(first, second)[1]


def test_there_is_a_bound():
    assert len(blocks("a" * BLOCK_BYTES * 100)) == MAX_BLOCKS
    assert len(blocks(*[Medium(number, 1) for number in range(100)])) == MAX_BLOCKS
    assert len(blocks("a" * BLOCK_BYTES * 100, SEVEN)) == MAX_BLOCKS


@given(SEGMENTS, SEGMENTS)
def test_a_longer_prompt_keeps_the_hashes_of_its_beginning(begin, more):
    assert blocks(*begin, *more)[: len(blocks(*begin))] == blocks(*begin)


@given(SEGMENTS)
def test_how_text_is_cut_into_segments_does_not_matter(segments):
    halved = [
        piece
        for segment in segments
        for piece in ((segment[:7], segment[7:]) if isinstance(segment, str) else (segment,))
    ]
    assert blocks(*halved) == blocks(*segments)
