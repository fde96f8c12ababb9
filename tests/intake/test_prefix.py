from hypothesis import given
from hypothesis import strategies as st

from forebay.intake.prefix import BLOCK_BYTES, MAX_BLOCKS, prefix_blocks

SEGMENTS = st.lists(st.text(max_size=600) | st.integers(0, 2**128 - 1), max_size=8)


def test_only_full_blocks_count_at_the_end():
    text = "a" * BLOCK_BYTES
    assert prefix_blocks([text[:-1]]) == ()
    assert len(prefix_blocks([text])) == 1
    assert prefix_blocks([text, "b" * 100]) == prefix_blocks([text])


def test_media_close_a_block_and_are_one():
    assert len(prefix_blocks(["what is it", 7, "tail"])) == 2
    assert prefix_blocks(["what is it", 7])[0] == prefix_blocks(["what is it", 8])[0]
    assert prefix_blocks(["what is it", 7])[1] != prefix_blocks(["what is it", 8])[1]


def test_blocks_are_chained():
    first, second = "a" * BLOCK_BYTES, "b" * BLOCK_BYTES
    assert prefix_blocks([second])[0] != prefix_blocks([first, second])[1]


def test_there_is_a_bound():
    assert len(prefix_blocks(["a" * BLOCK_BYTES * 100])) == MAX_BLOCKS
    assert len(prefix_blocks(list(range(100)))) == MAX_BLOCKS
    assert len(prefix_blocks(["a" * BLOCK_BYTES * 100, 1])) == MAX_BLOCKS


@given(SEGMENTS, SEGMENTS)
def test_a_longer_prompt_keeps_the_hashes_of_its_beginning(begin, more):
    assert prefix_blocks(begin + more)[: len(prefix_blocks(begin))] == prefix_blocks(begin)


@given(SEGMENTS)
def test_how_text_is_cut_into_segments_does_not_matter(segments):
    halved = [
        piece
        for segment in segments
        for piece in ((segment[:7], segment[7:]) if isinstance(segment, str) else (segment,))
    ]
    assert prefix_blocks(halved) == prefix_blocks(segments)
