"""An engine must not outlive the process that started it, however that one ended.

The parent holds the other end of the pipe that is the engine's standard input; the kernel closes it when the parent
dies, even by SIGKILL. Engines that are not ours are run by `python -m forebay.testing.engines.lifeline COMMAND...`.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence


def stop_when_stdin_closes() -> None:
    """Send this process SIGTERM once its standard input reaches its end."""
    threading.Thread(target=_wait_for_end_of_stdin, name="lifeline", daemon=True).start()


def _wait_for_end_of_stdin() -> None:
    # os.read and not sys.stdin: a buffered reader blocked in a daemon thread breaks interpreter shutdown.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main(command: Sequence[str]) -> int:
    """Run a command, hand it SIGTERM and SIGINT, end it when standard input closes; return its exit status."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as child:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: child.terminate())
        stop_when_stdin_closes()
        return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
