"""Formats known by their magic bytes, whose measures are not read here. The caller prices a configured fallback."""

from forebay.domain.ability import Ability

EBML_MAGIC = b"\x1a\x45\xdf\xa3"


def recognise(head: bytes, declared_mime: str = "") -> tuple[str, Ability] | None:
    """MIME and modality that the first bytes name, or None."""
    if head.startswith(EBML_MAGIC):
        return _sound_or_video("webm" if b"webm" in head else "x-matroska", declared_mime)
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "video/x-msvideo", Ability.VIDEO
    return None


def _sound_or_video(subtype: str, declared_mime: str) -> tuple[str, Ability]:
    if declared_mime.lower().startswith("audio/"):
        return f"audio/{subtype}", Ability.AUDIO
    return f"video/{subtype}", Ability.VIDEO
