import asyncio
import random

import pytest

from forebay.config.settings import EyesSettings
from forebay.domain.endpoint import Endpoint
from forebay.fleet.eyes import Eyes, monotonic_us

FAST = EyesSettings(scrape_seconds=0.02, health_seconds=0.05, models_seconds=60.0, scrape_timeout_seconds=0.5)


class Seen:
    """A sink that can be waited on."""

    def __init__(self):
        self.batches = []
        self.changed = asyncio.Event()

    def __call__(self, views):
        assert views
        self.batches.append(views)
        self.changed.set()

    @property
    def views(self):
        return [view for batch in self.batches for view in batch]

    async def until(self, holds):
        async with asyncio.timeout(30):
            while not holds(self.views):
                self.changed.clear()
                await self.changed.wait()
        return self.views


def named(slot, engine, url):
    return Endpoint(slot=slot, name=f"ep-{slot}", url=url, engine=engine)


async def test_sees_two_engines_and_hands_their_views_on_together(serving, vllm, llama):
    one, two = await serving(vllm), await serving(llama)
    seen = Seen()
    async with Eyes([named(0, "", one.url), named(1, "", two.url)], seen, FAST):
        await seen.until(lambda views: {view.slot for view in views} == {0, 1})
        await seen.until(lambda views: len(views) >= 10)
    engines = {view.slot: view.engine for view in seen.views}
    assert engines == {0: "vllm", 1: "llama.cpp"}
    assert all(len({view.slot for view in batch}) == len(batch) for batch in seen.batches)


async def test_never_asks_one_endpoint_twice_at_once(serving, vllm):
    engine = await serving(vllm)
    engine.delay = 0.05  # slower than the interval
    seen = Seen()
    async with Eyes([named(0, "vllm", engine.url)], seen, FAST):
        await seen.until(lambda views: len(views) >= 4)
    assert engine.most_open == 1


async def test_bounds_how_many_endpoints_are_asked_at_once(serving, vllm):
    engine = await serving(vllm)
    engine.delay = 0.01
    settings = EyesSettings(scrape_seconds=0.02, max_concurrent=2)
    seen = Seen()
    async with Eyes([named(slot, "vllm", engine.url) for slot in range(6)], seen, settings):
        await seen.until(lambda views: {view.slot for view in views} == set(range(6)))
    assert engine.most_open == 2


async def test_an_endpoint_that_dies_is_reported_down_and_then_back(serving, vllm):
    engine = await serving(dict(vllm))
    seen, warnings = Seen(), []
    async with Eyes([named(0, "vllm", engine.url)], seen, FAST, warn=warnings.append):
        await seen.until(lambda views: views and views[-1].reachable)
        engine.table["/health"] = 503
        await seen.until(lambda views: views[-1].reachable is False)
        engine.table["/health"] = 200
        await seen.until(lambda views: views[-1].reachable)
    assert warnings == [
        "endpoint ep-0: its health probe fails: /health is answered with 503",
        "endpoint ep-0: it answers its health probe again",
    ]


async def test_the_key_is_sent_and_never_told(serving, vllm):
    engine = await serving({**vllm, "/v1/models": 401})
    seen, warnings = Seen(), []
    eyes = Eyes(
        [named(0, "vllm", engine.url)], seen, FAST, credentials=lambda _: "s3cret", warn=warnings.append
    )
    async with eyes:
        await seen.until(lambda views: len(views) >= 2)
    assert {headers["Authorization"] for headers in engine.headers} == {"Bearer s3cret"}
    assert warnings
    assert "s3cret" not in "".join(warnings) + repr(seen.views)


async def test_a_new_plan_watches_the_new_drops_the_old_and_keeps_the_rest(serving, vllm):
    engine = await serving(vllm)
    kept, gone, moved = (named(slot, "vllm", engine.url) for slot in range(3))
    seen = Seen()
    async with Eyes([kept, gone, moved], seen, FAST) as eyes:
        await seen.until(lambda views: {view.slot for view in views} == {0, 1, 2})
        task = eyes._tasks[0]
        eyes.update([kept, named(2, "vllm", "http://127.0.0.1:1"), named(3, "vllm", engine.url)])
        assert eyes._tasks[0] is task
        seen.batches.clear()
        await seen.until(
            lambda views: (
                {view.slot for view in views} == {0, 2, 3}
                and any(view.slot == 2 and view.reachable is False for view in views)
            )
        )
    assert all(view.slot != 1 for view in seen.views)


async def test_a_plan_before_the_start_is_the_one_that_is_watched(serving, vllm):
    engine = await serving(vllm)
    seen = Seen()
    eyes = Eyes([], seen, FAST)
    eyes.update([named(5, "vllm", engine.url)])
    async with eyes:
        await seen.until(lambda views: any(view.slot == 5 for view in views))


async def test_stop_leaves_no_task_and_no_view(serving, vllm):
    engine = await serving(vllm)
    before = asyncio.all_tasks()
    seen = Seen()
    eyes = Eyes([named(slot, "vllm", engine.url) for slot in range(4)], seen, FAST)
    await eyes.stop()
    await eyes.start()
    await seen.until(lambda views: len(views) >= 4)
    eyes.update([])
    await eyes.stop()
    await eyes.stop()
    count = len(seen.batches)
    await asyncio.sleep(0.1)
    assert len(seen.batches) == count
    ours = [task for task in asyncio.all_tasks() - before if task.get_name().startswith("eyes")]
    assert ours == []


async def test_a_fault_in_one_look_is_told_and_the_eyes_stay_open(serving, vllm):
    engine = await serving(vllm)
    seen, warnings, faults = Seen(), [], [RuntimeError("the key is not told: s3cret")]

    def broken(_endpoint):
        if faults:
            raise faults.pop()

    async with Eyes([named(0, "vllm", engine.url)], seen, FAST, credentials=broken, warn=warnings.append):
        await seen.until(lambda views: views and views[-1].running == 3.0)
    assert warnings == ["endpoint ep-0: looking at it failed with RuntimeError"]


async def test_endpoints_fall_out_of_step():
    eyes = Eyes([], lambda _views: None, EyesSettings(scrape_seconds=0.5), rng=random.Random(7))
    pauses = [eyes._pause() for _ in range(200)]
    assert 0.475 <= min(pauses) < 0.48
    assert 0.52 < max(pauses) <= 0.525


def test_the_clock_counts_microseconds():
    first = monotonic_us()
    assert isinstance(first, int)
    assert 0 <= monotonic_us() - first < 60_000_000


@pytest.mark.engines
async def test_a_real_llamacpp_is_found_out_and_read(tmp_path):
    launch = pytest.importorskip("forebay.testing.engines.launch")
    if reason := launch.engines_available():
        pytest.skip(f"REAL ENGINE NOT TESTED: {reason}")
    seen = Seen()
    with launch.EngineProcess(launch.tinyvlm(launch.free_port()), tmp_path) as engine:
        async with Eyes([named(0, "", engine.url)], seen, FAST):
            view = (await seen.until(lambda views: views and views[-1].reachable))[-1]
    assert (view.engine, view.models, view.running, view.waiting) == ("llama.cpp", ("tinyvlm",), 0.0, 0.0)
    assert (view.kv_usage, view.context_tokens) == (None, 2048)
    assert view.abilities is not None


async def test_metrics_are_read_where_they_stand(serving):
    engine = await serving({"/health/ready": 200, "/v1/models": {"data": [{"id": "m"}]}})
    metrics = await serving({"/metrics": b'nv_inference_pending_request_count{model="m",version="1"} 3\n'})
    endpoint = Endpoint(
        slot=0, name="t", url=engine.url, engine="triton", metrics_port=int(metrics.url.rpartition(":")[2])
    )
    seen = Seen()
    async with Eyes([endpoint], seen, FAST):
        view = (await seen.until(lambda views: views and views[-1].waiting == 3.0))[-1]
    assert (view.running, view.models) == (None, ("m",))
    assert "/metrics" not in engine.asked
