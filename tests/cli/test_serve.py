"""`forebay serve`: from addresses alone and from a file, until SIGTERM."""

import asyncio
import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request

import pytest

from forebay.cli import discover
from forebay.cli.main import main
from forebay.cli.serve import _warn_of_few_files
from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.testing.engines import launch
from forebay.testing.modelled import ModelledEngine

HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 2}
PATIENCE_SECONDS = 20


@pytest.fixture
def engines():
    """Two modelled engines in a thread of their own, since `serve` keeps this one."""
    ready, over = threading.Event(), threading.Event()
    urls = []

    async def live():
        async with ModelledEngine(speed=100) as one, ModelledEngine(speed=100) as two:
            urls.extend((one.url, two.url))
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=asyncio.run, args=(live(),))
    thread.start()
    assert ready.wait(PATIENCE_SECONDS)
    yield urls
    over.set()
    thread.join()


@pytest.fixture
def while_it_serves():
    """Run `main` here and `visit` in a thread once the gateway is ready, then end it by SIGTERM."""

    def serve(arguments, admin, visit):
        seen = []

        def visitor():
            try:
                wait_until_ready(admin)
                seen.append(visit())
            except Exception as error:
                seen.append(error)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)

        thread = threading.Thread(target=visitor)
        thread.start()
        status = main(arguments)
        thread.join()
        if isinstance(seen[0], Exception):
            raise seen[0]
        return status, seen[0]

    return serve


def wait_until_ready(admin):
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return get(f"http://{admin}/ready")
        except OSError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.02)


def get(url):
    with urllib.request.urlopen(url, timeout=10) as reply:
        return json.load(reply)


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        return json.load(reply)


def addresses():
    return [f"127.0.0.1:{launch.free_port()}" for _ in range(2)]


def test_two_addresses_are_all_it_needs(engines, while_it_serves, tmp_path, capsys):
    listen, admin = addresses()
    log = tmp_path / "access.log"

    def visit():
        listed = get(f"http://{listen}/v1/models")
        answers = [post(f"http://{listen}/v1/chat/completions", HELLO) for _ in range(3)]
        return listed, answers, get(f"http://{admin}/forebay/endpoints")

    options = ["--listen", listen, "--admin", admin, "--access-log", str(log), "--profile", "round-robin"]
    status, (listed, answers, fleet) = while_it_serves(["serve", *engines, *options], admin, visit)
    assert status == 0
    assert [model["id"] for model in listed["data"]] == ["m"]
    assert {answer["choices"][0]["message"]["content"] for answer in answers} == {"so it"}
    assert [endpoint["engine"] for endpoint in fleet["endpoints"]] == ["vllm", "vllm"]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    chats = [line for line in lines if line["model"] == "m"]
    assert [(line["status"], line["ending"]) for line in chats] == [(200, "finished")] * 3
    assert {line["endpoint"] for line in chats} == {url.removeprefix("http://") for url in engines}
    shown = capsys.readouterr().err
    assert f"http://{listen}  admin http://{admin}" in shown
    assert "m (family generic, profile round-robin): " in shown
    assert "draining" in shown


@pytest.fixture
def file(tmp_path, engines):
    """Write a configuration for the first engine; returns its path and the two addresses."""

    def write(access_log, **settings):
        listen, admin = addresses()
        settings = {
            "listen": listen,
            "admin": admin,
            "access_log": {"path": access_log},
            "drain": {"lag_seconds": 0},
            "pools": [{"model": "m", "endpoints": [{"url": engines[0], "engine": "vllm"}]}],
            **settings,
        }
        path = tmp_path / "forebay.yaml"
        path.write_text(json.dumps(settings))
        return path, listen, admin

    return write


@pytest.mark.parametrize("access_log", ["off", "stderr"])
def test_a_file_says_it_all(file, while_it_serves, access_log, capfd):
    path, listen, admin = file(access_log)
    visit = lambda: post(f"http://{listen}/v1/chat/completions", HELLO)  # noqa: E731 - as short as it gets
    status, answer = while_it_serves(["serve", "--config", str(path)], admin, visit)
    assert status == 0
    assert answer["model"] == "m"
    assert ('"ending":"finished"' in capfd.readouterr().err) == (access_log == "stderr")


@pytest.mark.parametrize("port", ["listen", "admin"])
def test_a_taken_port_is_named(file, engines, capsys, port):
    path, _, _ = file("off", **{port: engines[0].removeprefix("http://")})
    assert main(["serve", "--config", str(path)]) == 2
    assert "choose another address" in capsys.readouterr().err


def test_a_log_that_cannot_be_written_is_named(file, tmp_path, capsys):
    path, _, _ = file(str(tmp_path / "nowhere" / "access.log"))
    assert main(["serve", "--config", str(path)]) == 2
    assert "access_log.path" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "https://", "ftp://h", "http://", "http://h/v1/models"])
def test_an_address_that_cannot_be_an_engines_is_refused_before_anything_is_asked(monkeypatch, url, capsys):
    monkeypatch.setattr(discover, "ask", None)
    assert main(["serve", url]) == 2
    assert f"forebay: command line: `{url}`" in capsys.readouterr().err


def test_addresses_and_a_file_are_too_much(file, engines, capsys):
    path, _, _ = file("off")
    assert main(["serve", *engines, "--config", str(path)]) == 2
    assert "--config FILE, one of the two" in capsys.readouterr().err


def test_several_workers_serve_as_one(file, while_it_serves, tmp_path):
    log = tmp_path / "access.log"
    path, listen, admin = file(str(log))

    def visit():
        answers = [post(f"http://{listen}/v1/chat/completions", HELLO) for _ in range(6)]
        with urllib.request.urlopen(f"http://{admin}/metrics", timeout=30) as page:
            return answers, page.read().decode()

    status, (answers, metrics) = while_it_serves(
        ["serve", "--config", str(path), "--workers", "2"], admin, visit
    )
    assert status == 0
    assert {answer["model"] for answer in answers} == {"m"}
    assert 'forebay_worker_up{worker="1"} 1.0' in metrics
    assert 'forebay_requests_total{ending="finished",pool="m"} 6.0' in metrics
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["ending"] for line in lines] == ["finished"] * 6


def test_workers_that_do_not_start_are_told(file, engines, capsys, monkeypatch):
    monkeypatch.setattr("forebay.gateway.crew.START_SECONDS", 0.01)
    path, _, _ = file("off")
    assert main(["serve", "--config", str(path), "--workers", "2"]) == 2
    assert "workers: the workers did not start within 0 s" in capsys.readouterr().err


@pytest.mark.parametrize("workers", ["0", "257"])
def test_a_number_of_workers_that_cannot_be_is_refused(file, workers, capsys):
    path, _, _ = file("off")
    assert main(["serve", "--config", str(path), "--workers", workers]) == 2
    assert "workers" in capsys.readouterr().err


@pytest.mark.parametrize(("allowed", "warned"), [(49, True), (50, False), (-1, False)])
def test_fewer_open_files_than_clients_are_warned_of(caplog, allowed, warned):
    pools = [{"model": "m", "endpoints": [{"url": "http://127.0.0.1:9"}]}]
    data = {"workers": 2, "inbound": {"max_connections": 100}, "pools": pools}
    _warn_of_few_files(allowed, assemble(Document.of(data, "test")))
    assert ("fewer than its 50 client connections" in caplog.text) == warned
