"""The modelled engine against measured ones: Llama-3.1-8B on one H100, closed loops of 8 to 128 clients.

One factor is fitted to the prompts of 1,024 and 2,048 tokens; all of 4,096 are held out.
"""

import csv
import itertools
import statistics
from pathlib import Path
from typing import NamedTuple

import pytest

from forebay.simulator.engine.device import load_device
from forebay.simulator.engine.engine import Engine, EngineSettings
from forebay.simulator.engine.job import Job
from forebay.simulator.engine.shape import LLAMA_31_8B
from forebay.simulator.engine.steps import ENGINE_OVERHEAD, StepModel

ROUNDS = 4
HELD_OUT = 4_096


class Row(NamedTuple):
    input_tokens: int
    output_tokens: int
    clients: int
    ttft_ms: float
    tpot_ms: float


def measured():
    lines = (Path(__file__).parent / "data" / "llama-h100.csv").read_text().splitlines()[2:]
    return [
        Row(*map(int, row[:3]), *map(float, row[3:])) for row in itertools.islice(csv.reader(lines), 1, None)
    ]


def modelled_tpot_ms(row):
    """Every client asks again as soon as it is served; the first round, in which all come at once, does not count, nor the last."""
    engine = Engine(StepModel(load_device("h100-sxm"), LLAMA_31_8B), EngineSettings(prefix_caching=False))
    numbers, first, spent = itertools.count(), {}, []

    def ask(now):
        number = next(numbers)
        if number < ROUNDS * row.clients:
            engine.submit(Job(number, row.input_tokens, row.output_tokens), now)

    for _ in range(row.clients):
        ask(0.0)
    while engine.due < float("inf"):
        happened = engine.happen()
        first.update((job.key, happened.at) for job in happened.first)
        for job in happened.ended:
            if row.clients <= job.key < (ROUNDS - 1) * row.clients:
                spent.append((happened.at - first[job.key]) / (row.output_tokens - 1))
            ask(happened.at)
    return 1e3 * statistics.fmean(spent)


@pytest.fixture(scope="module")
def pairs():
    return [(row, modelled_tpot_ms(row)) for row in measured()]


def test_the_gap_between_tokens_is_right_for_prompts_that_nothing_was_fitted_to(pairs):
    factor = statistics.median(
        row.tpot_ms / modelled for row, modelled in pairs if row.input_tokens < HELD_OUT
    )
    errors = [
        abs(factor * modelled / row.tpot_ms - 1) for row, modelled in pairs if row.input_tokens == HELD_OUT
    ]
    assert len(errors) == 12
    assert statistics.median(errors) <= 0.08
    assert factor * ENGINE_OVERHEAD == pytest.approx(1.05, abs=0.01)


def test_what_ships_is_slower_than_these_engines_by_less_than_a_tenth(pairs):
    """1.14 was fitted to a closed form, and another engine than the one that is modelled was measured."""
    assert len(pairs) == 42
    assert 1.0 < statistics.median(modelled / row.tpot_ms for row, modelled in pairs) < 1.1
