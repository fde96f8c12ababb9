"""What every contestant is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

MAX_BODY_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class Site:
    """Where one contestant runs."""

    folder: Path
    port: int
    admin_port: int
    engine_ports: Sequence[int]

    @property
    def urls(self) -> list[str]:
        """The engines' base URLs."""
        return [f"http://127.0.0.1:{port}" for port in self.engine_ports]


class Contestant(Protocol):
    """One router: what it is called, whether it is here, and its command line."""

    name: ClassVar[str]
    # The part of each load that it is given, 0 < share <= 1: a router that takes a hundred times as long for each request
    # would otherwise keep the others waiting for minutes. Figures are per request, so that they can be compared all the same.
    share: ClassVar[float]
    ready_path: ClassVar[str]  # answers 200 once it serves

    def version(self) -> str:
        """Its version, or empty when it is not installed."""
        ...

    def cure(self) -> str:
        """How to install it, for people."""
        ...

    def install(self) -> None:
        """Install it. Raises OSError or RuntimeError when that cannot be done."""
        ...

    def command(self, site: Site) -> list[str]:
        """Write its configuration into the site's folder and return the command line that runs it in the foreground."""
        ...


class Plain:
    """What most contestants have in common: they take the whole load, and say `/health`."""

    share: ClassVar[float] = 1.0
    ready_path: ClassVar[str] = "/health"
