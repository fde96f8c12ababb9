"""What every profile has: the filters, and the one setting that they need."""

from typing import Annotated

import msgspec

from forebay.placement.filters.ability import HasAbility
from forebay.placement.filters.adapter import HasAdapter
from forebay.placement.filters.context import FitsContext
from forebay.placement.filters.draining import NotDraining
from forebay.placement.filters.encoder_budget import FitsEncoder
from forebay.placement.filters.health import Usable
from forebay.placement.filters.model import ServesModel
from forebay.placement.filters.pinned import Pinned
from forebay.placement.filters.role import HasRole
from forebay.placement.filters.saturation import HasRoom
from forebay.placement.filters.untried import Untried
from forebay.placement.protocols import Filter


class CommonSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`context_text_share`: the part of the estimated text tokens, 0..1, that is held against an endpoint's context."""

    context_text_share: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 0.5


def common_filters(settings: CommonSettings) -> tuple[Filter, ...]:
    """In this order: which it is, what it is, how it is, and last whether it has room.

    So the last filter that dropped anything tells the client most: unfit before unwell before full.
    """
    return (
        Pinned(),
        ServesModel(),
        HasAdapter(),
        HasAbility(),
        HasRole(),
        FitsContext(settings.context_text_share),
        FitsEncoder(),
        NotDraining(),
        Usable(),
        Untried(),
        HasRoom(),
    )
