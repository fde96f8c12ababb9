"""AAC in ADTS: the length of all its frames. Source: ISO/IEC 13818-7, section 6.2."""

from forebay.intake.media.frames import Frame, length
from forebay.intake.media.header import Buffer, MediaHeader, sound

MIME = "audio/aac"
HEADER_BYTES = 7
SAMPLES_PER_BLOCK = 1_024
RATES = (96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350)


def matches(head: bytes) -> bool:
    """See Format. Twelve set bits, layer 0, and no reserved rate."""
    return len(head) >= HEADER_BYTES and _frame(head, 0) is not None


def probe(data: Buffer) -> MediaHeader:
    """Duration: exact for short ones, an estimate for a long one of variable bit rate."""
    duration_us, exact = length(data, len(data), _frame)
    return sound(MIME, duration_us, exact=exact)


def _frame(data: Buffer, at: int) -> Frame | None:
    if at + HEADER_BYTES > len(data) or data[at] != 0xFF or data[at + 1] & 0xF6 != 0xF0:
        return None
    rate = data[at + 2] >> 2 & 0xF
    size = (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
    if rate >= len(RATES) or size < HEADER_BYTES:
        return None
    blocks = (data[at + 6] & 3) + 1
    return size, blocks * SAMPLES_PER_BLOCK, RATES[rate]
