"""Tell what media some bytes are, from the bytes alone."""

from collections.abc import Callable
from typing import NamedTuple

from forebay.domain.ability import Ability
from forebay.intake.media import bmp, gif, jpeg, mp4, png, recognise, wav, webp
from forebay.intake.media.header import Buffer, MediaHeader

# The longest magic looked at: ftyp with a few compatible brands.
HEAD_BYTES = 64


class Format(NamedTuple):
    """One container that is read for its measures: how to recognise it, and how to read it."""

    matches: Callable[[bytes], bool]
    probe: Callable[[Buffer], MediaHeader]


FORMATS: tuple[Format, ...] = (
    Format(lambda head: head.startswith(png.MAGIC), png.probe),
    Format(lambda head: head.startswith(jpeg.MAGIC), jpeg.probe),
    Format(webp.matches, webp.probe),
    Format(wav.matches, wav.probe),
    Format(lambda head: head.startswith(gif.MAGICS), gif.probe),
    Format(bmp.matches, bmp.probe),
)


def probe(data: Buffer, declared_mime: str = "") -> MediaHeader | None:
    """Header of the media in `data`, or None when no known format begins like this (SVG included).

    The format follows from magic bytes. `declared_mime` is heard only where those leave the choice between sound and
    video (WebM, Ogg). Raises MalformedMedia, and nothing else. Cost: a bounded number of steps, whatever is claimed.
    """
    head = bytes(data[:HEAD_BYTES])
    for known in FORMATS:
        if known.matches(head):
            return known.probe(data)
    found = recognise.recognise(head, declared_mime)
    if found is None:
        return None
    mime, modality = found
    if mime in recognise.ISO_MOVIES:
        return mp4.probe(data, mime)
    return MediaHeader(mime, modality, frames=1 if modality is Ability.IMAGE else 0, sized=False)
