"""The plug-in for vLLM, on stand-ins for vLLM's modules and torch's events; the real vLLM is in tests/engines."""

import sys
import threading
from types import ModuleType

import pytest
from forebay_vllm import watch as watching
from forebay_vllm.clock import DeviceClock, HostClock
from forebay_vllm.collector import EncoderCollector
from forebay_vllm.imports import when_imported
from forebay_vllm.page import BUCKETS_SECONDS, PAGE_BYTES, Page, read
from forebay_vllm.watch import Watch, watch_runner
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families


def fresh_page():
    return Page(memoryview(bytearray(PAGE_BYTES)))


class Notes:
    """Stands where the page does, and remembers."""

    def __init__(self):
        self.told = []

    def add(self, modality, items, seconds):
        self.told.append((modality, items))
        assert seconds >= 0


def runner_module(fail=False):
    """A module shaped like vLLM's model runner."""
    module = ModuleType("stand_in_runner")

    def group_and_batch_mm_kwargs(mm_kwargs, **_named):
        yield from mm_kwargs

    class GPUModelRunner:
        def _execute_mm_encoder(self, mm_kwargs):
            done = []
            for modality, items, _batch in module.group_and_batch_mm_kwargs(mm_kwargs):
                if fail:
                    raise RuntimeError("out of memory")
                done.append((modality, items))
            return done

        def only_look(self, mm_kwargs):
            return next(module.group_and_batch_mm_kwargs(mm_kwargs))

    module.group_and_batch_mm_kwargs = group_and_batch_mm_kwargs
    module.GPUModelRunner = GPUModelRunner
    return module


BATCHES = [("image", 2, {}), ("video", 1, {})]


def watched(module):
    notes = Notes()
    watch_runner(module, "GPUModelRunner", "_execute_mm_encoder", Watch(lambda: notes, HostClock))
    return notes


def test_each_batch_of_an_encoding_is_told_once():
    module = runner_module()
    notes = watched(module)
    assert module.GPUModelRunner()._execute_mm_encoder(BATCHES) == [("image", 2), ("video", 1)]
    assert notes.told == [("image", 2), ("video", 1)]


def test_a_look_at_a_batch_outside_of_encoding_is_not_told():
    module = runner_module()
    notes = watched(module)
    assert module.GPUModelRunner().only_look(BATCHES) == BATCHES[0]
    assert notes.told == []


def test_a_failed_encoder_call_is_not_told_and_its_error_passes():
    module = runner_module(fail=True)
    notes = watched(module)
    with pytest.raises(RuntimeError, match="out of memory"):
        module.GPUModelRunner()._execute_mm_encoder(BATCHES)
    assert notes.told == []


def test_watching_twice_tells_once():
    module = runner_module()
    notes = watched(module)
    assert watched(module).told == []
    module.GPUModelRunner()._execute_mm_encoder(BATCHES)
    assert len(notes.told) == 2


def test_another_vllm_is_left_alone_and_the_log_says_so(caplog):
    module = ModuleType("vllm.of.tomorrow")
    watch_runner(module, "GPUModelRunner", "_execute_mm_encoder", Watch(Notes))
    assert "vllm.of.tomorrow" in caplog.text


def test_a_module_is_acted_on_when_it_comes_and_not_before(tmp_path, monkeypatch):
    (tmp_path / "comes_later.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    acted = []
    when_imported("comes_later", lambda module: acted.append(module.value))
    assert acted == []
    assert "comes_later" not in sys.modules
    import comes_later

    assert acted == [comes_later.value] == [1]
    when_imported("comes_later", lambda module: acted.append(module.value + 1))
    assert acted == [1, 2]
    del sys.modules["comes_later"]


def test_a_module_that_is_not_there_stays_so():
    when_imported("nowhere_at_all", pytest.fail)
    with pytest.raises(ModuleNotFoundError):
        import nowhere_at_all  # noqa: F401


def test_pages_of_several_processes_add_up(tmp_path):
    one, other = (Page.open(tmp_path / f"{name}.page") for name in "ab")
    one.add("image", 3, 0.004)
    one.add("image", 1, 20.0)
    other.add("image", 1, 0.005)
    other.add("tactile", 1, 0.3)
    (tmp_path / "torn.page").write_bytes(b"short")
    registry = CollectorRegistry()
    registry.register(EncoderCollector(tmp_path))
    families = {one.name: one for one in text_string_to_metric_families(generate_latest(registry).decode())}
    items = {s.labels["modality"]: s.value for s in families["forebay_vllm_encoder_items"].samples}
    assert items == {"image": 5, "other": 1}
    seconds = {
        (s.name.removeprefix("forebay_vllm_encoder_seconds"), s.labels.get("le")): s.value
        for s in families["forebay_vllm_encoder_seconds"].samples
        if s.labels["modality"] == "image"
    }
    assert seconds["_bucket", "0.005"] == 2
    assert seconds["_bucket", "10.0"] == 2
    assert seconds["_bucket", "+Inf"] == seconds["_count", None] == 3
    assert seconds["_sum", None] == pytest.approx(20.009)


def test_nothing_seen_is_no_sample(tmp_path):
    registry = CollectorRegistry()
    registry.register(EncoderCollector(tmp_path))
    assert b'modality="' not in generate_latest(registry)
    Page.open(tmp_path / "1.page")
    assert b'modality="' not in generate_latest(registry)
    assert read(tmp_path / "1.page")["audio"].items == 0


@pytest.mark.parametrize("seconds", [0.0, *BUCKETS_SECONDS, 99.0])
def test_a_bound_belongs_to_its_bucket(tmp_path, seconds):
    Page.open(tmp_path / "1.page").add("audio", 1, seconds)
    buckets = read(tmp_path / "1.page")["audio"].buckets
    assert buckets.index(1) == sum(bound < seconds for bound in BUCKETS_SECONDS)


class FakeEvent:
    """A mark that the device passes when the test says so. This is a fake: no accelerator is here."""

    passed = False
    now = 0.0

    def record(self):
        self.at = FakeEvent.now

    def query(self):
        return FakeEvent.passed

    def elapsed_time(self, end):
        return end.at - self.at


def test_a_device_is_asked_later_and_never_waited_for(monkeypatch):
    monkeypatch.setattr(FakeEvent, "passed", False)
    told, come = [], threading.Event()

    def tell(seconds):
        told.append(seconds)
        come.set()

    clock = DeviceClock(FakeEvent, drain_seconds=0.01)
    with clock.measure(tell):
        FakeEvent.now += 250.0
    clock.drain()
    assert told == []
    monkeypatch.setattr(FakeEvent, "passed", True)
    assert come.wait(30), "the drainer reads it without a further call"
    assert told == [0.25]


def test_registering_is_harmless_where_there_is_no_vllm(monkeypatch, tmp_path):
    import forebay_vllm

    monkeypatch.setenv(forebay_vllm.FOLDER_VARIABLE, str(tmp_path))
    finders = list(sys.meta_path)
    try:
        forebay_vllm.register()
        forebay_vllm.register()
        assert len(sys.meta_path) >= len(finders)
    finally:
        sys.meta_path[:] = finders
    assert watching.RUNNERS
