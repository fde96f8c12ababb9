"""Gemma 4.

Sources: transformers 5.24.0, gemma4/image_processing_, video_processing_, feature_extraction_ and processing_gemma4.py;
llama.cpp, tools/mtmd/clip.cpp.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from forebay.domain.ability import Ability
from forebay.intake.tokens.family import ImageRules, MediaCost, Positive, PositiveFloat
from forebay.intake.tokens.sampling import SAMPLED_AT, AssumedClip, FrameSampling
from forebay.intake.tokens.smart_resize import CellBounds, cells_within
from forebay.intake.tokens.sound import Hears

# Start and end of a picture, a frame or a sound.
WRAPPER_TOKENS = 2
# "00:12 " before each frame, as vLLM reckons it.
STAMP_TOKENS = 6
# The feature extractor cuts longer sound off.
MAX_SAMPLES = 480_000
# Two convolutions of stride 2 make that many mel frames one position.
MEL_FRAMES_PER_TOKEN = 4


class Gemma4(ImageRules, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One token per cell of `patch_size * pooling_size` pixels, after a resize to the most cells up to `max_tokens`.

    The aspect is kept, so that small pictures are scaled up. `max_tokens` is one of 70, 140, 280, 560 and 1,120, and so is
    `clip_max_tokens`, for each frame of a clip. The encoder reads every picture padded to that many cells, each of
    `pooling_size` squared patches. With `cell_bounds`, as in llama.cpp, a picture is resized only if it has fewer or more
    cells, and is not padded: from 70 cells to 1,120, and no more than its --ubatch-size of 512 where a picture attends to
    itself both ways, as in all but E2B and E4B. Its builds before September 2026 have bounds of 40 and 280.
    """

    name: ClassVar[str] = "gemma-4"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.VIDEO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "max_tokens": ("max_soft_tokens", "image_seq_length"),
        "patch_size": ("patch_size",),
        "pooling_size": ("pooling_kernel_size",),
    }
    clips_configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "clip_max_tokens": ("max_soft_tokens",),
        **SAMPLED_AT,
    }
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"llama.cpp": {"cell_bounds": (70, 512)}}

    max_tokens: Positive = 280
    clip_max_tokens: Positive = 70
    patch_size: Positive = 16
    pooling_size: Positive = 3
    cell_bounds: CellBounds | None = None
    sampling: FrameSampling = FrameSampling(num_frames=32)
    assumed_clip: AssumedClip = AssumedClip()

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        if self.cell_bounds is not None:
            columns, rows = cells_within(width, height, self.patch_size * self.pooling_size, self.cell_bounds)
            return MediaCost(columns * rows, WRAPPER_TOKENS, columns * rows * self.pooling_size**2)
        cells = self._cells(width, height, self.max_tokens)
        return MediaCost(cells, WRAPPER_TOKENS, self.max_tokens * self.pooling_size**2)

    def video(self, width: int, height: int, frames: int, duration_us: int) -> MediaCost:
        """See Family. Not exact, since the time before each frame is text."""
        clip = self.assumed_clip.fill(width, height, frames, duration_us)
        taken = self.sampling.count(clip.frames, clip.duration_us)
        cells = self._cells(clip.width, clip.height, self.clip_max_tokens)
        patches = self.clip_max_tokens * self.pooling_size**2
        return MediaCost(taken * cells, taken * (WRAPPER_TOKENS + STAMP_TOKENS), taken * patches, exact=False)

    def _cells(self, width: int, height: int, most: int) -> int:
        """Cells of the resized picture. A sliver that would be less than a cell across is cut into cells along its aspect."""
        cell = self.patch_size * self.pooling_size
        scale = math.sqrt(most * cell**2 / (width * height))
        columns, rows = math.floor(scale * width / cell), math.floor(scale * height / cell)
        if columns == 0 or rows == 0:
            return min(max(width, height) // min(width, height), most)
        return columns * rows


class Gemma4E(Hears, Gemma4, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Gemma 4 E2B and E4B, which hear as well: 25 tokens a second, of up to 30 seconds and `max_sound_tokens`."""

    name: ClassVar[str] = "gemma-4-e4b"
    abilities: ClassVar[Ability] = Ability.IMAGE | Ability.VIDEO | Ability.AUDIO
    configured_at: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **Gemma4.configured_at,
        "sampling_rate": ("sampling_rate",),
        "frame_length": ("frame_length",),
        "hop_length": ("hop_length",),
        "max_sound_tokens": ("audio_seq_length",),
    }
    engine_settings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"llama.cpp": {"cell_bounds": (70, 1_120)}}

    sampling_rate: Positive = 16_000
    frame_length: Positive = 320
    hop_length: Positive = 160
    max_sound_tokens: Positive = 750
    assumed_seconds: PositiveFloat = 30.0

    def sound(self, samples: int) -> MediaCost:
        """See Hears. Sound shorter than one mel frame makes no token there; it is priced at one, and not exact."""
        within = min(samples, MAX_SAMPLES) + self.frame_length // 2 - (self.frame_length + 1)
        mel_frames = within // self.hop_length + 1
        tokens = min(self.max_sound_tokens, -(-mel_frames // MEL_FRAMES_PER_TOKEN))
        return MediaCost(max(1, tokens), WRAPPER_TOKENS, max(1, tokens), tokens > 0)
