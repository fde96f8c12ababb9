"""How long each prompt was worked on, where several may be done by one step."""

# First tokens of one step reach us together, but for the engine's and the network's small change.
SAME_STEP_SHARE = 0.05


class Turns:
    """Joins prompts whose first tokens came at one time: the first seems to have taken all of it, the others nothing."""

    __slots__ = ("_nominal_us", "_observed_us")

    def __init__(self) -> None:
        self._observed_us = 0.0
        self._nominal_us = 0.0

    def add(self, observed_us: float, nominal_us: float, *, last: bool) -> tuple[float, float] | None:
        """A prompt's time, and its nominal price. What was observed of those before, once another has come by itself.

        With `last` nobody waits behind it, and it is told at once.
        """
        before = (self._observed_us, self._nominal_us)
        apart = observed_us > SAME_STEP_SHARE * nominal_us and self._nominal_us > 0
        if apart and not last:
            self._observed_us, self._nominal_us = observed_us, nominal_us
            return before
        self._observed_us += observed_us
        self._nominal_us += nominal_us
        if not last:
            return None
        told = (self._observed_us, self._nominal_us)
        self._observed_us = self._nominal_us = 0.0
        return told
