"""What media may measure at most, judged from the header before anything downstream decodes it."""

import msgspec

from forebay.domain.ability import Ability
from forebay.domain.bounds import AtLeastOne, Count, Positive
from forebay.intake.media.header import MICROSECONDS, MediaHeader


class MediaLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Caps on one item and on the items of one request. All are inclusive.

    `max_pixels` lets the photo of a 108-megapixel phone pass (12000x9000), costs an engine 360 MB at three bytes a
    pixel, and stays under the 178,956,970 at which Pillow itself refuses. `max_item_bytes` equals the largest body.
    `max_items` bounds the pictures, sounds and clips of one request. `max_duration_seconds` is two hours: the longest
    clip that video models are served with. `max_video_frames` is that at 60 frames a second.
    """

    max_pixels: AtLeastOne = 120_000_000
    max_item_bytes: AtLeastOne = 32 * 1024 * 1024
    max_items: Count = 128
    max_duration_seconds: Positive = 7_200.0
    max_video_frames: AtLeastOne = 432_000


class MediaRefusal(msgspec.Struct, frozen=True, gc=False):
    """Why an item is refused: a stable `code`, and a message with the numbers, without the content."""

    code: str
    message: str


def check(header: MediaHeader, limits: MediaLimits, size_bytes: int = 0) -> MediaRefusal | None:
    """Refusal of one item, or None when it is within the limits. `size_bytes` are its decoded bytes, 0 when not at hand."""
    kind = _kind(header.modality)
    if size_bytes > limits.max_item_bytes:
        return MediaRefusal(
            f"{kind}_too_many_bytes",
            f"{size_bytes} bytes of {kind}; at most {limits.max_item_bytes} are taken",
        )
    if header.pixels > limits.max_pixels:
        return MediaRefusal(
            f"{kind}_too_large",
            f"{kind} of {header.width}x{header.height} pixels; at most {limits.max_pixels} pixels are taken",
        )
    if header.duration_us > limits.max_duration_seconds * MICROSECONDS:
        return MediaRefusal(
            f"{kind}_too_long",
            f"{kind} of {header.duration_us / MICROSECONDS:.1f} s; at most {limits.max_duration_seconds:g} s are taken",
        )
    if header.modality is Ability.VIDEO and header.frames > limits.max_video_frames:
        return MediaRefusal(
            "video_too_long", f"video of {header.frames} frames; at most {limits.max_video_frames} are taken"
        )
    return None


def check_count(items: int, limits: MediaLimits) -> MediaRefusal | None:
    """Refusal of a request with that many media items, or None."""
    if items <= limits.max_items:
        return None
    return MediaRefusal("too_many_media_items", f"{items} media items; at most {limits.max_items} are taken")


def _kind(modality: Ability) -> str:
    return {Ability.IMAGE: "image", Ability.AUDIO: "audio", Ability.VIDEO: "video"}[modality]
