"""How fast an endpoint really is, beside what its declared device promises."""

import math

# A device may be mis-declared, or the model be far from the reference: a 650 K model on a CPU is 60 times as fast.
SLOWEST = 64.0
FASTEST = 1.0 / 64.0

# The n-th sample weighs 1/n until this floor: the first teaches all, and later ones follow a change within about 10.
LEAST_WEIGHT = 0.1

# Smaller changes are not handed on to endpoints alike: a large pool should not be repriced at each outcome.
WORTH_TELLING = 1.1


class Speed:
    """One factor per endpoint: real over nominal time, 1 until something was seen.

    A mean of logarithms, so that twice as slow and twice as fast are the same distance, and one stray sample of ten
    times the usual moves it by a quarter at most.
    """

    __slots__ = ("_log", "_samples", "factor")

    def __init__(self) -> None:
        self.factor = 1.0
        self._log = 0.0
        self._samples = 0

    def learn(self, observed_us: float, nominal_us: float) -> None:
        """An outcome: the time to first token of a request with nothing of ours in front, and its nominal price."""
        if observed_us <= 0 or nominal_us <= 0:
            return
        self._samples += 1
        ratio = min(max(observed_us / nominal_us, FASTEST), SLOWEST)
        self._log += max(1.0 / self._samples, LEAST_WEIGHT) * (math.log(ratio) - self._log)
        self.factor = math.exp(self._log)

    @property
    def known(self) -> bool:
        """Whether an outcome was ever seen."""
        return self._samples > 0

    def presume(self, factor: float) -> bool:
        """Take over what endpoints alike have taught, until the first outcome. True if that changes anything.

        Without it one that was never tried keeps its device's promise, and loses every comparison to one that turned out
        faster: it would never be tried.
        """
        changes = not self.known and not 1 / WORTH_TELLING < factor / self.factor < WORTH_TELLING
        if changes:
            self.factor = factor
        return changes
