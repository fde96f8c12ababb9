"""How the requests of a pool fare on the whole, learned from those that ended well."""

from forebay.domain.pace import AT_FIRST, Pace

# As in the prototype whose constants placement uses: means over the last 200 requests, of sizes over the last 100.
WINDOW = 200
SIZE_WINDOW = 100

# Fewer tell nothing: one long answer would be the mean. Until then the defaults stand.
LEAST_COUNT = 20

# A stray outcome counts as at most so many times the mean: P99 / mean is 4 to 8 on the public traces.
MOST_TIMES = 10.0


class Mean:
    """A running mean: the n-th weighs 1/n until 1/window, and none more than MOST_TIMES the mean before it."""

    __slots__ = ("_mean", "_window", "count")

    def __init__(self, window: int) -> None:
        self._window = window
        self._mean = 0.0
        self.count = 0

    def add(self, value: float) -> None:
        """One more, > 0."""
        if self.count >= LEAST_COUNT:
            value = min(value, MOST_TIMES * self._mean)
        self.count += 1
        self._mean += (value - self._mean) / min(self.count, self._window)

    def over(self, default: float) -> float:
        """The mean, or `default` while there are fewer than LEAST_COUNT."""
        return self._mean if self.count >= LEAST_COUNT else default


class PaceMeter:
    """Mutable, one per pool."""

    def __init__(self) -> None:
        self._pace: Pace | None = AT_FIRST  # None: things have changed, and nobody has asked since
        self._answer = Mean(WINDOW)
        self._first_token = Mean(WINDOW)
        self._prompt = Mean(SIZE_WINDOW)
        self._prompt_squared = Mean(SIZE_WINDOW)
        self._capacities: dict[int, int] = {}

    @property
    def pace(self) -> Pace:
        """How things stand."""
        if self._pace is None:
            self._pace = self._summed_up()
        return self._pace

    def first_token(self, elapsed_us: int, prompt_tokens: int) -> None:
        """A streamed request has shown its first token, so long after it arrived."""
        if elapsed_us <= 0 or prompt_tokens <= 0:
            return
        self._first_token.add(elapsed_us * 1e-6)
        self._prompt.add(float(prompt_tokens))
        self._prompt_squared.add(float(prompt_tokens) ** 2)
        self._pace = None

    def answered(self, elapsed_us: int) -> None:
        """An answer was whole, so long after its request arrived."""
        if elapsed_us > 0:
            self._answer.add(elapsed_us * 1e-6)
            self._pace = None

    def capacity(self, slot: int, kv_tokens: int | None) -> None:
        """The endpoint has told the size of its KV cache, or told that it does not tell."""
        if kv_tokens and self._capacities.get(slot) != kv_tokens:
            self._capacities[slot] = kv_tokens
            self._pace = None

    def forget(self, slot: int) -> None:
        """The endpoint is gone."""
        if self._capacities.pop(slot, None) is not None:
            self._pace = None

    def _summed_up(self) -> Pace:
        sizes = self._capacities.values()
        return Pace(
            self._answer.over(AT_FIRST.answer_seconds),
            self._first_token.over(AT_FIRST.first_token_seconds),
            self._prompt.over(AT_FIRST.prompt_tokens),
            self._prompt_squared.over(AT_FIRST.prompt_tokens_rms**2) ** 0.5,
            sum(sizes) / len(sizes) if sizes else AT_FIRST.kv_capacity_tokens,
        )
