"""The gateway's own open requests, which it knows exactly and at once."""

from forebay.domain.facts import Ask, Facts, Quantity


class InFlight:
    """Own requests in flight. `least_wins` is stated by the profile: scaled so that 1 is least, more wins."""

    name = "in-flight"
    unit = "requests"

    def __init__(self, *, least_wins: bool = True) -> None:
        self.least_wins = least_wins

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Requests, >= 0.

        A fresh replica counts as many times fuller as its ramp is small, as Envoy's slow start weighs it; at full ramp
        this is the count itself.
        """
        del ask
        return (e.in_flight + 1.0) / e.ramp - 1.0
