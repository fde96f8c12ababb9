"""`forebay demo`: real engines on this machine's CPU answer real requests through the gateway."""

import argparse
import contextlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.cli.demo_visit import Visit, Visitor
    from forebay.cli.demo_voice import Voice

START_SECONDS = 60.0
STOP_SECONDS = 40.0
HOST = "127.0.0.1"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `demo` to the command line."""
    parser = subparsers.add_parser(
        "demo", help="real engines, real requests, on this machine", description=__doc__
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON line for each answer, on standard output"
    )
    parser.add_argument("--keep", action="store_true", help="leave engines and gateway up until Ctrl-C")
    parser.add_argument(
        "--listen", metavar="PORT", type=int, default=8080, help="the gateway's port, default %(default)s"
    )
    parser.add_argument(
        "--admin",
        metavar="PORT",
        type=int,
        default=8081,
        help="the gateway's admin port, default %(default)s",
    )


def run(options: argparse.Namespace) -> int:
    """0 when every request was answered, every answer whose truth is known is true, and media were counted exactly."""
    from forebay.testing.engines import launch

    missing = launch.engines_available()
    if missing:
        print(f"forebay: the demo's engines are not here: {missing}", file=sys.stderr)
        return 1
    from forebay.cli.demo_voice import Voice
    from forebay.testing.showcase import NOTICE

    say = Voice(as_json=options.json)
    say.note(f"Note: {NOTICE}\n")
    listen, admin = _free(options.listen, say), _free(options.admin, say)
    with _sigterm_interrupts(), _running(listen, admin, say) as visitor:
        visits = _show(visitor, say)
        wrong = sum(not visit.right for visit in visits)
        say.note(_closing(wrong), "bold red" if wrong else "bold green")
        if options.keep:
            _keep(visitor, visits[-1], say)
        else:
            say.note("To ask it yourself, leave it up: make demo KEEP=1, or forebay demo --keep")
    return 1 if wrong else 0


@contextlib.contextmanager
def _running(listen: int, admin: int, say: "Voice") -> "Iterator[Visitor]":
    with tempfile.TemporaryDirectory(prefix="forebay-demo-") as folder:
        yield from _started(Path(folder), listen, admin, say)


def _started(folder: Path, listen: int, admin: int, say: "Voice") -> "Iterator[Visitor]":
    from forebay.cli.demo_visit import Visitor
    from forebay.testing.engines import launch
    from forebay.testing.showcase import fleet

    began = time.monotonic()
    ours = fleet(folder, listen, admin)
    visitor = Visitor(listen, admin, ours.engines)
    with say.working(f"starting {len(ours.engines)} real engines"):
        launch.start_all(ours.engines, START_SECONDS)
    try:
        for engine in ours.engines:
            say.note(f"  {engine.spec.name:12s}{engine.url}   process {engine.pid}")
        with _gateway(folder, ours.configuration, visitor, say):
            took = time.monotonic() - began
            say.note(
                f"  forebay     http://{HOST}:{listen}   admin http://{HOST}:{admin}   all up after {took:.1f} s\n"
            )
            yield visitor
    finally:
        launch.stop_all(ours.engines)


@contextlib.contextmanager
def _gateway(folder: Path, configuration: str, visitor: "Visitor", say: "Voice") -> Iterator[None]:
    config = folder / "forebay.yaml"
    config.write_text(configuration)
    command = [sys.executable, "-m", "forebay.cli.main", "serve", "--config", str(config)]
    # A session of its own: Ctrl-C is for the demo, which then stops the gateway in order.
    with (
        (folder / "gateway.log").open("wb") as log,
        subprocess.Popen(command, stderr=log, start_new_session=True) as gateway,
    ):
        try:
            with say.working("starting Forebay"):
                _wait_until_ready(gateway, folder, visitor)
            yield
        finally:
            gateway.terminate()
            gateway.wait(STOP_SECONDS)


def _wait_until_ready(gateway: "subprocess.Popen[bytes]", folder: Path, visitor: "Visitor") -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and gateway.poll() is None:
        if visitor.ready():
            return
        time.sleep(0.05)
    raise SystemExit(f"forebay: the gateway did not start:\n{(folder / 'gateway.log').read_text()}")


def _show(visitor: "Visitor", say: "Voice") -> "list[Visit]":
    """Send everything, and show each answer and its story."""
    from forebay.testing.asks import BURST, burst, one_by_one

    visits = []
    say.note("One at a time", "bold")
    for ask in one_by_one():
        with say.working(ask.name):
            visit = visitor.visit(ask)
        say.visited(visit)
        visits.append(visit)
    say.note(f"\n{BURST} at once", "bold")
    together = burst()
    with say.counting("all at once", BURST) as told:
        at_once = visitor.visit_all(together, told)
    say.burst(at_once, visitor.serving(together[0]))
    return visits + at_once


def _closing(wrong: int) -> str:
    if wrong:
        return f"\n{wrong} requests failed, were answered wrongly, or were not counted exactly."
    return "\nAll answered; every answer whose truth is known is true; image and audio tokens were predicted to the token."


def _keep(visitor: "Visitor", visit: "Visit", say: "Voice") -> None:
    say.note("Up until Ctrl-C. In another terminal:")
    say.note(f"  curl -s http://{HOST}:{visitor.listen}/v1/models")
    say.note(f"  curl -s http://{HOST}:{visitor.admin}/forebay/endpoints")
    say.note(f"  {_program()} explain {visit.request_id} --admin {HOST}:{visitor.admin}")
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()


def _program() -> str:
    """This program as it was called, so that a reader can call it likewise."""
    name = Path(sys.argv[0])
    return str(name) if name.name == "forebay" else f"{sys.executable} -m forebay.cli.main"


def _free(port: int, say: "Voice") -> int:
    """The port, or a free one when something else listens there."""
    from forebay.testing.engines import launch

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            other = launch.free_port()
            say.note(f"Port {port} is taken: {other} is used instead.")
            return other
    return port


@contextlib.contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """Let SIGTERM end the demo as Ctrl-C does, so that nothing is left running."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
