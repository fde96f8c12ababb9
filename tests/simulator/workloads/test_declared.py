"""The synthetic mixes are what they declare."""

import random
import statistics
from itertools import islice

import msgspec
import pytest

from forebay.domain.ability import Ability
from forebay.simulator.workloads.live_commerce import LiveCommerce
from forebay.simulator.workloads.vqa import ShortAnswers


def drawn(workload, count=5000, seed=1):
    return list(islice(workload.asks(random.Random(seed)), count))


def test_short_answers_have_none_one_or_ten_pictures():
    asks = drawn(ShortAnswers())
    counts = [len(ask.media) for ask in asks]
    assert set(counts) == {0, 1, 10}
    assert counts.count(10) / len(counts) == pytest.approx(0.1, abs=0.02)
    assert statistics.fmean(ask.output_tokens for ask in asks) == pytest.approx(15, abs=1)
    assert {each.patches for ask in asks for each in ask.media} == {2304}


@pytest.mark.parametrize("wrong", [{"weights": (1.0,)}, {"weights": (0.0, 0.0, 0.0)}])
def test_each_number_of_pictures_has_a_weight(wrong):
    with pytest.raises(msgspec.ValidationError, match="one for each of `image_counts`"):
        msgspec.convert(wrong, ShortAnswers)


def test_live_commerce_has_pictures_speech_and_long_text_behind_the_same_instructions():
    asks = drawn(LiveCommerce())
    kinds = [{each.modality for each in ask.media} for ask in asks]
    assert sum(Ability.IMAGE in each for each in kinds) / len(asks) == pytest.approx(0.6, abs=0.03)
    assert sum(Ability.AUDIO in each for each in kinds) / len(asks) == pytest.approx(0.4, abs=0.03)
    assert len({ask.shared for ask in asks}) == 1
    assert statistics.median(ask.text_tokens - 512 for ask in asks) == pytest.approx(900, rel=0.1)
    assert max(len(ask.media) for ask in asks) > 5
    heard = [each.identity for ask in asks for each in ask.media if each.modality is Ability.AUDIO]
    assert len(set(heard)) == len(heard)
    seen = [each.identity for ask in asks for each in ask.media if each.modality is Ability.IMAGE]
    assert len(set(seen)) < 0.8 * len(seen)
