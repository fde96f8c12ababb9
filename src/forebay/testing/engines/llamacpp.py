"""llama.cpp's own HTTP server, in this process, from the `xllamacpp` wheel (CPU, no compiler needed).

Run as `python -m forebay.testing.engines.llamacpp --port 18081 --model M.gguf [--mmproj P.gguf]`.
"""

import argparse
import signal
import threading
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from forebay.testing.engines.lifeline import stop_when_stdin_closes

HTTP_THREADS = 64
"""Bounds the connections that the server serves at once: each kept one holds a thread, idle or not, for up to 5 s."""

WAKE_SECONDS = 0.2


def parser() -> argparse.ArgumentParser:
    """Build the command line; `--ctx` is in tokens and is shared equally by the `--parallel` slots."""
    command = argparse.ArgumentParser(prog="python -m forebay.testing.engines.llamacpp", description=__doc__)
    command.add_argument("--host", default="127.0.0.1")
    command.add_argument("--port", type=int, required=True)
    command.add_argument("--model", required=True, help="GGUF file of the language model")
    command.add_argument("--mmproj", help="GGUF file of the picture or sound encoder")
    command.add_argument("--alias", help="the model name that clients see")
    command.add_argument("--parallel", type=int, default=4, help="slots: requests decoded together")
    command.add_argument("--ctx", type=int, default=8192, help="tokens of context, over all slots")
    command.add_argument("--threads", type=int, default=1)
    command.add_argument("--image-min-tokens", type=int)
    command.add_argument("--image-max-tokens", type=int)
    command.add_argument("--embedding", action="store_true", help="serve mean-pooled embeddings")
    command.add_argument("--watch-stdin", action="store_true", help="stop when standard input closes")
    return command


def parameters(options: argparse.Namespace) -> Any:
    """Translate the command line into llama.cpp's parameters (an `xllamacpp.CommonParams`)."""
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = options.model
    wanted.hostnames = [options.host]
    wanted.port = options.port
    wanted.n_ctx = options.ctx
    wanted.n_parallel = options.parallel
    wanted.n_gpu_layers = 0
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = options.threads
    wanted.n_threads_http = HTTP_THREADS
    wanted.endpoint_metrics = wanted.endpoint_slots = True
    wanted.use_jinja = True
    if options.alias:
        wanted.model_alias = {options.alias}
    if options.mmproj:
        wanted.mmproj.path = options.mmproj
        wanted.mmproj_use_gpu = False
    if options.image_min_tokens:
        wanted.image_min_tokens = options.image_min_tokens
    if options.image_max_tokens:
        wanted.image_max_tokens = options.image_max_tokens
    if options.embedding:
        wanted.embedding = True
        wanted.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    return wanted


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM, SIGINT or, with `--watch-stdin`, the end of standard input.

    Exits with status 1 and a line on standard error when a model file is missing or the engine refuses it.
    """
    import xllamacpp

    options = parser().parse_args(arguments)
    for path in filter(None, (options.model, options.mmproj)):
        if not Path(path).is_file():
            raise SystemExit(f"no model file at {path}")
    # Heard from the start: the server answers health checks before its constructor returns, so an owner may end it then.
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        server = xllamacpp.Server(parameters(options))
    except RuntimeError as error:
        raise SystemExit(f"{error} The lines above say why.") from None
    _await_main_loop(server.listening_address)
    if options.watch_stdin:
        stop_when_stdin_closes()
    print(f"listening on {server.listening_address}", flush=True)  # noqa: T201  a line for the log file
    # A signal that another thread of the process receives is only acted on when this one wakes.
    while not stop.wait(WAKE_SECONDS):
        pass


def _await_main_loop(address: str) -> None:
    """Return once the server's main loop answers. It is healthy before, and one that is ended before never ends."""
    with suppress(OSError), urllib.request.urlopen(f"{address}/slots", timeout=60) as reply:  # noqa: S310  its own
        reply.read()


if __name__ == "__main__":
    main()
