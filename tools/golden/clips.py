"""What clips cost, asked of `transformers`: the choice of frames and of their size, without a pixel. See make_vectors.py."""
# ruff: noqa: S106, SLF001 -- stand-in tokens are no passwords, and the package's own inner methods are what is asked

import unittest.mock

import torch
import torchvision_operators  # noqa: F401  before anything imports torchvision
from asking import SIZES, asked, bare
from transformers.models.gemma4.video_processing_gemma4 import (
    Gemma4VideoProcessor,
    get_aspect_ratio_preserving_size,
)
from transformers.models.internvl.processing_internvl import InternVLProcessor
from transformers.models.internvl.video_processing_internvl import InternVLVideoProcessor
from transformers.models.llava_onevision.processing_llava_onevision import LlavaOnevisionProcessor
from transformers.models.llava_onevision.video_processing_llava_onevision import LlavaOnevisionVideoProcessor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor
from transformers.models.qwen3_vl.processing_qwen3_vl import Qwen3VLProcessor
from transformers.models.qwen3_vl.video_processing_qwen3_vl import Qwen3VLVideoProcessor
from transformers.video_processing_utils import BaseVideoProcessor
from transformers.video_utils import VideoMetadata

# Rows of the families whose clips cost the same whatever their size.
FEW = 60


def clips(chance, count=SIZES):
    """(width, height, frames, frames a second) of clips from one frame to an hour."""
    drawn = [
        (
            chance.randint(2, 2000),
            chance.randint(2, 2000),
            round(2 ** chance.uniform(0, 16)),
            chance.choice([10, 24, 25, 30, 60]),
        )
        for _ in range(count)
    ]
    return [(128, 96, 300, 30), (128, 96, 6, 2), (128, 96, 1, 30), (3000, 10, 100, 25), *drawn]


def video_set(settings, question, chance, columns, count=SIZES):
    rows = [[*clip, *(asked(question, *clip) or [None] * len(columns))] for clip in clips(chance, count)]
    return {"settings": settings, "columns": ["width", "height", "frames", "fps", *columns], "rows": rows}


class MeasuredVideos(Qwen2VLVideoProcessor):
    """The package's own choice of size, without its pixels: `resize` ends in a call of the base class, which is told here."""

    def measure(self, frames, width, height, **settings):
        """(height, width) of each frame after its resize."""
        asked_for = []
        clip = torch.empty((1, frames, 3, height, width), device="meta")
        with unittest.mock.patch.object(
            BaseVideoProcessor, "resize", lambda _, size, **__: asked_for.append(size)
        ):
            self.resize(clip, self.size, None, self.patch_size * self.merge_size, **settings)
        return asked_for[0].height, asked_for[0].width


def qwen2_videos(settings, chance, count=SIZES, processor=None, sampling=None):
    processor = processor or MeasuredVideos()
    cell = processor.patch_size * processor.merge_size

    def question(width, height, frames, fps):
        metadata = VideoMetadata(total_num_frames=frames, fps=fps)
        taken = len(processor.sample_frames(metadata, **(sampling or {"fps": 2})))
        high, wide = processor.measure(taken, width, height, **settings)
        return [taken, -(-taken // 2) * (high // cell) * (wide // cell)]

    bounds = {
        "video_min_pixels": processor.size["shortest_edge"],
        "video_max_pixels": processor.size["longest_edge"],
    }
    if sampling:
        bounds["sampling"] = sampling
    return video_set(bounds | settings, question, chance, ["taken", "tokens"], count)


def qwen3_videos(settings, chance):
    processor = Qwen3VLVideoProcessor(size={"shortest_edge": 4_096, "longest_edge": 25_165_824}, **settings)
    words = bare(Qwen3VLProcessor)

    def question(width, height, frames, fps):
        indices = processor.sample_frames(VideoMetadata(total_num_frames=frames, fps=fps))
        tokens = processor.get_num_of_video_patches(len(indices), height, width) // 4
        moments = words._calculate_timestamps(indices, fps, processor.temporal_patch_size)
        return [len(indices), tokens, sum(len(f"{moment:.1f}") - 2 for moment in moments)]

    return video_set(settings, question, chance, ["taken", "tokens", "second_digits"])


def omni(patch_size):
    """Pictures and clips of Qwen-Omni, which come from Qwen2-VL's processors with the sizes that its own processor names."""
    cell = patch_size * 2
    bounds = {"shortest_edge": 128 * cell**2, "longest_edge": 768 * cell**2}

    def maker(chance):
        pictures = Qwen2VLImageProcessorPil(
            size={"shortest_edge": 3_136, "longest_edge": 12_845_056}, patch_size=patch_size, merge_size=2
        )
        rows = [
            [w, h, asked(lambda w, h: pictures.get_number_of_image_patches(h, w) // 4, w, h)]
            for w, h in [(1, 1), (2001, 10), (4000, 3000)]
            + [(chance.randint(1, 4096), chance.randint(1, 4096)) for _ in range(FEW)]
        ]
        videos = MeasuredVideos(size=bounds, patch_size=patch_size)
        return {
            "images": [{"settings": {}, "columns": ["width", "height", "tokens"], "rows": rows}],
            "videos": [qwen2_videos({}, chance, FEW, videos)],
        }

    return maker


def sampled(processor, question, settings, chance):
    """A set over clips of which `processor` takes frames by `settings["sampling"]`."""
    wanted = {key: value for key, value in settings["sampling"].items() if key in ("fps", "num_frames")}

    def answer(_width, _height, frames, fps):
        taken = len(processor.sample_frames(VideoMetadata(total_num_frames=frames, fps=fps), **wanted))
        return [taken, question(taken)]

    vectors = video_set(settings, answer, chance, ["taken", "tokens"], FEW)
    # Too few frames are refused here, and taken whole by engines.
    vectors["rows"] = [row for row in vectors["rows"] if row[-1] is not None]
    return vectors


# The processors that follow have no bounds on what a rate gives.
BY_RATE = {"sampling": {"fps": 1, "min_frames": 1, "max_frames": 1_000_000}}
BY_NUMBER = {"sampling": {"num_frames": 8}}


def internvl(chance):
    processor = bare(
        InternVLProcessor, start_image_token="", end_image_token="", image_token="x", image_seq_length=256
    )

    def question(taken):
        frames = torch.empty((taken, 3, 448, 448), device="meta")
        return processor.replace_video_token({"pixel_values_videos": [frames]}, 0).count("x")

    videos = InternVLVideoProcessor()
    return {"videos": [sampled(videos, question, each, chance) for each in (BY_NUMBER, BY_RATE)]}


def llava_onevision(chance):
    processor = bare(LlavaOnevisionProcessor, num_image_tokens=729, video_token="x")

    def question(taken):
        frames = torch.empty((taken, 3, 384, 384), device="meta")
        return len(processor.replace_video_token({"pixel_values_videos": [frames]}, 0))

    videos = LlavaOnevisionVideoProcessor()
    return {"videos": [sampled(videos, question, each, chance) for each in (BY_NUMBER, BY_RATE)]}


def gemma_4(chance):
    videos = Gemma4VideoProcessor()

    def one(most):
        def answer(width, height, frames, fps):
            taken = len(videos.sample_frames(VideoMetadata(total_num_frames=frames, fps=fps)))
            high, wide = get_aspect_ratio_preserving_size(height, width, 16, most * 9, 3)
            return [taken, taken * (high // 48) * (wide // 48)]

        vectors = video_set({"clip_max_tokens": most}, answer, chance, ["taken", "tokens"], FEW)
        # Fewer frames than are wanted are refused here, and taken whole by engines.
        vectors["rows"] = [row for row in vectors["rows"] if row[-1] is not None]
        return vectors

    return {"videos": [one(70), one(280)]}


MAKERS = {
    "gemma-4": gemma_4,
    "internvl": internvl,
    "llava-onevision": llava_onevision,
    "qwen2.5-omni": omni(14),
    "qwen3-omni": omni(16),
}
