"""`forebay bench router`: what a request costs in Forebay's gateway, beside other routers, on this machine."""

import argparse
import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.testing.bench.cases import Plan
    from forebay.testing.bench.contestants import Contestant
    from forebay.testing.bench.results import Report

_NAMES = ("direct", "nginx", "vllm-router", "sglang-router", "smg", "litellm", "forebay", "forebay-2-workers")


def add_parser(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `router` to the kinds of bench."""
    router = kinds.add_parser(
        "router",
        help="CPU, latency and memory of the gateway beside nginx and other routers",
        description="Measures each router in front of two fake engines that answer at once. Linux, two cores or more.",
    )
    router.add_argument("--quick", action="store_true", help="under a minute, for watching a change")
    router.add_argument("--install", action="store_true", help="first install the peers that are missing")
    router.add_argument("--rounds", type=_positive, metavar="N", help="interleaved rounds (7; quick: 3)")
    router.add_argument(
        "--contestants", type=_names, default=list(_NAMES), metavar="A,B", help="some of " + ", ".join(_NAMES)
    )
    router.add_argument(
        "--cases", type=lambda text: text.split(","), metavar="A,B", help="only the cases named"
    )
    router.add_argument(
        "--streams", type=int, metavar="N", help="streams held open for memory (10000; 0: none)"
    )
    router.add_argument(
        "--out", type=Path, default=Path("bench-router"), metavar="FOLDER", help="for JSON, PNG, text"
    )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := sorted(set(names) - set(_NAMES)):
        raise argparse.ArgumentTypeError(f"no contestant {unknown[0]!r}; there are {', '.join(_NAMES)}")
    return names


def run(options: argparse.Namespace) -> int:
    """Measure and report. Returns 1 when an answer was wrong or something did not start, 2 for a wrong option."""
    from forebay.testing.bench.run import run as measure
    from forebay.testing.bench.table import text_report

    if not sys.platform.startswith("linux"):
        print(
            "forebay bench router reads CPU time from Linux's /proc and clocks: run it on Linux",
            file=sys.stderr,
        )
        return 2
    plan = _plan(options)
    if not plan.cases:
        print(f"no such case; there are {', '.join(_case_names())}", file=sys.stderr)
        return 2
    contestants = _contestants(options.contestants)
    if options.install:
        _install(contestants)
    try:
        with _ending_on_sigterm():
            report = measure(contestants, plan, _tell)
    except (RuntimeError, TimeoutError) as error:
        print(f"forebay bench: {error}", file=sys.stderr)
        return 1
    text = text_report(report)
    print(text)
    _write(report, text, options.out)
    return 1 if report.failed or any(sample.load.wrong for sample in report.samples) else 0


@contextlib.contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """SIGTERM ends the run as Ctrl-C does, so that no started router stays behind."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _contestants(names: list[str]) -> "list[Contestant]":
    from forebay.testing.bench.contestants import CONTESTANTS

    return [one for one in CONTESTANTS if one.name in names]


def _case_names() -> list[str]:
    from forebay.testing.bench.cases import quick_plan

    return [case.name for case in quick_plan().cases]


def _plan(options: argparse.Namespace) -> "Plan":
    from dataclasses import replace

    from forebay.testing.bench.cases import full_plan, quick_plan

    plan = quick_plan() if options.quick else full_plan()
    return replace(
        plan,
        rounds=options.rounds or plan.rounds,
        open_streams=plan.open_streams if options.streams is None else options.streams,
        cases=tuple(case for case in plan.cases if not options.cases or case.name in options.cases),
    )


def _install(contestants: "list[Contestant]") -> None:
    """Bring what is missing; what cannot be brought is reported and left out."""
    for one in contestants:
        if one.version():
            continue
        _tell(f"installing {one.name}")
        try:
            one.install()
        except (OSError, RuntimeError) as error:
            _tell(f"{one.name} could not be installed: {error}")


def _write(report: "Report", text: str, folder: Path) -> None:
    """The three files, and a word on where they are."""
    import msgspec

    from forebay.testing.bench.plot import draw

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "router.json").write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1))
    (folder / "router.txt").write_text(text)
    written = "router.json, router.txt"
    try:
        draw(report, folder / "router.png")
        written += ", router.png"
    except ModuleNotFoundError:
        _tell("no picture: it needs matplotlib (pip install '.[bench]')")
    _tell(f"written to {folder}: {written}")
