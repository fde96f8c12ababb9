"""The modelled engine: batching, chunks, caches and preemption, and that coalescing changes nothing."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.simulator.engine.device import load_device
from forebay.simulator.engine.engine import Engine, EngineSettings
from forebay.simulator.engine.job import Job
from forebay.simulator.engine.shape import QWEN3_VL_8B
from forebay.simulator.engine.steps import StepModel

STEPS = StepModel(load_device("a100-sxm"), QWEN3_VL_8B)


def engine(capacity=None, **settings):
    made = Engine(STEPS, EngineSettings(**settings))
    if capacity is not None:
        made.capacity_tokens = capacity
    return made


def run(one, arrivals, leaves=()):
    """Play arrivals [(at, job)] and leaves [(at, job)]; the moments of first and last tokens by key."""
    moments = sorted(
        [(at, 0, number, job) for number, (at, job) in enumerate(arrivals)]
        + [(at, 1, number, job) for number, (at, job) in enumerate(leaves)],
        key=lambda moment: moment[:3],
    )
    first, ended = {}, {}
    while moments or one.due < math.inf:
        if moments and moments[0][0] <= one.due:
            at, leaving, _, job = moments.pop(0)
            (one.cancel if leaving else one.submit)(job, at)
            continue
        happened = one.happen()
        first |= {job.key: happened.at for job in happened.first}
        ended |= {job.key: happened.at for job in happened.ended}
    return first, ended


def test_one_job_alone_takes_its_prefill_and_its_steps():
    one = engine()
    first, ended = run(one, [(1.0, Job("a", 1000, 4))])
    at = 1.0 + STEPS.step(1000, 1000 * 1000, 0, 0)
    assert first["a"] == at
    kv = 1001
    for _ in range(3):
        at += sum(STEPS.decode(1)[part] * (1, kv)[part] for part in (0, 1))
        kv += 1
    assert ended["a"] == pytest.approx(at, rel=1e-12)
    assert (one.running, one.queued, one.kv_tokens(at)) == (0, 0, 0)


def test_a_long_prompt_is_cut_into_chunks_of_the_budget():
    first, _ = run(engine(token_budget=2048), [(0.0, Job("a", 5000, 1))])
    chunks = [(2048, 2048), (2048, 4096), (904, 5000)]
    assert first["a"] == pytest.approx(sum(STEPS.step(size, size * end, 0, 0) for size, end in chunks))


def test_a_picture_is_encoded_once_where_the_cache_keeps_it():
    one = engine(encoder_cache_items=10)
    first, ended = run(one, [(0.0, Job("a", 500, 1, patches=[2000], media=[7]))])
    assert first["a"] == pytest.approx(STEPS.encode([2000]) + STEPS.step(500, 500 * 500, 0, 0))
    began = ended["a"]
    first, _ = run(one, [(began, Job("b", 500, 1, patches=[2000], media=[7]))])
    assert first["b"] - began == pytest.approx(STEPS.step(500, 500 * 500, 0, 0))


def test_media_beyond_the_encoder_budget_wait_for_the_next_step():
    one = engine(encoder_budget_patches=3000, encoder_cache_items=0)
    jobs = [Job(name, 100, 1, patches=[2000], media=[number]) for number, name in enumerate("ab")]
    first, _ = run(one, [(0.0, Job("x", 2048, 1)), *((0.001, job) for job in jobs)])
    assert first["a"] < first["b"]


def test_a_prefix_that_was_computed_is_not_computed_again():
    one = engine()
    blocks, ends = [11, 12, 13], [512, 1024, 1500]
    run(one, [(0.0, Job("a", 1600, 1, prefix=blocks, ends=ends))])
    first, _ = run(one, [(10.0, Job("b", 1600, 1, prefix=[11, 12, 99], ends=ends))])
    assert first["b"] - 10.0 == pytest.approx(STEPS.step(576, 576 * 1600, 0, 0))


def test_a_whole_prompt_in_the_cache_still_computes_its_last_token():
    one = engine()
    job = {"prefix": [11], "ends": [512]}
    run(one, [(0.0, Job("a", 512, 1, **job))])
    first, _ = run(one, [(10.0, Job("b", 512, 1, **job))])
    assert first["b"] - 10.0 == pytest.approx(STEPS.step(1, 512, 0, 0))


def test_a_full_cache_preempts_the_last_to_come_and_it_ends_all_the_same():
    one = engine(capacity=1600)
    jobs = [(0.0, Job("a", 700, 200)), (0.001, Job("b", 700, 200))]
    first, ended = run(one, jobs)
    assert one.preemptions > 0
    assert ended["a"] < ended["b"]
    assert set(first) == set(ended) == {"a", "b"}
    assert one.kv_tokens(ended["b"]) == 0


def test_a_prompt_larger_than_the_cache_is_served_alone():
    for preemption in (True, False):
        _, ended = run(
            engine(capacity=100, preemption=preemption), [(0.0, Job("a", 500, 3)), (0.0, Job("b", 50, 3))]
        )
        assert set(ended) == {"a", "b"}


def test_a_client_that_leaves_frees_what_its_job_held_wherever_it_was():
    one = engine(max_sequences=2)
    decoding, prefilling, queued = Job("d", 100, 10_000), Job("p", 9000, 5), Job("q", 100, 5)
    arrivals = [(0.0, decoding), (1.0, prefilling), (1.0, queued), (3.0, Job("z", 10, 2))]
    leaves = [(1.05, queued), (1.1, prefilling), (2.0, decoding), (2.5, decoding)]
    _, ended = run(one, arrivals, leaves)
    assert set(ended) == {"z"}
    assert (one.running, one.queued, one.kv_tokens(ended["z"])) == (0, 0, 0)


def test_progress_can_be_asked_for_in_the_middle_of_a_run():
    one = engine()
    job = Job("a", 100, 1000)
    one.submit(job, 0.0)
    at = one.happen().at
    assert one.written(job, at) == 1
    step = sum((STEPS.decode(1)[0], STEPS.decode(1)[1] * 101))
    assert one.written(job, at + 1.5 * step) == 2
    assert one.running == 1
    assert one.kv_tokens(at + 1.5 * step) == 102


@st.composite
def loads(draw):
    seed = draw(st.integers(0, 2**32))
    rng = random.Random(seed)
    arrivals, at = [], 0.0
    for _ in range(draw(st.integers(1, 40))):
        at += rng.expovariate(20)
        patches = [rng.choice((200, 1600, 9000)) for _ in range(rng.choice((0, 0, 1, 3)))]
        media = [rng.randrange(5) for _ in patches]
        prefix = [rng.randrange(3) for _ in range(rng.choice((0, 2)))]
        ends = [64 * (place + 1) for place in range(len(prefix))]
        arrivals.append(
            (at, rng.randrange(130, 4000), rng.choice((1, 3, 60, 400)), patches, media, prefix, ends)
        )
    return arrivals, [number for number in range(len(arrivals)) if rng.random() < 0.1]


def play(load, **settings):
    arrivals, leavers = load
    jobs = [
        (at, Job(number, prompt, output, patches, media, prefix, ends))
        for number, (at, prompt, output, patches, media, prefix, ends) in enumerate(arrivals)
    ]
    leaves = [(jobs[number][0] + 0.3, jobs[number][1]) for number in leavers]
    one = engine(capacity=9000, encoder_cache_items=3, **settings)
    return run(one, jobs, leaves), one


@given(loads())
def test_coalescing_is_equal_to_stepping_to_the_last_bit(load):
    (first, ended), one = play(load, coalesce=True)
    (first_stepped, ended_stepped), stepped = play(load, coalesce=False)
    assert first == first_stepped
    assert ended == ended_stepped
    assert one.preemptions == stepped.preemptions


@given(loads(), st.booleans())
def test_whatever_comes_ends_once_and_leaves_nothing_behind(load, preemption):
    (first, ended), one = play(load, preemption=preemption)
    stayed = set(range(len(load[0]))) - set(load[1])
    assert stayed <= set(first)
    assert stayed <= set(ended)
    assert all(first[key] <= ended[key] for key in ended)
    last = max(ended.values(), default=0.0)
    assert (one.running, one.queued, one.kv_tokens(last + 1)) == (0, 0, 0)
    assert one._blocks.held == 0
    assert one.due == math.inf
