"""Time that moves when told to."""


class VirtualClock:
    """Callable like a driver's clock: microseconds, never going back."""

    def __init__(self, at: int = 0) -> None:
        """Start at `at` microseconds."""
        self.at = at

    def __call__(self) -> int:
        """Now, in microseconds."""
        return self.at

    def advance(self, *, seconds: float = 0.0, us: int = 0) -> int:
        """Move on, and return the new time. Raises ValueError when asked to go back."""
        step = round(seconds * 1e6) + us
        if step < 0:
            raise ValueError(f"a monotonic clock cannot go back by {-step} us")
        self.at += step
        return self.at
