"""What a demand costs on one endpoint: the currency of placement and of the books."""

import msgspec

from forebay.domain.facts import Quantity


class Cost(msgspec.Struct, frozen=True, gc=False):
    """Microseconds of work on one endpoint (or, as arrays, on each of a pool), by stage. All are >= 0.

    What the endpoint holds already (cached prefix, encoded media) is taken off.
    """

    encode_us: Quantity
    prefill_us: Quantity
    decode_us: Quantity

    @property
    def prompt_us(self) -> Quantity:
        """Work before the first token."""
        return self.encode_us + self.prefill_us
