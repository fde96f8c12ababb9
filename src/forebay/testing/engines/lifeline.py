"""An engine must not outlive the process that started it, however that one ended."""

import os
import signal
import threading


def stop_when_stdin_closes() -> None:
    """Send this process SIGTERM once its standard input reaches its end.

    The parent keeps the other end of the pipe open; the kernel closes it when the parent dies, even by SIGKILL.
    """
    threading.Thread(target=_wait_for_end_of_stdin, name="lifeline", daemon=True).start()


def _wait_for_end_of_stdin() -> None:
    # os.read and not sys.stdin: a buffered reader blocked in a daemon thread breaks interpreter shutdown.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
