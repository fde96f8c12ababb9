"""Where vLLM's encoders are watched.

Both of its model runners take their media through `group_and_batch_mm_kwargs`, which yields a batch and is asked for the next one
once the encoder has been called. The time between is the encoder's. It is taken only inside the method that encodes: others
use the same function to look at a batch.
"""

import functools
import logging
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from forebay_vllm.clock import Clock, clock_of_this_machine
from forebay_vllm.imports import when_imported
from forebay_vllm.page import Page

log = logging.getLogger("vllm.forebay")

RUNNERS = (
    ("vllm.v1.worker.gpu_model_runner", "GPUModelRunner", "_execute_mm_encoder"),
    ("vllm.v1.worker.gpu.mm.encoder_runner", "EncoderRunner", "execute_mm_encoder"),
)
"""Module, class and method of each runner that encodes, in vLLM 0.32."""
BATCHES = "group_and_batch_mm_kwargs"
_MARK = "_forebay_watched"


class Watch:
    """Times encoder calls of this process. The page and the clock are made at the first one: most processes never encode."""

    def __init__(self, page: Callable[[], Page], clock: Callable[[], Clock] = clock_of_this_machine) -> None:
        """`page` and `clock` are made when they are first needed."""
        self._make = functools.cache(lambda: (page(), clock()))
        self._here = threading.local()

    def encoding(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """`method`, known to encode while it runs."""

        @functools.wraps(method)
        def watched(*arguments: Any, **named: Any) -> Any:
            self._here.encodes = True
            try:
                return method(*arguments, **named)
            finally:
                self._here.encodes = False

        return watched

    def batches(self, function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """`function`, each of whose batches is timed until the next one is asked for."""

        @functools.wraps(function)
        def watched(*arguments: Any, **named: Any) -> Iterator[Any]:
            for batch in function(*arguments, **named):
                if getattr(self._here, "encodes", False):
                    page, clock = self._make()
                    modality, items = batch[0], batch[1]
                    # A batch that nobody follows up leaves by GeneratorExit, and is not told: it was only looked at.
                    with clock.measure(functools.partial(page.add, modality, items)):
                        yield batch
                else:
                    yield batch

        return watched


def watch_encoders(page: Callable[[], Page]) -> None:
    """Watch every runner of this vLLM, as soon as it is imported. Harmless when repeated."""
    watch = Watch(page)
    for name, owner, method in RUNNERS:
        when_imported(name, functools.partial(watch_runner, owner=owner, method=method, watch=watch))


def watch_runner(module: ModuleType, owner: str, method: str, watch: Watch) -> None:
    """Watch one runner; a word in the log when this vLLM has it in another form."""
    runner = getattr(module, owner, None)
    if runner is None or not hasattr(runner, method) or not hasattr(module, BATCHES):
        log.warning("forebay-vllm does not know %s in this version of vLLM: not watched", module.__name__)
    elif not hasattr(runner, _MARK):
        setattr(runner, method, watch.encoding(getattr(runner, method)))
        setattr(module, BATCHES, watch.batches(getattr(module, BATCHES)))
        setattr(runner, _MARK, True)
