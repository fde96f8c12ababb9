"""Hypothesis strategies for Forebay's values. Needs the `testing` extra."""

from hypothesis import strategies as st

from forebay.domain.ability import Ability
from forebay.domain.outcome import FailureKind, Usage
from forebay.domain.request import Api, InferenceRequest, MediaItem, TextMeasure
from forebay.testing import build

SMALL = st.integers(0, 5_000)

text_measures: st.SearchStrategy[TextMeasure] = st.builds(
    TextMeasure,
    ascii_bytes=SMALL,
    two_byte_bytes=SMALL,
    three_byte_bytes=SMALL,
    four_byte_bytes=SMALL,
    messages=st.integers(0, 20),
)

pictures: st.SearchStrategy[MediaItem] = st.builds(
    build.picture, st.integers(1, 5_000), content_hash=st.integers(1, 50), exact=st.booleans()
)

usages: st.SearchStrategy[Usage] = st.builds(Usage, SMALL, SMALL, SMALL, st.booleans())

failure_kinds: st.SearchStrategy[FailureKind] = st.sampled_from(FailureKind)


@st.composite
def requests(draw: st.DrawFn, request_id: str = "r") -> InferenceRequest:
    """A chat for model `m`, of text and perhaps some pictures."""
    media = tuple(draw(st.lists(pictures, max_size=3)))
    needs = Ability.TEXT | Ability.CHAT | (Ability.IMAGE if media else Ability(0))
    blocks = tuple(draw(st.lists(st.integers(1, 30), max_size=4)))
    return build.request(
        request_id,
        api=Api.CHAT,
        needs=needs,
        text=draw(text_measures),
        media=media,
        stream=draw(st.booleans()),
        max_output_tokens=draw(st.integers(0, 500)),
        prefix_blocks=blocks,
        prefix_tokens=tuple(64 * (place + 1) for place in range(len(blocks))),
    )
