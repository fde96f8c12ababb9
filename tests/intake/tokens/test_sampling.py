"""How many frames of a clip are taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.intake.tokens.sampling import AssumedClip, FrameSampling


@pytest.mark.parametrize(
    ("sampling", "frames", "seconds", "multiple", "taken"),
    [
        (FrameSampling(), 300, 10, 2, 20),
        (FrameSampling(max_frames=32), 3000, 100, 1, 32),
        (FrameSampling(num_frames=512), 300, 10, 2, 300),
        (FrameSampling(num_frames=32), 300, 10, 2, 32),
        (FrameSampling(), 300, 1, 2, 4),
        (FrameSampling(), 3, 1, 2, 2),
        (FrameSampling(), 3, 1, 1, 3),
        (FrameSampling(), 1, 1, 2, 1),
        (FrameSampling(fps=1.5), 300, 10, 2, 14),
    ],
)
def test_count(sampling, frames, seconds, multiple, taken):
    assert sampling.count(frames, seconds * 1_000_000, multiple) == taken


@given(st.integers(1, 10**6), st.integers(1, 10**10), st.integers(1, 4), st.integers(1, 1000))
def test_never_none_and_never_more_than_there_are(frames, duration_us, multiple, num_frames):
    for sampling in (FrameSampling(), FrameSampling(num_frames=num_frames)):
        assert 1 <= sampling.count(frames, duration_us, multiple) <= frames


@pytest.mark.parametrize(
    ("told", "filled"),
    [
        ((64, 48, 90, 3_000_000), (64, 48, 90, 3_000_000, True)),
        ((0, 0, 0, 0), (1280, 720, 900, 30_000_000, False)),
        ((64, 48, 0, 2_000_000), (64, 48, 60, 2_000_000, False)),
        ((64, 48, 60, 0), (64, 48, 60, 2_000_000, False)),
        ((64, 0, 0, 1), (1280, 720, 1, 1, False)),
    ],
)
def test_unknown_measures_are_filled_in_from_known_ones_and_else_assumed(told, filled):
    assert tuple(AssumedClip().fill(*told)) == filled


def test_what_is_assumed_is_a_setting():
    assumed = AssumedClip(width=320, height=240, seconds=5, frames_per_second=10)
    assert tuple(assumed.fill(0, 0, 0, 0)) == (320, 240, 50, 5_000_000, False)
