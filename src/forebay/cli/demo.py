"""`forebay demo`: real engines on this machine's CPU answer real requests through the gateway."""

import argparse
import contextlib
import http.client
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forebay.testing.engines import launch
from forebay.testing.showcase import NOTICE, Answer, Ask, Fleet, asks, fleet, read

START_SECONDS = 60.0
ASK_SECONDS = 60.0
HOST = "127.0.0.1"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `demo` to the command line."""
    parser = subparsers.add_parser("demo", help="real engines, real requests, on this machine", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON line for each answer, on standard output")
    parser.add_argument("--keep", action="store_true", help="leave engines and gateway up until Ctrl-C")
    parser.add_argument("--listen", type=int, default=8080, help="the gateway's port, default %(default)s")
    parser.add_argument("--admin", type=int, default=8081, help="the gateway's admin port, default %(default)s")


def run(options: argparse.Namespace) -> int:
    """0 when every request was answered, and every answer whose truth is known is true."""
    missing = launch.engines_available()
    if missing:
        print(f"forebay: the demo's engines are not here: {missing}", file=sys.stderr)
        return 1
    say = _Voice(as_json=options.json)
    say.note(f"Note: {NOTICE}\n")
    with tempfile.TemporaryDirectory(prefix="forebay-demo-") as name:
        folder = Path(name)
        ours = fleet(folder, options.listen, options.admin)
        with _running(ours, folder, options, say):
            wrong = sum(not _ask(ask, options, say) for ask in asks())
            say.note(_closing(wrong, options))
            if options.keep:
                _wait_for_interrupt(say)
    return 1 if wrong else 0


@contextlib.contextmanager
def _running(ours: Fleet, folder: Path, options: argparse.Namespace, say: "_Voice") -> Iterator[None]:
    began = time.monotonic()
    with say.working(f"starting {len(ours.engines)} real engines"):
        launch.start_all(ours.engines, START_SECONDS)
    try:
        for engine in ours.engines:
            say.note(f"  {engine.spec.name:12s} {engine.url}   process {engine.pid}")
        config = folder / "forebay.yaml"
        config.write_text(ours.configuration)
        command = [sys.executable, "-m", "forebay.cli.main", "serve", "--config", str(config)]
        with (folder / "gateway.log").open("wb") as log, subprocess.Popen(command, stderr=log) as gateway:
            try:
                with say.working("starting Forebay"):
                    _wait_until_ready(gateway, folder, options.admin)
                say.note(f"  forebay      http://{HOST}:{options.listen}   up after {time.monotonic() - began:.1f} s\n")
                yield
            finally:
                gateway.send_signal(signal.SIGTERM)
                gateway.wait(ASK_SECONDS)
    finally:
        launch.stop_all(ours.engines)


def _wait_until_ready(gateway: "subprocess.Popen[bytes]", folder: Path, admin: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and gateway.poll() is None:
        with contextlib.suppress(OSError):
            if _call("GET", admin, "/ready")[0] == http.client.OK:
                return
        time.sleep(0.05)
    raise SystemExit(f"forebay: the gateway did not start:\n{(folder / 'gateway.log').read_text()}")


def _ask(ask: Ask, options: argparse.Namespace, say: "_Voice") -> bool:
    """Send one request, and show its answer and its story. False when it failed or is untrue."""
    began = time.monotonic()
    with say.working(ask.name):
        status, request_id, body = _call("POST", options.listen, ask.path, ask.body)
    milliseconds = (time.monotonic() - began) * 1e3
    if status != http.client.OK:
        say.failed(ask, f"HTTP {status}: {body.decode(errors='replace')}")
        return False
    answer = read(ask, request_id, body)
    story = json.loads(_call("GET", options.admin, f"/forebay/decisions/{request_id}")[2])
    say.answered(ask, answer, story, milliseconds)
    return not ask.truth or answer.text == ask.truth


def _call(method: str, port: int, path: str, data: object = None) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(HOST, port, timeout=ASK_SECONDS)
    try:
        body = None if data is None else json.dumps(data).encode()
        connection.request(method, path, body, {"content-type": "application/json"})
        response = connection.getresponse()
        return response.status, response.headers.get("x-request-id", ""), response.read()
    finally:
        connection.close()


def _closing(wrong: int, options: argparse.Namespace) -> str:
    if wrong:
        return f"{wrong} requests failed or were answered wrongly."
    return (
        "All answered, and every answer whose truth is known is true.\n"
        f"While it is up (KEEP=1):  curl http://{HOST}:{options.listen}/v1/models"
        f"  |  http://{HOST}:{options.admin}/metrics  |  forebay explain REQUEST-ID"
    )


def _wait_for_interrupt(say: "_Voice") -> None:
    say.note("Up until Ctrl-C.")
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()


class _Voice:
    """What the demo shows: lines for people, or one JSON line an answer. Progress goes to standard error."""

    def __init__(self, *, as_json: bool) -> None:
        from rich.console import Console

        self._as_json = as_json
        self._errors = Console(stderr=True, highlight=False)

    def note(self, text: str) -> None:
        """Something for people."""
        print(text, file=sys.stderr if self._as_json else sys.stdout, flush=True)

    def working(self, what: str) -> contextlib.AbstractContextManager[object]:
        """Show that something is going on."""
        return self._errors.status(f"{what} ...")

    def failed(self, ask: Ask, reason: str) -> None:
        """One request failed."""
        if self._as_json:
            print(json.dumps({"request": ask.name, "error": reason}), flush=True)
        else:
            print(f"{ask.name}\n  FAILED: {reason}", flush=True)

    def answered(self, ask: Ask, answer: Answer, story: dict[str, Any], milliseconds: float) -> None:
        """One request was answered."""
        demand, last = story["demand"], story["decisions"][-1]
        media = demand["image_tokens"] + demand["audio_tokens"] + demand["video_tokens"]
        if self._as_json:
            line = {
                "request": ask.name,
                "request_id": answer.request_id,
                "answer": answer.text,
                "true": None if not ask.truth else answer.text == ask.truth,
                "endpoint": last["chosen"],
                "why": last["why"],
                "predicted_prompt_tokens": demand["prompt_tokens"],
                "predicted_media_tokens": media,
                "reported_prompt_tokens": answer.prompt_tokens,
                "milliseconds": round(milliseconds, 1),
            }
            print(json.dumps(line), flush=True)
            return
        verdict = "" if not ask.truth else "  (true)" if answer.text == ask.truth else f"  (WRONG: {ask.truth})"
        print(f"{ask.name}: {answer.text!r}{verdict}   {milliseconds:.0f} ms")
        print(f"    to {last['chosen']}: {last['why']}")
        print(
            f"    prompt tokens: predicted {demand['prompt_tokens']} = media {media} + text about {demand['text_tokens']}; "
            f"the engine says {answer.prompt_tokens}",
            flush=True,
        )
