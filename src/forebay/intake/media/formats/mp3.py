"""MPEG audio, layers II and III (MP3): the frame count of a Xing, Info or VBRI header, or else the length of all frames.

Source: ISO/IEC 11172-3, section 2.4; ISO/IEC 13818-3 for the halved rates; the headers are described by their writers
(Xing, Fraunhofer, LAME).
"""

from functools import lru_cache
from struct import Struct

from forebay.intake.media.frames import Frame, length
from forebay.intake.media.header import MICROSECONDS, Buffer, MalformedMedia, MediaHeader, sound

MIME = "audio/mpeg"
HEADER_BYTES = 4
# Version bits 3 is MPEG-1, 2 is MPEG-2 and 0 is the unofficial 2.5. Layer I is out of use, and text in UTF-16 begins like it.
MPEG1, MPEG25 = 3, 0
LAYER2, LAYER3 = 2, 1
MONO = 3
RATES = (44_100, 48_000, 32_000)
# Kilobits a second, by whether it is MPEG-1 and by layer bits.
KILOBITS = {
    (True, LAYER2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, LAYER3): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, LAYER2): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, LAYER3): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
# The shortest frame: layer III, 8 kbit/s, 24 kHz.
LEAST_FRAME_BYTES = 24
HAS_FRAMES, OPTIONAL = 1, ((1, 4), (2, 4), (4, 100), (8, 4))
VBRI_AT, VBRI_FRAMES_AT = 36, 14
# In LAME's tag, the samples of delay and padding, 12 bits each.
LAME_DELAYS_AT = 21
ID3V1_BYTES = 128

_U32 = Struct(">I")


def matches(head: bytes) -> bool:
    """See Format. Eleven set bits prove little, so every reserved value is refused."""
    return _frame(head, 0) is not None


def probe(data: Buffer) -> MediaHeader:
    """Duration, without the delay and padding that LAME states and decoders cut off."""
    first = _frame(data, 0)
    if first is None:
        raise MalformedMedia(f"{MIME}: no frame")
    _, samples_per_frame, rate = first
    samples = _stated_samples(data, samples_per_frame)
    if samples:
        return sound(MIME, samples * MICROSECONDS // rate)
    end = len(data)
    if bytes(data[-ID3V1_BYTES:][:3]) == b"TAG":
        end -= ID3V1_BYTES
    duration_us, exact = length(data, end, _frame)
    return sound(MIME, duration_us, exact=exact)


def _frame(data: Buffer, at: int) -> Frame | None:
    if at + HEADER_BYTES > len(data) or data[at] != 0xFF:
        return None
    return _described(data[at + 1], data[at + 2])


@lru_cache(maxsize=256)
def _described(second: int, third: int) -> Frame | None:
    """What the second and third byte of a frame tell of it. One stream has but a few pairs of them."""
    version, layer = second >> 3 & 3, second >> 1 & 3
    bits, rate = third >> 4, third >> 2 & 3
    if second & 0xE0 != 0xE0 or version == 1 or layer not in (LAYER2, LAYER3) or bits in (0, 15) or rate == 3:
        return None
    hertz = RATES[rate] >> (2 if version == MPEG25 else version != MPEG1)
    bits_per_second = KILOBITS[version == MPEG1, layer][bits] * 1_000
    padding = third >> 1 & 1
    samples = 576 if layer == LAYER3 and version != MPEG1 else 1_152
    return samples // 8 * bits_per_second // hertz + padding, samples, hertz


def _stated_samples(data: Buffer, samples_per_frame: int) -> int:
    """Samples that a header in the first frame tells of the frames behind it, 0 without one that can be true."""
    at = _xing_at(data)
    if bytes(data[at : at + 4]) in (b"Xing", b"Info"):
        flags = data[at + 7]
        if not flags & HAS_FRAMES:
            return 0
        frames_at = at + 8
        cut = _delays(data, at + 8 + sum(size for flag, size in OPTIONAL if flags & flag))
    elif bytes(data[VBRI_AT : VBRI_AT + 4]) == b"VBRI":
        frames_at, cut = VBRI_AT + VBRI_FRAMES_AT, 0
    else:
        return 0
    (frames,) = _U32.unpack_from(data, frames_at)
    if frames > len(data) // LEAST_FRAME_BYTES:
        return 0
    return max(0, int(frames) * samples_per_frame - cut)


def _xing_at(data: Buffer) -> int:
    """Where the header stands: behind the side information, whose size is by version and channels."""
    one = data[1] >> 3 & 3 == MPEG1
    mono = data[3] >> 6 == MONO
    return HEADER_BYTES + ((17 if mono else 32) if one else (9 if mono else 17))


def _delays(data: Buffer, lame: int) -> int:
    if bytes(data[lame : lame + 4]) not in (b"LAME", b"Lavf", b"Lavc", b"L3.9"):
        return 0
    delays = int.from_bytes(data[lame + LAME_DELAYS_AT : lame + LAME_DELAYS_AT + 3], "big")
    return (delays >> 12) + (delays & 0xFFF)
