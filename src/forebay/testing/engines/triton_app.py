"""One model in a real Triton, through pytriton. Run by the Python of Triton's own environment, where Forebay is not.

The model doubles numbers, and takes its time for each batch, so that requests are seen waiting.
"""

import argparse
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pytriton.decorators import batch
from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor
from pytriton.triton import Triton, TritonConfig, TritonSecurityConfig

MODEL = "double"
BATCH = 2


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    command = argparse.ArgumentParser(description=__doc__)
    for name in ("http-port", "grpc-port", "metrics-port"):
        command.add_argument(f"--{name}", type=int, required=True)
    command.add_argument("--batch-seconds", type=float, default=0.1)
    options = command.parse_args()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    config = TritonConfig(
        http_address="127.0.0.1",
        http_port=options.http_port,
        grpc_address="127.0.0.1",
        grpc_port=options.grpc_port,
        metrics_port=options.metrics_port,
        allow_gpu_metrics=False,
    )
    # What is loaded is kept secret by default, and then Forebay knows of no model.
    with Triton(config=config, security_config=TritonSecurityConfig(restricted_endpoints=[])) as triton:
        triton.bind(
            model_name=MODEL,
            infer_func=slowly(options.batch_seconds),
            inputs=[Tensor(name="x", dtype=np.float32, shape=(-1,))],
            outputs=[Tensor(name="y", dtype=np.float32, shape=(-1,))],
            config=ModelConfig(max_batch_size=BATCH, batcher=DynamicBatcher()),
        )
        triton.run()
        stop.wait()


def slowly(seconds: float) -> Callable[..., Any]:
    """Return the model's function."""

    def double(x: Any) -> dict[str, Any]:
        time.sleep(seconds)
        return {"y": x * 2}

    batched: Callable[..., Any] = batch(double)
    return batched


if __name__ == "__main__":
    main()
