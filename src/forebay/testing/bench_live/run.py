"""Running the live bench, one profile after the other."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from forebay.simulator.run import name_of, profile_of
from forebay.testing.bench.cpu import Neighbours
from forebay.testing.bench_live import twin
from forebay.testing.bench_live.compare import compare
from forebay.testing.bench_live.report import Report, report_of
from forebay.testing.bench_live.settings import LiveSettings, check

Tell = Callable[[str, int, int], None]


def run(settings: LiveSettings, tell: Tell) -> Report:
    """Measure. `tell` hears of each profile how many requests have ended, of how many.

    Raises ConfigError for what cannot be done, RuntimeError or TimeoutError when something does not start.
    """
    check(settings.scenario)
    for profile in settings.profiles:
        profile_of(profile)  # told now, and not after minutes
    neighbours = Neighbours()
    visits = twin.visits(settings)
    twins = []
    for profile in settings.profiles:
        name = name_of(profile)
        with tempfile.TemporaryDirectory(prefix="forebay-bench-") as folder:
            seen = twin.live(settings, profile, Path(folder), _teller(tell, name, len(visits)))
        twins.append(compare(name, seen, twin.simulated(settings, profile, visits)))
    return report_of(settings, tuple(twins), neighbours.share())


def _teller(tell: Tell, name: str, total: int) -> Callable[[int], None]:
    return lambda ended: tell(name, ended, total)
