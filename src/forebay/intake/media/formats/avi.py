"""AVI: the stream headers of the first list. Source: Microsoft, AVI RIFF file reference."""

from collections.abc import Iterator
from struct import Struct

from forebay.intake.media.header import MICROSECONDS, Buffer, MalformedMedia, MediaHeader, clip

MIME = "video/x-msvideo"
# A header list per stream and a few chunks in each.
MAX_CHUNKS = 128
LISTS = (b"hdrl", b"strl")

_CHUNK = Struct("<4sI4s")
# In avih: microseconds a frame, frames, width and height.
_MAIN = Struct("<I12xI12xII")
# In strh: type, scale, rate and length.
_STREAM = Struct("<4s16xII4xI")


def matches(head: bytes) -> bool:
    """See Format."""
    return head[:4] == b"RIFF" and head[8:12] == b"AVI "


def probe(data: Buffer) -> MediaHeader:
    """Size, frames and duration of the first video stream."""
    main = video = None
    has_audio = False
    for kind, at in _chunks(data):
        if kind == b"avih":
            main = _MAIN.unpack_from(data, at)
        elif kind == b"strh":
            stream = _STREAM.unpack_from(data, at)
            has_audio = has_audio or stream[0] == b"auds"
            video = video or (stream if stream[0] == b"vids" else None)
    if main is None:
        raise MalformedMedia(f"{MIME}: no avih chunk")
    frame_us, frames, width, height = main
    duration_us = frames * frame_us
    if video is not None and video[2]:
        _, scale, rate, frames = video
        duration_us = frames * scale * MICROSECONDS // rate
    return clip(MIME, width, height, frames, duration_us, has_audio=has_audio)


def _chunks(data: Buffer) -> Iterator[tuple[bytes, int]]:
    """Kind and payload of each chunk up to the pictures, those inside of header lists too."""
    at = 12
    for _ in range(MAX_CHUNKS):
        if at + _CHUNK.size > len(data):
            return
        kind, size, list_kind = _CHUNK.unpack_from(data, at)
        if kind == b"LIST" and list_kind == b"movi":
            return
        if kind == b"LIST" and list_kind in LISTS:
            at += _CHUNK.size
        else:
            yield kind, at + 8
            at += 8 + size + (size & 1)
