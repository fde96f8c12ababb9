"""ID3v2: a tag before a sound that tells nothing of its length. Source: ID3 tag version 2.4.0, section 3.1."""

from forebay.domain.ability import Ability
from forebay.intake.media.formats import aac, flac, mp3
from forebay.intake.media.header import Buffer, MediaHeader, unsized

MIME = mp3.MIME
MAGIC = b"ID3"
HEADER_BYTES = 10
HAS_FOOTER = 0x10
# One is usual; a careless editor puts its own before another's.
MAX_TAGS = 4


def matches(head: bytes) -> bool:
    """See Format."""
    return head.startswith(MAGIC)


def probe(data: Buffer) -> MediaHeader:
    """Header of the sound behind the tag, unsized where it is not at once behind it."""
    sound = memoryview(data)
    for _ in range(MAX_TAGS):
        if bytes(sound[:3]) != MAGIC:
            break
        sound = sound[_tag_bytes(sound) :]
    head = bytes(sound[:HEADER_BYTES])
    if mp3.matches(head):
        return mp3.probe(sound)
    if aac.matches(head):
        return aac.probe(sound)
    if flac.matches(head):
        return flac.probe(sound)
    return unsized(MIME, Ability.AUDIO)


def _tag_bytes(data: memoryview) -> int:
    """Length of a tag, whose size is written in four bytes of seven bits."""
    a, b, c, d = data[6], data[7], data[8], data[9]
    size = (a & 0x7F) << 21 | (b & 0x7F) << 14 | (c & 0x7F) << 7 | d & 0x7F
    return size + HEADER_BYTES * (2 if data[5] & HAS_FOOTER else 1)
