"""Every case, contestant and seed, over all cores, told as it goes. The order of the results does not depend on who was first."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from forebay.simulator.many import Job, run_many
from forebay.simulator.results import Result
from forebay.simulator.run import Choice
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
    choice: Choice

    @property
    def job(self) -> Job:
        """What is to be run for it."""
        return Job(self.scenario, self.choice, self.seed)


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
    results: dict[int, Result] = {}
    for place, result in run_many([task.job for task in work], processes or os.cpu_count() or 1):
        results[place] = result
        if tell is not None:
            task = work[place]
            tell(len(results), len(work), f"case {task.case}, {task.contestant}, seed {task.seed}")
    return [results[place] for place in range(len(work))]
