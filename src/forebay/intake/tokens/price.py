"""Ask a family about a media header."""

from forebay.domain.ability import Ability
from forebay.intake.media.header import MediaHeader
from forebay.intake.tokens.family import Family, MediaCost


def price(family: Family, header: MediaHeader) -> MediaCost | None:
    """Price of one item, or None when the family lacks its modality. Unknown measures are priced by the family's fallback."""
    if header.modality is Ability.IMAGE:
        return family.image(header.width, header.height, header.frames, header.orientation)
    if header.modality is Ability.AUDIO:
        return family.audio(header.duration_us)
    return family.video(header.width, header.height, header.frames if header.sized else 0, header.duration_us)
