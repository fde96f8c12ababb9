"""MP4, MOV and M4A: size, frames and duration out of `moov`, wherever in the file it sits.

Source: ISO/IEC 14496-12, sections 8.2 to 8.8. The depth is fixed by the path that is followed
(moov, trak, mdia, minf, stbl, stsd), and the number of boxes by a budget.
"""

from struct import Struct

from forebay.intake.media import mp4_fragments as fragments
from forebay.intake.media.boxes import Box, Budget, descend, first
from forebay.intake.media.header import MICROSECONDS, Buffer, MalformedMedia, MediaHeader, clip, sound
from forebay.intake.media.mp4_track import Track, read_tracks

# A two-hour clip in one-second fragments has 14,400 top-level boxes, but its moov stands first. This many cost about 2 ms.
MAX_BOXES = 4_096

MIME, QUICKTIME, SOUND = "video/mp4", "video/quicktime", "audio/mp4"
# A movie from before ftyp existed starts with one of these.
OLD_MOVIE = (b"moov", b"mdat", b"wide")

_U32 = Struct(">I")


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
        assert audio is not None
        _, duration_us, exact = _measured(data, moov, audio, budget)
        return sound(SOUND, max(0, duration_us - _in_us(audio.skipped_units, audio)), exact=exact)
    frames, duration_us, exact = _measured(data, moov, video, budget)
    size = video.width, video.height
    has_audio, turned = audio is not None, video.orientation
    return clip(mime, *size, frames, duration_us, orientation=turned, has_audio=has_audio, exact=exact)


def _measured(data: Buffer, moov: Box, track: Track, budget: Budget) -> tuple[int, int, bool]:
    """Samples and microseconds of a track, of its fragments where `moov` has none of it, and whether those are all."""
    if track.frames:
        return track.frames, track.duration_us, True
    stated_us = track.duration_us or _stated_duration(data, moov, budget)
    found = fragments.length(data, moov, track.track_id, budget)
    added_us = _in_us(found.units, track)
    # What is stated is that of the longest track, so that a sum without gaps is better.
    return found.samples, (found.whole and added_us) or stated_us or added_us, found.whole


def _in_us(units: int, track: Track) -> int:
    return units * MICROSECONDS // track.units_per_second if track.units_per_second else 0


def _stated_duration(data: Buffer, moov: Box, budget: Budget) -> int:
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
