"""`forebay simulate SCENARIO`: a fleet and its clients in virtual time, under the very conductor of the live gateway."""

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from forebay.simulator.many import Job
    from forebay.simulator.results import Result
    from forebay.simulator.scenario import Scenario


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `simulate` to the command line."""
    parser = subparsers.add_parser(
        "simulate",
        help="serve a scenario in virtual time, and compare profiles",
        description="Everything it prints is modelled, and nothing is measured. The same seed gives the same bytes.",
    )
    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        help="one that comes with Forebay (smoke, a, b, c, ...), or a .yaml file",
    )
    parser.add_argument(
        "--profile",
        action="append",
        metavar="P",
        help="name, or name:setting=value,... ; again for more (default: every one)",
    )
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=int, default=1, metavar="N", help="the seed of the one run (1)")
    seeds.add_argument(
        "--seeds", type=_positive, metavar="N", help="runs of each profile, with the seeds 1 to N"
    )
    parser.add_argument(
        "--workers", type=_positive, metavar="W", help="runs at once (as many as there are cores)"
    )
    parser.add_argument("--rate", type=float, metavar="R", help="other requests a second, in an open loop")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON there too")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def run(options: argparse.Namespace) -> int:
    """Run and report. Raises ConfigError for a scenario or a profile that is wrong."""
    from forebay.cli.simulate_table import table
    from forebay.placement.catalogue import PROFILES
    from forebay.simulator.many import Job
    from forebay.simulator.run import profile_of
    from forebay.simulator.scenario import load_scenario

    scenario = _at_rate(load_scenario(options.scenario), options.rate)
    profiles = [profile_named(text) for text in options.profile or PROFILES]
    for profile in profiles:
        profile_of(profile)  # told now, and not after minutes
    seeds = range(1, options.seeds + 1) if options.seeds else (options.seed,)
    results = _results(
        [Job(scenario, profile, seed) for profile in profiles for seed in seeds], options.workers
    )
    text = _json(scenario, results)
    if options.out is not None:
        options.out.write_bytes(text)
    if options.json:
        sys.stdout.write(text.decode())
    else:
        print(table(scenario, results))
    return 0


def _at_rate(scenario: "Scenario", rate: float | None) -> "Scenario":
    from forebay.config.errors import ConfigError

    if rate is None:
        return scenario
    if scenario.arrivals is None or rate <= 0:
        raise ConfigError(
            "--rate",
            f"{scenario.name} cannot be asked at {rate:g} a second",
            "give a rate above 0, for an open loop",
        )
    return scenario.at_rate(rate)


def profile_named(text: str) -> str | dict[str, Any]:
    """`name`, or `name:setting=value,setting=value` as the mapping that a configuration would have."""
    import yaml

    from forebay.config.errors import ConfigError

    name, _, rest = text.partition(":")
    if not rest:
        return name
    settings: dict[str, Any] = {"name": name}
    for pair in rest.split(","):
        key, equals, value = pair.partition("=")
        if not equals:
            raise ConfigError(f"--profile {text}", f"`{pair}` sets nothing", "write setting=value")
        settings[key.strip()] = yaml.safe_load(value)
    return settings


def _results(jobs: "Sequence[Job]", workers: int | None) -> "list[Result]":
    from forebay.simulator.many import run_many

    found: dict[int, Result] = {}
    with _progress(sum(job.scenario.requests for job in jobs)) as progress:
        for place, result in run_many(jobs, workers or os.cpu_count() or 1, progress.within):
            found[place] = result
            progress.done(result)
    return [found[place] for place in range(len(jobs))]


def _json(scenario: "Scenario", results: "Sequence[Result]") -> bytes:
    import msgspec

    from forebay.simulator.results import standing_of

    report = {
        "modelled": True,
        "scenario": scenario.name,
        "title": scenario.title,
        "devices": standing_of(scenario),
        "runs": [{"profile": one.profile, "seed": one.seed, "figures": one.figures} for one in results],
    }
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


class _Progress(Protocol):
    def within(self, ended: int, of: int) -> None:
        """So many requests of the run in this process have ended."""

    def done(self, result: "Result") -> None:
        """A run has ended."""


class _Lines:
    """One line for each run: for files, and for terminals without rich."""

    def within(self, ended: int, of: int) -> None:
        """Nothing, as lines cannot be taken back."""

    def done(self, result: "Result") -> None:
        print(f"{result.scenario}: {result.profile}, seed {result.seed}", file=sys.stderr)


class _Bar:
    def __init__(self, bar: Any, total: int) -> None:
        self._bar, self._task = bar, bar.add_task("simulating", total=total)
        self._before = 0

    def within(self, ended: int, of: int) -> None:
        del of
        self._bar.update(self._task, completed=self._before + ended)

    def done(self, result: "Result") -> None:
        self._before += result.figures.requests
        self._bar.update(
            self._task, completed=self._before, description=f"{result.profile}, seed {result.seed}"
        )


@contextlib.contextmanager
def _progress(requests: int) -> Iterator[_Progress]:
    """A bar on a terminal that can draw one, else lines. All of it goes to stderr."""
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ModuleNotFoundError:
        yield _Lines()
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    with Progress(console=console, transient=True) as bar:
        yield _Bar(bar, requests)
