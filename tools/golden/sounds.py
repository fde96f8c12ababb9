"""Makers of vectors for the families that hear, asked of `transformers`. See make_vectors.py."""
# ruff: noqa: SLF001 -- the package's own inner methods are what is asked

import numpy as np
import torch
import torchvision_operators  # noqa: F401  before anything imports torchvision
from asking import asked, bare
from transformers.models.gemma4.feature_extraction_gemma4 import Gemma4AudioFeatureExtractor
from transformers.models.gemma4.processing_gemma4 import Gemma4Processor
from transformers.models.granite_speech.feature_extraction_granite_speech import GraniteSpeechFeatureExtractor
from transformers.models.phi4_multimodal.feature_extraction_phi4_multimodal import (
    Phi4MultimodalFeatureExtractor,
)
from transformers.models.qwen2_5_omni.processing_qwen2_5_omni import Qwen2_5OmniProcessor
from transformers.models.qwen2_audio.processing_qwen2_audio import Qwen2AudioProcessor
from transformers.models.qwen3_omni_moe.processing_qwen3_omni_moe import Qwen3OmniMoeProcessor
from transformers.models.voxtral.configuration_voxtral import VoxtralEncoderConfig
from transformers.models.voxtral.processing_voxtral import VoxtralProcessor
from transformers.models.whisper.feature_extraction_whisper import WhisperFeatureExtractor

RATE = 16_000
HOP = 160


def lengths(chance):
    """Samples at 16 kHz, up to beyond one window; the first make one, two and three mel frames."""
    return [160, 320, 480, 24_000, 160_000, 479_999, 480_000, 480_001, 600_000] + [
        chance.randint(1, 520_000) for _ in range(120)
    ]


def silence(samples):
    return np.zeros(samples, np.float32)


def sound_set(settings, question, asked_for):
    rows = [[samples, asked(question, samples)] for samples in asked_for]
    return {"settings": settings, "columns": ["samples", "tokens"], "rows": rows}


def sounds(settings, question, asked_for):
    return {"audio": [sound_set(settings, question, asked_for)]}


def mel_frames(samples, **settings):
    """Frames of Whisper's extractor that are not padding."""
    extractor = WhisperFeatureExtractor(feature_size=128)
    heard = extractor(
        silence(samples), sampling_rate=RATE, padding="longest", return_attention_mask=True, **settings
    )
    return int(heard["attention_mask"].sum())


def whisper(chance):
    extractor = WhisperFeatureExtractor()

    def positions(samples):
        features = extractor(silence(samples), sampling_rate=RATE)["input_features"]
        return (features.shape[-1] - 1) // 2 + 1  # the second convolution of WhisperEncoder has stride 2

    within = [samples for samples in lengths(chance) if samples <= 30 * RATE][::4]
    return sounds({}, positions, within)


def qwen2_audio(chance):
    def one(settings, **extractor):
        processor = bare(
            Qwen2AudioProcessor,
            audio_token="x",  # noqa: S106  no password
            feature_extractor=WhisperFeatureExtractor(feature_size=128, **extractor),
        )

        def question(samples):
            inputs, _ = processor._process_audio([silence(samples)], sampling_rate=RATE)
            return inputs["num_audio_tokens"][0]

        return sound_set(settings, question, lengths(chance))

    return {"audio": [one({}), one({"window_seconds": 10}, chunk_length=10)]}


def _omni(kind, settings, window_seconds, asked_for, **arguments):
    extractor = WhisperFeatureExtractor(feature_size=128, chunk_length=window_seconds)
    processor = bare(kind, audio_token="x", feature_extractor=extractor)  # noqa: S106  no password

    def question(samples):
        try:
            inputs, _ = processor._process_audio([silence(samples)], **{**kind.audio_kwargs, **arguments})
        except RuntimeError:
            return None  # shorter than what its Fourier transform reflects at the ends
        tokens = int(inputs["num_audio_tokens"][0])
        return tokens if tokens > 0 else None

    return sounds(settings, question, asked_for)


def qwen25_omni(chance):
    longer = [chance.randint(1, 6_000_000) for _ in range(4)] + [4_799_999, 4_800_000, 4_800_001]
    return _omni(Qwen2_5OmniProcessor, {}, 300, lengths(chance)[:60] + longer, truncation=True)


def qwen3_omni(chance):
    longer = [chance.randint(1, 3_000_000) for _ in range(4)]
    return _omni(Qwen3OmniMoeProcessor, {}, 30, [1, 159, *lengths(chance)[:90], *longer])


def voxtral(chance):
    extractor = WhisperFeatureExtractor(feature_size=128)
    tower = VoxtralEncoderConfig()
    processor = bare(VoxtralProcessor, feature_extractor=extractor)

    def question(samples):
        settings = dict(VoxtralProcessor.audio_kwargs)
        window = settings.pop("max_source_positions")
        windows = processor._retrieve_input_features([silence(samples)], window, **settings).shape[0]
        positions = windows * tower.max_source_positions
        return positions * tower.hidden_size // tower.intermediate_size  # as the adapter reshapes them

    return sounds({}, question, [1, *lengths(chance)[:24], 959_999, 960_000, 960_001])


def granite_speech(chance):
    def one(settings):
        extractor = bare(
            GraniteSpeechFeatureExtractor,
            melspec_kwargs={"hop_length": HOP},
            projector_window_size=settings.get("projector_window_size", 15),
            projector_downsample_rate=settings.get("projector_downsample_rate", 5),
        )

        def question(samples):
            return extractor._get_num_audio_features([samples])[0] or None

        return sound_set(settings, question, [1, 159, *lengths(chance)[:80]])

    return {"audio": [one({}), one({"projector_window_size": 12, "projector_downsample_rate": 3})]}


def phi_4(chance):
    extractor = Phi4MultimodalFeatureExtractor()

    def question(samples):
        if samples < extractor.win_length:
            return None  # less than one window of its Fourier transform
        heard = extractor(silence(samples), sampling_rate=RATE)
        return int(torch.as_tensor(heard["audio_embed_sizes"])[0])

    return sounds({}, question, [1, 399, 400, 559, 560, *lengths(chance)[:60]])


def ultravox(chance):
    """The extractor is the package's; chunks and tokens are the formula of the processor published with the checkpoints."""
    context, downsampling = 3_000, 2

    def one(settings):
        per_token = downsampling * settings.get("stack_factor", 8)

        def question(samples):
            frames = mel_frames(max(samples, 2 * HOP), pad_to_multiple_of=HOP, truncation=False)
            pieces = [min(context, frames - start) for start in range(0, frames, context)]
            return sum(int(np.ceil(piece / per_token)) for piece in pieces)

        longer = [959_999, 960_000, 960_001, *(chance.randint(1, 3_000_000) for _ in range(4))]
        return sound_set(settings, question, [1, 159, *lengths(chance)[:50], *longer])

    return {"audio": [one({}), one({"stack_factor": 4})]}


def gemma_4(chance):
    extractor = Gemma4AudioFeatureExtractor()
    words = bare(Gemma4Processor, audio_token="x", boa_token="", eoa_token="")  # noqa: S106  no passwords

    def question(samples):
        heard = extractor([silence(samples)], sampling_rate=RATE)
        return words.replace_audio_token(heard, 0).count("x")

    return sounds({}, question, [1, 160, 161, 800, 801, *lengths(chance)])


MAKERS = {
    "gemma-4-e4b": gemma_4,
    "whisper": whisper,
    "qwen2-audio": qwen2_audio,
    "qwen2.5-omni": qwen25_omni,
    "qwen3-omni": qwen3_omni,
    "voxtral": voxtral,
    "phi-4-multimodal": phi_4,
    "granite-speech": granite_speech,
    "ultravox": ultravox,
}
