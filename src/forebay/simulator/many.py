"""Many runs in parallel, each in a process of its own. In whatever order they end, each is what it would have been alone."""

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import NamedTuple

from forebay.simulator.results import Result
from forebay.simulator.run import Choice, Tell, run
from forebay.simulator.scenario import Scenario


class Job(NamedTuple):
    """One run to do."""

    scenario: Scenario
    profile: Choice
    seed: int


def run_many(jobs: Sequence[Job], workers: int = 1, tell: Tell | None = None) -> Iterator[tuple[int, Result]]:
    """The place in `jobs` and the result of each, as they end. `tell` hears how far a run in this very process is."""
    if workers <= 1 or len(jobs) <= 1:
        for place, job in enumerate(jobs):
            yield place, run(*job, tell)
        return
    # Started afresh: a fork would copy whatever threads and files this process has.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(jobs)), context) as pool:
        places = {pool.submit(run, *job): place for place, job in enumerate(jobs)}
        for future in as_completed(places):
            yield places[future], future.result()
