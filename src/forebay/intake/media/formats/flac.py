"""FLAC: the STREAMINFO block, which is always the first. Source: RFC 9639, sections 8.1 and 8.2."""

from forebay.intake.media.header import MICROSECONDS, Buffer, MalformedMedia, MediaHeader, sound

MIME = "audio/flac"
MAGIC = b"fLaC"
STREAMINFO = 0
# Behind the magic, the block header of 4 bytes, and the block and frame sizes of 10.
RATE_AT = 18


def matches(head: bytes) -> bool:
    """See Format."""
    return head.startswith(MAGIC)


def probe(data: Buffer) -> MediaHeader:
    """Duration, unknown where the encoder could not seek back to write it."""
    if data[4] & 0x7F != STREAMINFO:
        raise MalformedMedia(f"{MIME}: no STREAMINFO block")
    return sound(MIME, duration_us(data, RATE_AT))


def duration_us(data: Buffer, at: int) -> int:
    """Microseconds that the 64 bits at `at` of a STREAMINFO tell, 0 where unknown. Raises MalformedMedia.

    They are a sampling rate of 20 bits, channels and sample size of 8, and samples of 36.
    """
    fields = int.from_bytes(data[at : at + 8], "big")
    rate, samples = fields >> 44, fields & 0xF_FFFF_FFFF
    if rate == 0 or len(data) < at + 8:
        raise MalformedMedia(f"{MIME}: no sampling rate")
    return samples * MICROSECONDS // rate
