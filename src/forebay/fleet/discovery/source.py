"""What all sources have in common: they are looked at, they keep what they gave last, and they tell how that went."""

import abc
import logging
from collections.abc import Callable

from forebay.config.schema import EndpointFile

log = logging.getLogger(__name__)


class Source(abc.ABC):
    """One thing that is looked at every `seconds`. `key` names it in the plan and in labels.

    `entries` are the endpoints that it gives, as last understood; `good_at` is when that was, in microseconds of `clock`,
    None for never; `failures` counts looks that gave nothing to use.
    """

    def __init__(
        self, key: str, seconds: float, clock: Callable[[], int], warn: Callable[[str], None]
    ) -> None:
        self.key = key
        self.seconds = seconds
        self.entries: tuple[EndpointFile, ...] = ()
        self.good_at: int | None = None
        self.failures = 0
        self._clock = clock
        self._warn = warn
        self._told = ""

    async def look(self) -> bool:
        """Look once. True when what it gives has changed. Never raises: what it gave last stays in force."""
        try:
            changed = await self._look()
        except (OSError, TimeoutError, ValueError) as error:
            self.failures += 1
            self._tell(str(error) or type(error).__name__)
            return False
        except Exception:
            self.failures += 1
            log.exception("a fault of ours in the discovery of %s", self.key)
            return False
        self.good_at = self._clock()
        self._told = ""
        return changed

    def age_seconds(self, at: int) -> float | None:
        """How long ago it last gave something to use, None if never. `at` is now."""
        return None if self.good_at is None else (at - self.good_at) / 1e6

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """How many endpoints, or addresses, it gives."""

    @abc.abstractmethod
    async def _look(self) -> bool:
        """Look, and keep what is found. True when that is something new. Raises OSError, TimeoutError or ValueError."""

    def _tell(self, problem: str) -> None:
        if problem != self._told:  # once per cause
            self._told = problem
            self._warn(f"discovery of {self.key}: {problem}; what it gave last stays in force")
