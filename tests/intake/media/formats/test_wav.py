"""WAV durations, as writers really state them, and P13."""

import json
from pathlib import Path
from struct import pack

import pytest

from forebay.domain.ability import Ability
from forebay.intake.media.dataurl import decode_media
from forebay.intake.media.header import MalformedMedia
from forebay.intake.media.probe import probe
from forebay.intake.tokens.price import price
from forebay.intake.tokens.registry import build

CASES = Path(__file__).parents[3] / "cases"


def wav(
    data, claimed=None, kind=1, channels=1, rate=16_000, byte_rate=32_000, bits=16, between=b"", magic=b"RIFF"
):
    layout = b"fmt " + pack("<IHHIIHH", 16, kind, channels, rate, byte_rate, channels * 2, bits)
    size = len(data) if claimed is None else claimed
    return magic + pack("<I", 0) + b"WAVE" + layout + between + b"data" + pack("<I", size) + data


@pytest.mark.parametrize("name", ["p13_input_audio.json", "p13_input_audio_dataurl.json"])
def test_p13_both_forms_are_the_same_second_and_a_half_of_sound(name):
    parts = json.loads((CASES / name).read_bytes())["messages"][0]["content"]
    sound = next(part["input_audio"] for part in parts if part["type"] == "input_audio")
    media = decode_media(sound["data"], "audio/wav")
    assert media.data == (CASES / "p13_tone_1500ms_8k_mono.wav").read_bytes()
    header = probe(media.data)
    assert (header.modality, header.duration_us, header.sized) == (Ability.AUDIO, 1_500_000, True)
    assert price(build("qwen2-audio"), header).tokens == 37
    assert price(build("whisper"), header).tokens == 1500
    assert price(build("llava-1.5"), header) is None


@pytest.mark.parametrize("claimed", [0, 0xFFFFFFFF, 0x7FFFF000, 64_001])
@pytest.mark.parametrize("magic", [b"RIFF", b"RF64", b"BW64"])
def test_a_streamed_size_gives_way_to_the_bytes_that_are_there(claimed, magic):
    assert probe(wav(bytes(64_000), claimed, magic=magic)).duration_us == 2_000_000


def test_a_stated_size_ends_before_what_follows():
    assert probe(wav(bytes(32_000) + b"LIST" + bytes(9_000), 32_000)).duration_us == 1_000_000


def test_the_rate_of_fixed_size_samples_is_computed_and_not_believed():
    assert (
        probe(wav(bytes(96_000), channels=2, rate=8_000, bits=24, byte_rate=10**9)).duration_us == 2_000_000
    )
    assert probe(wav(bytes(8_000), kind=7, rate=8_000, bits=8)).duration_us == 1_000_000


def test_a_compressed_format_states_its_rate():
    assert probe(wav(bytes(8_000), kind=0x11, bits=4, byte_rate=4_000)).duration_us == 2_000_000


def test_chunks_before_the_sound_are_skipped_with_their_padding():
    assert probe(wav(bytes(32_000), between=b"LIST\x03\x00\x00\x00abc\x00")).duration_us == 1_000_000


def test_sound_of_no_length_is_priced_by_the_fallback():
    header = probe(wav(b""))
    assert header.duration_us == 0
    assert not price(build("qwen2-audio"), header).exact


@pytest.mark.parametrize(
    "data",
    [
        wav(b"", rate=0),
        wav(b"", channels=0),
        wav(b"", bits=0),
        wav(bytes(10), kind=0x55, byte_rate=0),
        wav(b"")[:30],
        wav(b"")[:36],
        b"RIFF\x00\x00\x00\x00WAVEdata\x08\x00\x00\x00" + bytes(8),
        b"RIFF\x00\x00\x00\x00WAVE" + b"LIST\x00\x00\x00\x00" * 100 + wav(bytes(8))[12:],
    ],
)
def test_a_wav_without_a_rate_or_data_is_malformed(data):
    with pytest.raises(MalformedMedia, match="audio/wav"):
        probe(data)
