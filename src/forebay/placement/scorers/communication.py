"""Communication: how long the request's bytes are on their way to the device."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import known, unknown

# The mission's figure for pre-processing on another NUMA node than the device's: each byte crosses the socket link.
NUMA_SURCHARGE = 0.18


class Communication:
    """Seconds of transfer over the path, dearer when pre-processing is known to sit on another NUMA node."""

    name = "communication"
    unit = "seconds"
    least_wins = True

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Seconds, >= 0. An unknown topology raises nothing."""
        coefficient = 1.0 + NUMA_SURCHARGE * known(e.numa_apart, 0.0)
        return ask.demand.body_bytes / e.bytes_per_us * coefficient * 1e-6

    def unknown(self, ask: Ask, e: Facts) -> Quantity:
        """Flag: the topology is not known."""
        del ask
        return unknown(e.numa_apart)
