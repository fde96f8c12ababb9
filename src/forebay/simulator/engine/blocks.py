"""KV blocks of sequences that all grow by a token a step, counted without visiting any of them.

A sequence of `tokens` holds ceil(tokens / size) blocks, and takes another in the step after which its length leaves a multiple of
the size. That moment depends on its length and the step it was measured at only modulo the size: sequences are counted by that
phase.
"""


class Blocks:
    """Blocks held by running sequences."""

    def __init__(self, size: int) -> None:
        """`size` is the tokens of a block."""
        self._size = size
        self._phases = [0] * size
        self._step = 0
        self.held = 0

    def join(self, tokens: int, step: int) -> None:
        """A sequence of `tokens` is here from `step` on, and grows by one a step."""
        self._phases[self._phase(tokens, step)] += 1
        self.held += -(-tokens // self._size)

    def leave(self, tokens: int, joined: int, step: int) -> None:
        """One that joined with `tokens` at step `joined` goes at `step`, with all that it grew by."""
        self._phases[self._phase(tokens, joined)] -= 1
        self.held -= -(-(tokens + step - joined) // self._size)

    def wanted(self, step: int) -> int:
        """New blocks that the step after `step` takes."""
        return self._phases[step % self._size]

    def advance(self, step: int) -> None:
        """The steps up to `step` are over."""
        while self._step < step:
            self.held += self._phases[self._step % self._size]
            self._step += 1

    def steps_until(self, step: int, free: int) -> int:
        """Steps from `step` on that `free` blocks suffice for."""
        a_round = sum(self._phases)
        if not a_round:
            return 1 << 30
        rounds, free = divmod(max(0, free), a_round)
        steps = rounds * self._size
        for ahead in range(self._size):
            free -= self.wanted(step + ahead)
            if free < 0:
                return steps + ahead
        return steps + self._size

    def _phase(self, tokens: int, step: int) -> int:
        """The step, modulo the size, after which its length passes a multiple of the size."""
        return (step - tokens) % self._size
