"""The server in this very process, so that its start and its stop are seen from inside."""

import os
import signal
import threading

import pytest

from forebay.testing.engines import launch, lifeline, llamacpp

xllamacpp = pytest.importorskip(
    "xllamacpp", reason="LLAMA.CPP NOT TESTED: not installed (requirements/demo.txt)"
)
pytestmark = pytest.mark.engines


@pytest.fixture(autouse=True)
def _signals_as_before():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def options(*words):
    return llamacpp.parser().parse_args(["--port", "18081", "--model", "m.gguf", *words])


def test_options_reach_the_engine():
    wanted = llamacpp.parameters(
        options(
            "--mmproj", "p.gguf", "--alias", "a", "--parallel", "3", "--ctx", "96", "--image-max-tokens", "64"
        )
    )
    assert (wanted.model.path, wanted.mmproj.path, wanted.model_alias) == ("m.gguf", "p.gguf", {"a"})
    assert (wanted.port, wanted.n_parallel, wanted.n_ctx, wanted.image_max_tokens) == (18081, 3, 96, 64)
    assert (wanted.endpoint_metrics, wanted.endpoint_slots, wanted.embedding) == (True, True, False)


def test_embeddings_are_mean_pooled():
    wanted = llamacpp.parameters(options("--embedding"))
    assert wanted.embedding
    assert wanted.pooling_type == xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN


class FakeServer:
    """Stands for the real server, which tests of whole engine processes run: one that hangs would hang the test run."""

    listening_address = "http://127.0.0.1:9"
    ended = 0

    def __init__(self, wanted):
        self.wanted = wanted

    def __del__(self):
        FakeServer.ended += 1


def test_it_serves_until_sigterm_and_lets_go_of_the_server(monkeypatch, capfd):
    monkeypatch.setattr(xllamacpp, "Server", FakeServer)
    # As if the signal came at the worst moment: when the server stands, and nobody waits for it yet.
    monkeypatch.setattr(llamacpp, "stop_when_stdin_closes", lambda: os.kill(os.getpid(), signal.SIGTERM))
    llamacpp.main(launch.tinyvlm(9, slots=1).command[3:])
    assert "listening on http://127.0.0.1:9" in capfd.readouterr().out
    assert FakeServer.ended == 1


def test_a_missing_or_broken_model_ends_with_a_line(tmp_path, capfd):
    with pytest.raises(SystemExit, match=r"no model file at m\.gguf"):
        llamacpp.main(["--port", "1", "--model", "m.gguf"])
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing more")
    with pytest.raises(SystemExit, match="The lines above say why"):
        llamacpp.main(["--port", str(launch.free_port()), "--model", str(broken)])
    capfd.readouterr()


def test_the_lifeline_ends_the_process_when_stdin_closes(monkeypatch):
    chunks = [b"x", b""]
    sent = []
    monkeypatch.setattr(lifeline.os, "read", lambda *_: chunks.pop(0))
    monkeypatch.setattr(lifeline.os, "kill", lambda pid, number: sent.append((pid, number)))
    before = set(threading.enumerate())
    lifeline.stop_when_stdin_closes()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert sent == [(os.getpid(), signal.SIGTERM)]
