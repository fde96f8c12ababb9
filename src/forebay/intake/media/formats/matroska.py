"""Matroska and WebM: the Info and Tracks elements, and for a live recording the timestamps of its blocks.

Source: RFC 9559, sections 5 and 10.
"""

from struct import Struct

import msgspec

from forebay.domain.ability import Ability
from forebay.intake.media.boxes import Budget
from forebay.intake.media.ebml import Element, real, walk, whole
from forebay.intake.media.header import Buffer, MalformedMedia, MediaHeader, clip, sound, unsized

MIME, WEBM = "video/x-matroska", "video/webm"
MAGIC = b"\x1a\x45\xdf\xa3"
DOC_TYPE = 0x4282
SEGMENT, INFO, TRACKS, CLUSTER = 0x18538067, 0x1549A966, 0x1654AE6B, 0x1F43B675
TIMESTAMP_SCALE, DURATION = 0x2AD7B1, 0x4489
TRACK, NUMBER, TYPE, DEFAULT_DURATION, CODEC_DELAY = 0xAE, 0xD7, 0x83, 0x23E383, 0x56AA
VIDEO, PIXEL_WIDTH, PIXEL_HEIGHT = 0xE0, 0xB0, 0xBA
TIMESTAMP, SIMPLE_BLOCK, BLOCK_GROUP, BLOCK = 0xE7, 0xA3, 0xA0, 0xA1

DEFAULT_SCALE_NS = 1_000_000
NS_PER_US = 1_000
IS_VIDEO, IS_AUDIO = 1, 2
# A file that says its length is read from some fifty elements. Of a live one, so many are 40 s of Opus, in about 2 ms.
MAX_ELEMENTS = 2_048
MAX_TRACKS = 32

_BLOCK_TIME = Struct(">h")


class Track(msgspec.Struct, gc=False):
    """What one TrackEntry tells. Unknown is 0. `delay_ns` is what a decoder cuts off at the start of a sound."""

    number: int = 0
    kind: int = 0
    frame_ns: int = 0
    delay_ns: int = 0
    width: int = 0
    height: int = 0


class File(msgspec.Struct):
    """What stands before the first cluster, and where that is."""

    scale_ns: int = DEFAULT_SCALE_NS
    duration: float = 0.0
    tracks: list[Track] = []
    clusters_at: int = 0


def matches(head: bytes) -> bool:
    """See Format."""
    return head.startswith(MAGIC)


def probe(data: Buffer) -> MediaHeader:
    """Size, frames and duration of the first video track, or the duration of a sound.

    A recording that was written live says no duration: it is then estimated from the blocks, as are the frames where no
    rate is said.
    """
    budget = Budget(MAX_ELEMENTS)
    header = next(walk(data, 0, len(data), budget), None)
    if header is None:
        raise MalformedMedia(f"{MIME}: no EBML header")
    is_webm = any(
        each.kind == DOC_TYPE and bytes(data[each.start : each.start + 4]) == b"webm"
        for each in walk(data, header.start, header.end, budget)
    )
    file = _opened(data, header.end, budget)
    video = next((track for track in file.tracks if track.kind == IS_VIDEO), None)
    audio = next((track for track in file.tracks if track.kind == IS_AUDIO), None)
    if video is not None:
        return _movie(data, WEBM if is_webm else MIME, file, video, audio is not None, budget)
    if audio is not None:
        return _sound(data, "audio/webm" if is_webm else "audio/x-matroska", file, audio, budget)
    return unsized(WEBM if is_webm else MIME, Ability.VIDEO)


def _opened(data: Buffer, at: int, budget: Budget) -> File:
    """Read the segment up to its first cluster, or all of it when that does not tell the tracks."""
    file, has_segment = File(), False
    for each in walk(data, at, len(data), budget, {SEGMENT}):
        if each.kind == SEGMENT:
            has_segment = True
        elif each.kind == INFO:
            _read_info(data, each, file, budget)
        elif each.kind == TRACKS:
            inside = walk(data, each.start, each.end, budget)
            file.tracks = [_track(data, track, budget) for track in inside if track.kind == TRACK][
                :MAX_TRACKS
            ]
        elif each.kind == CLUSTER:
            file.clusters_at = file.clusters_at or each.start
            if file.tracks:
                break
    if not has_segment:
        raise MalformedMedia(f"{MIME}: no segment")
    return file


def _read_info(data: Buffer, info: Element, file: File, budget: Budget) -> None:
    for each in walk(data, info.start, info.end, budget):
        if each.kind == TIMESTAMP_SCALE:
            file.scale_ns = whole(data, each) or DEFAULT_SCALE_NS
        elif each.kind == DURATION:
            file.duration = max(0.0, real(data, each))


def _track(data: Buffer, entry: Element, budget: Budget) -> Track:
    track = Track()
    for each in walk(data, entry.start, entry.end, budget, {VIDEO}):
        if each.kind == NUMBER:
            track.number = whole(data, each)
        elif each.kind == TYPE:
            track.kind = whole(data, each)
        elif each.kind == DEFAULT_DURATION:
            track.frame_ns = whole(data, each)
        elif each.kind == CODEC_DELAY:
            track.delay_ns = whole(data, each)
        elif each.kind == PIXEL_WIDTH:
            track.width = whole(data, each)
        elif each.kind == PIXEL_HEIGHT:
            track.height = whole(data, each)
    return track


def _movie(data: Buffer, mime: str, file: File, video: Track, has_audio: bool, budget: Budget) -> MediaHeader:
    duration_ns = int(file.duration * file.scale_ns)
    frames = round(duration_ns / video.frame_ns) if video.frame_ns else 0
    exact = frames > 0
    if not exact:
        seen_ns, frames = _seen(data, file, video, budget)
        duration_ns = duration_ns or seen_ns
    return clip(
        mime, video.width, video.height, frames, duration_ns // NS_PER_US, has_audio=has_audio, exact=exact
    )


def _sound(data: Buffer, mime: str, file: File, audio: Track, budget: Budget) -> MediaHeader:
    stated_ns = int(file.duration * file.scale_ns)
    duration_ns = stated_ns or _seen(data, file, audio, budget)[0]
    return sound(mime, max(0, duration_ns - audio.delay_ns) // NS_PER_US, exact=stated_ns > 0)


def _seen(data: Buffer, file: File, track: Track, budget: Budget) -> tuple[int, int]:
    """Nanoseconds and number of the blocks of `track`, those beyond the budget taken to be like those within."""
    cluster = first = last = blocks = 0
    at = file.clusters_at
    for each in walk(data, at, len(data), budget, {CLUSTER, BLOCK_GROUP}):
        if each.kind == TIMESTAMP:
            cluster = whole(data, each)
        elif (
            each.kind in (SIMPLE_BLOCK, BLOCK)
            and each.end - each.start >= 4
            and _owner(data, each) == track.number
        ):
            last = cluster + _BLOCK_TIME.unpack_from(data, each.start + 1)[0]
            first = first if blocks else last
            blocks += 1
            at = each.end
    if blocks < 2:
        return 0, blocks
    share = (len(data) - file.clusters_at) / (at - file.clusters_at) if budget.left <= 0 else 1.0
    seen_ns = (
        (last - first) * file.scale_ns * blocks // (blocks - 1)
    )  # the last one lasts as long as the others
    return max(0, int(seen_ns * share)), int(blocks * share)


def _owner(data: Buffer, block: Element) -> int:
    """Track number of a block, where it is one of the first 126. Nobody has more."""
    return data[block.start] & 0x7F if data[block.start] & 0x80 else 0
