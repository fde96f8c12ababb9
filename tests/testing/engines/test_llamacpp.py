"""The server in this very process, so that its start and its stop are seen from inside."""

import os
import signal
import threading
import time

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


def test_it_serves_until_sigterm(monkeypatch, tmp_path, capfd):
    watched = []
    monkeypatch.setattr(llamacpp, "stop_when_stdin_closes", lambda: watched.append(True))
    spec = launch.tinyvlm(launch.free_port(), slots=1)
    engine = launch.EngineProcess(spec, tmp_path)
    seen = []

    def stop_when_healthy():
        give_up_at = time.monotonic() + 60
        while time.monotonic() < give_up_at and not engine.healthy():
            time.sleep(0.02)
        seen.append(engine.healthy())
        while not watched and time.monotonic() < give_up_at:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGTERM)

    other = threading.Thread(target=stop_when_healthy)
    # Until main takes the signal over, it must not end the test run.
    signal.signal(signal.SIGTERM, lambda *_: None)
    other.start()
    llamacpp.main(spec.command[3:])
    other.join()
    assert seen == [True]
    assert f"listening on {engine.url}" in capfd.readouterr().out
    assert not engine.healthy()


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
