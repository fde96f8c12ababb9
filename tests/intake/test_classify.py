"""Classifying and pooling: the same input."""

import base64

import pytest

from forebay.domain.ability import Ability
from forebay.domain.request import Api


@pytest.mark.parametrize("api", [Api.CLASSIFY, Api.POOLING])
def test_inputs_and_messages(read, api):
    assert read({"model": "m", "input": ["ab", "c"]}, api).request.text.ascii_bytes == 3
    assert (
        read({"model": "m", "messages": [{"role": "user", "content": "abcd"}]}, api).request.text.ascii_bytes
        == 4
    )


@pytest.mark.parametrize("api", [Api.CLASSIFY, Api.POOLING])
def test_p13_a_sound_is_a_sound(read, case, api):
    sound = {"data": base64.b64encode(case("p13_tone_1500ms_8k_mono.wav")).decode(), "format": "wav"}
    part = {"type": "input_audio", "input_audio": sound}
    for body in ({"messages": [{"role": "user", "content": [part]}]}, {"data": {"content": [part]}}):
        request = read({"model": "m", **body}, api).request
        assert [item.duration_us for item in request.media] == [1_500_000]
        assert request.text.ascii_bytes == 0
        assert request.needs & Ability.AUDIO
