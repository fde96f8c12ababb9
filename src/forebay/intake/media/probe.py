"""Tell what media some bytes are, from the bytes alone."""

from typing import Protocol

from forebay.intake.media.formats import (
    aac,
    avi,
    bmp,
    flac,
    gif,
    heif,
    id3,
    jpeg,
    matroska,
    mp3,
    mp4,
    ogg,
    png,
    tiff,
    wav,
    webp,
)
from forebay.intake.media.header import CUT, Buffer, MalformedMedia, MediaHeader

# The longest magic looked at: ftyp with a dozen compatible brands.
HEAD_BYTES = 64


class Format(Protocol):
    """One container. Each module of `formats` is one."""

    MIME: str
    """What it is called in messages."""

    def matches(self, head: bytes) -> bool:
        """Tell from the first HEAD_BYTES, or fewer, whether this is one."""
        ...

    def probe(self, data: Buffer) -> MediaHeader:
        """Header of `data`, which matches. A bounded number of steps, whatever is claimed.

        Raises MalformedMedia, or CUT, which `read` turns into it, so that no format has to check each of its reads.
        """
        ...


# Asked in this order: the usual ones first, and weak magic last.
FORMATS: tuple[Format, ...] = (
    png, jpeg, webp, wav, gif, heif, mp4, matroska, ogg, flac, id3, tiff, avi, bmp, mp3, aac,
)  # fmt: skip


def probe(data: Buffer) -> MediaHeader | None:
    """Header of the media in `data`, or None when no known format begins like this (SVG included).

    Raises MalformedMedia, and nothing else. Cost: a bounded number of steps, whatever is claimed.
    """
    head = bytes(data[:HEAD_BYTES])
    for known in FORMATS:
        if known.matches(head):
            return read(known, data)
    return None


def read(known: Format, data: Buffer) -> MediaHeader:
    """Header of `data`, which is of a `known` format. Raises MalformedMedia, and nothing else."""
    try:
        return known.probe(data)
    except CUT:
        raise MalformedMedia(f"{known.MIME}: cut before the end of its header") from None
