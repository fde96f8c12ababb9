"""What media cost under a served model's own files: folders with changed configurations, read by `transformers`.

Writes tests/golden/served/<name>.json, each with the files and the answers. See make_vectors.py.
"""
# ruff: noqa: S106 -- stand-in tokens are no passwords

import json
import tempfile
from pathlib import Path

import torch
from asking import asked, bare, picture_rows
from clips import MeasuredVideos, clips
from picture_folders import FOLDERS as PICTURE_FOLDERS
from sounds import lengths, silence
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.internvl.processing_internvl import InternVLProcessor
from transformers.models.llava_onevision.processing_llava_onevision import LlavaOnevisionProcessor
from transformers.models.qwen2_audio.processing_qwen2_audio import Qwen2AudioProcessor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.qwen3_vl.video_processing_qwen3_vl import Qwen3VLVideoProcessor
from transformers.models.whisper.feature_extraction_whisper import WhisperFeatureExtractor
from transformers.video_utils import VideoMetadata

COUNT = 40
COLUMNS = {
    "images": ("width", "height", "tokens"),
    "videos": ("width", "height", "frames", "fps", "tokens"),
    "audio": ("samples", "tokens"),
}


def clip_rows(question, chance):
    return [[*clip, asked(question, *clip)] for clip in clips(chance, COUNT)]


def qwen2_vl(folder, chance):
    pictures = Qwen2VLImageProcessorPil.from_pretrained(folder)
    videos = MeasuredVideos.from_pretrained(folder)
    cell = videos.patch_size * videos.merge_size

    def clip(width, height, frames, fps):
        metadata = VideoMetadata(total_num_frames=frames, fps=fps)
        taken = len(videos.sample_frames(metadata, fps=videos.fps or 2))
        high, wide = videos.measure(taken, width, height)
        return -(-taken // 2) * (high // cell) * (wide // cell)

    merged = pictures.merge_size**2
    return {
        "images": picture_rows(lambda w, h: pictures.get_number_of_image_patches(h, w) // merged, chance),
        "videos": clip_rows(clip, chance),
    }


def qwen3_vl(folder, chance):
    pictures = Qwen2VLImageProcessorPil.from_pretrained(folder)
    videos = Qwen3VLVideoProcessor.from_pretrained(folder)

    def clip(width, height, frames, fps):
        taken = len(videos.sample_frames(VideoMetadata(total_num_frames=frames, fps=fps)))
        return videos.get_num_of_video_patches(taken, height, width) // videos.merge_size**2

    return {
        "images": picture_rows(lambda w, h: pictures.get_number_of_image_patches(h, w) // 4, chance),
        "videos": clip_rows(clip, chance),
    }


def internvl(folder, chance):
    pictures = GotOcr2ImageProcessorPil.from_pretrained(folder)
    own, _ = InternVLProcessor.get_processor_dict(folder)
    return {
        "images": picture_rows(
            lambda w, h: own["image_seq_length"] * pictures.get_number_of_image_patches(h, w), chance
        )
    }


def llava_onevision(folder, chance):
    own, _ = LlavaOnevisionProcessor.get_processor_dict(folder)
    settings = json.loads((Path(folder) / "preprocessor_config.json").read_text())
    processor = bare(
        LlavaOnevisionProcessor,
        num_image_tokens=own["num_image_tokens"],
        vision_aspect_ratio=own["vision_aspect_ratio"],
        video_token="x",
        image_processor=type("Pinpoints", (), {"image_grid_pinpoints": settings["image_grid_pinpoints"]}),
    )
    side = settings["size"]["height"]

    def picture(width, height):
        return processor._get_number_of_features(height, width, side, side)  # noqa: SLF001  what is asked

    def frames(count):
        clip = torch.empty((count, 3, side, side), device="meta")
        return len(processor.replace_video_token({"pixel_values_videos": [clip]}, 0))

    # Engines spread 32 frames over a clip, and the size decides nothing.
    return {
        "images": picture_rows(picture, chance),
        "videos": [[*clip, frames(min(32, clip[2]))] for clip in clips(chance, COUNT)],
    }


def qwen2_audio(folder, chance):
    extractor = WhisperFeatureExtractor.from_pretrained(folder)
    processor = bare(Qwen2AudioProcessor, audio_token="x", feature_extractor=extractor)

    def question(samples):
        inputs, _ = processor._process_audio([silence(samples)], sampling_rate=16_000)  # noqa: SLF001  what is asked
        return inputs["num_audio_tokens"][0] or None

    return {"audio": [[samples, asked(question, samples)] for samples in lengths(chance)[:COUNT]]}


PINPOINTS = [[336, 336], [336, 672], [672, 336], [672, 672]]
FOLDERS = {
    "served/qwen2.5-vl": (
        qwen2_vl,
        {
            "preprocessor_config.json": {
                "image_processor_type": "Qwen2VLImageProcessor",
                "processor_class": "Qwen2_5_VLProcessor",
                "min_pixels": 6_272,
                "max_pixels": 602_112,
                "patch_size": 14,
                "merge_size": 2,
                "temporal_patch_size": 2,
                "image_mean": [0.5, 0.5, 0.5],
            },
            "video_preprocessor_config.json": {
                "video_processor_type": "Qwen2VLVideoProcessor",
                "size": {"shortest_edge": 50_176, "longest_edge": 301_056},
                "fps": 1,
                "min_frames": 2,
                "max_frames": 32,
            },
        },
    ),
    "served/qwen2-vl-without-video": (
        qwen2_vl,
        {
            "config.json": {"model_type": "qwen2_vl", "architectures": ["Qwen2VLForConditionalGeneration"]},
            "preprocessor_config.json": {
                "size": {"shortest_edge": 3_136, "longest_edge": 401_408},
                "patch_size": 14,
                "merge_size": 2,
            },
        },
    ),
    "served/qwen3-vl-nested": (
        qwen3_vl,
        {
            "processor_config.json": {
                "processor_class": "Qwen3VLProcessor",
                "image_processor": {
                    "image_processor_type": "Qwen2VLImageProcessorFast",
                    "size": {"shortest_edge": 65_536, "longest_edge": 1_048_576},
                    "patch_size": 16,
                    "merge_size": 2,
                },
                "video_processor": {
                    "video_processor_type": "Qwen3VLVideoProcessor",
                    "size": {"shortest_edge": 4_096, "longest_edge": 6_291_456},
                    "fps": 1,
                    "max_frames": 64,
                },
            }
        },
    ),
    "served/internvl": (
        internvl,
        {
            "config.json": {"model_type": "internvl", "image_seq_length": 256},
            "processor_config.json": {"processor_class": "InternVLProcessor", "image_seq_length": 144},
            "preprocessor_config.json": {
                "crop_to_patches": True,
                "size": {"height": 336, "width": 336},
                "min_patches": 2,
                "max_patches": 6,
            },
        },
    ),
    "served/llava-onevision": (
        llava_onevision,
        {
            "processor_config.json": {
                "processor_class": "LlavaOnevisionProcessor",
                "num_image_tokens": 576,
                "vision_aspect_ratio": "anyres_max_4",
            },
            "preprocessor_config.json": {
                "image_grid_pinpoints": PINPOINTS,
                "size": {"height": 336, "width": 336},
            },
        },
    ),
    "served/qwen2-audio": (
        qwen2_audio,
        {
            "preprocessor_config.json": {
                "processor_class": "Qwen2AudioProcessor",
                "feature_extractor_type": "WhisperFeatureExtractor",
                "chunk_length": 10,
                "feature_size": 128,
                "hop_length": 160,
                "sampling_rate": 16_000,
            }
        },
    ),
}

FOLDERS |= PICTURE_FOLDERS


def folder_vectors(name, chance):
    """The files of one folder, and what `transformers` answers when it reads them."""
    ask, files = FOLDERS[name]
    with tempfile.TemporaryDirectory() as folder:
        for file, content in files.items():
            (Path(folder) / file).write_text(json.dumps(content))
        answers = ask(folder, chance)
    return {
        "files": files,
        **{kind: [{"columns": COLUMNS[kind], "rows": rows}] for kind, rows in answers.items()},
    }
