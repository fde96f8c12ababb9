"""Every case, contestant and seed, over all cores, told as it goes. The order of the results does not depend on who was first."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import msgspec

from forebay.simulator.results import Result
from forebay.simulator.run import run
from forebay.simulator.scenario import Scenario, load_scenario
from forebay.testing.proof.cases import Case
from forebay.testing.proof.contestants import Contestant, gateways

Tell = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Task:
    """One run: which, and of what."""

    case: str
    contestant: str
    seed: int
    scenario: Scenario
    choice: object

    def perform(self) -> Result:
        """In whatever process this is."""
        return run(self.scenario, self.choice, self.seed)  # type: ignore[arg-type]


def tasks(
    cases: Sequence[Case],
    contestants: Sequence[Contestant],
    seeds: Iterable[int],
    subject: str,
    shorter: float = 1.0,
) -> list[Task]:
    """All of them. `shorter` cuts every scenario to that share of its requests."""
    return [
        Task(case.name, one.name, seed, scenario_of(case, one, shorter), one.choice)
        for case in cases
        for seed in seeds
        for one in (*contestants, *(gateways(subject) if case.several_gateways else ()))
    ]


def scenario_of(case: Case, contestant: Contestant, shorter: float = 1.0) -> Scenario:
    """The case's scenario, at its rate and with the contestant's changes."""
    scenario = load_scenario(case.scenario)
    if case.rate_per_second is not None:
        scenario = scenario.at_rate(case.rate_per_second)
    fewer = max(1, round(scenario.requests * shorter))
    return contestant.within(msgspec.structs.replace(scenario, requests=fewer))


def perform(work: Sequence[Task], processes: int = 0, tell: Tell | None = None) -> list[Result]:
    """Their results, in the same order. `processes` of 0 is one for each core; `tell` hears of each that is done."""
    results = []
    for number, (task, result) in enumerate(zip(work, _results(work, processes), strict=True), 1):
        results.append(result)
        if tell is not None:
            tell(number, len(work), f"case {task.case}, {task.contestant}, seed {task.seed}")
    return results


def _results(work: Sequence[Task], processes: int) -> Iterator[Result]:
    count = min(len(work), processes or os.cpu_count() or 1)
    if count <= 1:
        yield from map(Task.perform, work)
        return
    # Fresh processes: a forked one would inherit whatever the caller has running.
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        yield from pool.map(Task.perform, work)
