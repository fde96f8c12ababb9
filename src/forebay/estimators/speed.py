"""How fast an endpoint really is, beside what its declared device promises."""

# A device may be mis-declared, or the model be far from the reference: a 650 K model on a CPU is 60 times as fast.
SLOWEST = 64.0
FASTEST = 1.0 / 64.0

# The n-th sample weighs 1/n until this floor: the first teaches all, and later ones follow a change within about 10.
LEAST_WEIGHT = 0.1

# Smaller changes are not handed on to endpoints alike: a large pool should not be repriced at each outcome.
WORTH_TELLING = 1.1


# A stray outcome counts as at most so many times what is believed by then.
MOST_TIMES = 3.0
# From so many outcomes on there is a belief to be measured by.
BELIEVED_FROM = 4


class Speed:
    """One factor: real over nominal time, 1 until something was seen.

    The mean of real times over the mean of nominal ones, both decaying alike: large work tells more than small, and what
    one outcome has too much of the next one lacks. A mean of ratios would count both as slow.
    """

    __slots__ = ("_nominal_us", "_observed_us", "_samples", "factor")

    def __init__(self) -> None:
        self.factor = 1.0
        self._observed_us = 0.0
        self._nominal_us = 0.0
        self._samples = 0

    def learn(self, observed_us: float, nominal_us: float) -> None:
        """An outcome: how long work of that nominal price took."""
        if observed_us <= 0 or nominal_us <= 0:
            return
        self._samples += 1
        if self._samples > BELIEVED_FROM:
            observed_us = min(observed_us, MOST_TIMES * self.factor * nominal_us)
        weight = max(1.0 / self._samples, LEAST_WEIGHT)
        self._observed_us += weight * (observed_us - self._observed_us)
        self._nominal_us += weight * (nominal_us - self._nominal_us)
        self.factor = min(max(self._observed_us / self._nominal_us, FASTEST), SLOWEST)

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
