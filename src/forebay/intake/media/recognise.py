"""Formats known by their magic bytes, whose measures are not read here. The caller prices a configured fallback."""

from forebay.domain.ability import Ability

_PREFIXES: tuple[tuple[bytes, str, Ability], ...] = (
    (b"ID3", "audio/mpeg", Ability.AUDIO),
    (b"fLaC", "audio/flac", Ability.AUDIO),
)
EBML_MAGIC = b"\x1a\x45\xdf\xa3"


def recognise(head: bytes, declared_mime: str = "") -> tuple[str, Ability] | None:
    """MIME and modality that the first bytes name, or None."""
    for prefix, mime, modality in _PREFIXES:
        if head.startswith(prefix):
            return mime, modality
    if head.startswith(EBML_MAGIC):
        return _sound_or_video("webm" if b"webm" in head else "x-matroska", declared_mime)
    if head.startswith(b"OggS"):
        return _ogg(head)
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "video/x-msvideo", Ability.VIDEO
    return _mpeg_audio(head)


def _sound_or_video(subtype: str, declared_mime: str) -> tuple[str, Ability]:
    if declared_mime.lower().startswith("audio/"):
        return f"audio/{subtype}", Ability.AUDIO
    return f"video/{subtype}", Ability.VIDEO


def _ogg(head: bytes) -> tuple[str, Ability]:
    """The first page of an Ogg names its codec: Theora is video, and all else in use is sound."""
    return ("video/ogg", Ability.VIDEO) if b"\x80theora" in head else ("audio/ogg", Ability.AUDIO)


def _mpeg_audio(head: bytes) -> tuple[str, Ability] | None:
    """A bare MPEG audio or ADTS frame header, every reserved value refused, since eleven set bits prove little.

    Source: ISO/IEC 11172-3, 2.4.1.3; ISO/IEC 13818-7, 6.2.
    """
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    if layer == 0 and version & 2:  # ADTS: a sync word of twelve bits, then layer 0
        return ("audio/aac", Ability.AUDIO) if head[2] >> 2 & 0xF < 13 else None
    bitrate, rate = head[2] >> 4, head[2] >> 2 & 3
    if version == 1 or layer not in (1, 2) or bitrate in (0, 15) or rate == 3:
        return None
    return "audio/mpeg", Ability.AUDIO
