"""A modelled engine's metrics, under vLLM's names. Seconds are the clock's, as a client would measure them."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from forebay.simulator.engine.engine import Happened, Step
from forebay.testing.modelled.pace import Pace
from forebay.testing.modelled.truth import truth_of

_GAP_EDGES = (
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0,
)  # fmt: skip
_FIRST_EDGES = (
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0,
    160.0, 640.0, 2560.0,
)  # fmt: skip
_LABELS = ("engine", "model_name")


class Metrics:
    """Counts what happens at one engine, and reads the rest off it at a scrape."""

    def __init__(self, model: str, pace: Pace) -> None:
        """Of the engine that `pace` runs, which serves `model`."""
        self._registry = CollectorRegistry()
        self._model = model
        self._speed = pace.speed
        self._gaps = self._histogram("inter_token_latency_seconds", "Gap between two tokens.", _GAP_EDGES)
        self._firsts = self._histogram("time_to_first_token_seconds", "Time to first token.", _FIRST_EDGES)
        self._prompts = self._counter("prompt_tokens", "Prefill tokens processed.")
        self._outputs = self._counter("generation_tokens", "Generation tokens processed.")
        self._read_off(pace)

    def _read_off(self, pace: Pace) -> None:
        engine = pace.engine
        capacity, block = engine.capacity_tokens, engine.settings.block_tokens
        self._gauge("num_requests_running", "Requests in execution batches.", lambda: engine.running)
        self._gauge("num_requests_waiting", "Requests waiting to be processed.", lambda: engine.queued)
        self._gauge("num_preemptions_total", "Preemptions.", lambda: engine.preemptions)
        self._gauge(
            "kv_cache_usage_perc", "KV-cache usage, 0 to 1.", lambda: min(1.0, pace.kv_tokens() / capacity)
        )
        labels = ("block_size", "num_gpu_blocks")
        info = Gauge("vllm:cache_config_info", "The KV cache.", labels, registry=self._registry)
        info.labels(block, capacity // block).set(1)

    def heard(self, step: Step, happened: Happened) -> None:
        """A step is over."""
        gap = (step.ends - step.began) / self._speed
        for _ in step.decoding:
            self._gaps.observe(gap)
        self._outputs.inc(len(step.decoding) + len(happened.first))
        self._prompts.inc(sum(step.chunks.values()))
        for job in happened.first:
            truth = truth_of(job)
            self._firsts.observe(truth.first - truth.arrived)

    def text(self) -> bytes:
        """All of them, in Prometheus' form."""
        return generate_latest(self._registry)

    def _gauge(self, name: str, what: str, value: Callable[[], float]) -> None:
        gauge = Gauge(f"vllm:{name}", what, _LABELS, registry=self._registry)
        gauge.labels("0", self._model).set_function(value)

    def _counter(self, name: str, what: str) -> Counter:
        return Counter(f"vllm:{name}", what, _LABELS, registry=self._registry).labels("0", self._model)

    def _histogram(self, name: str, what: str, edges: tuple[float, ...]) -> Histogram:
        made = Histogram(f"vllm:{name}", what, _LABELS, buckets=edges, registry=self._registry)
        return made.labels("0", self._model)
