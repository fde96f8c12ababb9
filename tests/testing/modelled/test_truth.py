"""What a modelled engine knows of its requests: each span, and who held whom up."""

import msgspec
import pytest

from forebay.simulator.engine.device import load_device
from forebay.simulator.engine.engine import Engine, EngineSettings
from forebay.simulator.engine.job import Job
from forebay.simulator.engine.shape import QWEN3_VL_8B
from forebay.simulator.engine.steps import StepModel
from forebay.testing.modelled.truth import Truth, Truths

STEPS = StepModel(load_device("a100-sxm"), QWEN3_VL_8B)


def job(name, prompt, output, patches=(), at=0.0, **more):
    return Job(Truth(name, at, prompt, output, sum(patches)), prompt, output, patches, **more)


def play(arrivals, capacity=None, **settings):
    """Submit [(at, job)] in order, and let all end. The truths by name; a second of the clock is two of the engine's."""
    engine = Engine(STEPS, EngineSettings(coalesce=False, **settings))
    engine.capacity_tokens = capacity or engine.capacity_tokens
    truths = Truths(lambda at: 100.0 + at / 2)
    waiting = list(arrivals)
    while waiting or engine.step() is not None:
        if waiting and waiting[0][0] <= engine.due:
            at, one = waiting.pop(0)
            engine.submit(one, at)
            continue
        step = engine.step()
        truths.heard(step, engine.happen())
    return {truth.request_id: truth for truth in truths.done}


def test_one_alone_has_its_spans_and_nobody_to_blame():
    truth = play([(0.0, job("a", 1000, 4, (1600,)))])["a"]
    encode, prefill = STEPS.encode([1600]), STEPS.step(1000, 1000 * 1000, 0, 0)
    assert (truth.entered, truth.encode_seconds) == (100.0, pytest.approx(encode / 2))
    assert truth.first == pytest.approx(100 + (encode + prefill) / 2)
    decode = sum(STEPS.step(0, 0, 1, 1001 + n) for n in range(3))
    assert truth.ended - truth.first == pytest.approx(decode / 2)
    assert truth.interference == []


def test_who_joins_holds_up_those_who_write_for_as_long_as_its_prompt_takes():
    alone = play([(0.0, job("a", 100, 50))])["a"]
    both = play([(0.0, job("a", 100, 50)), (0.1, job("b", 1500, 1, (1600,), at=100.05))])
    told = both["a"].interference
    assert {one.request_id for one in told} == {"b"}
    longer = (both["a"].ended - both["a"].first) - (alone.ended - alone.first)
    assert sum(one.seconds for one in told) == pytest.approx(longer, rel=0.05)
    assert both["b"].entered >= both["b"].arrived
    assert both["b"].interference == []


def test_those_who_join_together_share_the_blame_by_their_work():
    both = play([(0.0, job("a", 100, 50)), (0.1, job("b", 1500, 1, (1600,))), (0.1, job("c", 300, 1))])
    blame = {name: sum(j.seconds for j in both["a"].interference if j.request_id == name) for name in "bc"}
    assert blame["b"] > 5 * blame["c"] > 0


def test_what_the_cache_spared_is_told():
    prefix = {"prefix": (1, 2), "ends": (64, 128)}
    told = play([(0.0, job("a", 200, 1, **prefix)), (1.0, job("b", 200, 1, **prefix))])
    assert (told["a"].cached_tokens, told["b"].cached_tokens) == (0, 128)


def test_a_preempted_one_counts_how_often():
    told = play([(0.0, job("a", 150, 100)), (0.0, job("b", 150, 100))], capacity=400)
    assert told["b"].preemptions >= 1
    assert told["a"].preemptions == 0


def test_it_can_be_told_as_json():
    truth = play([(0.0, job("a", 10, 2))])["a"]
    assert msgspec.json.decode(msgspec.json.encode(truth), type=Truth) == truth
