"""MP4, MOV and M4A: size, frames and duration out of `moov`, wherever in the file it sits.

Source: ISO/IEC 14496-12, sections 8.2 to 8.8. The depth is fixed by the path that is followed
(moov, trak, mdia, minf, stbl, stsd), and the number of boxes by a budget.
"""

from struct import Struct

from forebay.intake.media.boxes import Box, Budget, descend, first, walk
from forebay.intake.media.header import MICROSECONDS, Buffer, MalformedMedia, MediaHeader, clip, sound
from forebay.intake.media.mp4_track import Track, read_tracks

# A two-hour clip in one-second fragments has 14,400 top-level boxes, but its moov stands first. This many cost about 2 ms.
MAX_BOXES = 4_096

MIME, QUICKTIME = "video/mp4", "video/quicktime"
# A movie from before ftyp existed starts with one of these.
OLD_MOVIE = (b"moov", b"mdat", b"wide")

_U32 = Struct(">I")
_TFHD = Struct(">II")
_TRUN = Struct(">II")


def matches(head: bytes) -> bool:
    """See Format. Pictures share `ftyp`, and are asked first."""
    return head[4:8] == b"ftyp" or head[4:8] in OLD_MOVIE


def probe(data: Buffer) -> MediaHeader:
    """Header of the first video track, or the length of the first sound track where there is no picture.

    `frames` is the sample count of the video track, summed over fragments where the file is fragmented. `sized` is
    False for a movie whose tracks tell no frames or no duration.
    """
    mime = MIME if data[4:8] == b"ftyp" and data[8:12] != b"qt  " else QUICKTIME
    budget = Budget(MAX_BOXES)
    moov = first(data, Box(b"", 0, len(data)), b"moov", budget)
    if moov is None:
        raise MalformedMedia(f"{mime}: no moov box")
    tracks = read_tracks(data, moov, budget)
    video = next((track for track in tracks if track.handler == b"vide"), None)
    audio = next((track for track in tracks if track.handler == b"soun"), None)
    if video is None and audio is None:
        raise MalformedMedia(f"{mime}: neither a video nor a sound track")
    if video is None:
        return sound("audio/mp4", audio.duration_us if audio else 0)
    return _movie(data, mime, video, audio is not None, moov, budget)


def _movie(data: Buffer, mime: str, video: Track, has_audio: bool, moov: Box, budget: Budget) -> MediaHeader:
    frames, duration_us = video.frames, video.duration_us
    if frames == 0:
        frames = _fragment_frames(data, video.track_id, budget)
        duration_us = duration_us or _fragmented_duration(data, moov, budget)
    return clip(
        mime,
        video.width,
        video.height,
        frames,
        duration_us,
        orientation=video.orientation,
        has_audio=has_audio,
    )


def _fragment_frames(data: Buffer, track_id: int, budget: Budget) -> int:
    """Samples of that track over the fragments within the budget."""
    frames = 0
    for moof in walk(data, 0, len(data), budget):
        if moof.kind != b"moof":
            continue
        for traf in walk(data, moof.start, moof.end, budget):
            if traf.kind == b"traf":
                frames += _run_frames(data, traf, track_id, budget)
    return frames


def _run_frames(data: Buffer, traf: Box, track_id: int, budget: Budget) -> int:
    frames, wanted = 0, False
    for box in walk(data, traf.start, traf.end, budget):
        if box.end - box.start < 8:
            continue
        if box.kind == b"tfhd":
            wanted = _TFHD.unpack_from(data, box.start)[1] == track_id
        elif box.kind == b"trun" and wanted:
            frames += _TRUN.unpack_from(data, box.start)[1]
    return frames


def _fragmented_duration(data: Buffer, moov: Box, budget: Budget) -> int:
    """Duration that `mehd` states for all fragments, in the movie's time scale; 0 when it does not."""
    mehd = descend(data, moov, (b"mvex", b"mehd"), budget)
    mvhd = first(data, moov, b"mvhd", budget)
    if mehd is None or mvhd is None or mehd.end - mehd.start < 8 or mvhd.end - mvhd.start < 24:
        return 0
    version = data[mehd.start]
    if version == 1 and mehd.end - mehd.start < 12:
        return 0
    duration = int.from_bytes(data[mehd.start + 4 : mehd.start + (12 if version == 1 else 8)], "big")
    (scale,) = _U32.unpack_from(data, mvhd.start + (20 if data[mvhd.start] == 1 else 12))
    return duration * MICROSECONDS // scale if scale else 0
