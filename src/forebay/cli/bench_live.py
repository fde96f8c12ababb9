"""`forebay bench live`: how far a live gateway departs from a simulated one."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.testing.bench_live.report import Report
    from forebay.testing.bench_live.settings import LiveSettings

PROFILES = ("least-request", "queue-kv", "multimodal", "predictive")


def add_parser(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `live` to the kinds of bench."""
    parser = kinds.add_parser(
        "live",
        help="one scenario through a real gateway and modelled engines, beside the simulator",
        description="Starts a gateway and an engine process for each endpoint. All times are modelled; what is measured is how "
        "far the two sides differ. Linux.",
    )
    parser.add_argument(
        "--scenario",
        default="live",
        metavar="NAME",
        help="one of `forebay simulate` (%(default)s), or a .yaml file",
    )
    parser.add_argument(
        "--profile", action="append", metavar="P",
        help=f"name, or name:setting=value,... ; again for more ({', '.join(PROFILES)})",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, metavar="N", help="of arrivals, in the scenario's time, in place of its own"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of all chance (%(default)s)")
    parser.add_argument(
        "--slowdown",
        type=_above_zero,
        default=3.0,
        metavar="X",
        help="how many times as long everything takes (3)",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("bench-live"), metavar="FOLDER", help="for JSON and text"
    )


def _above_zero(text: str) -> float:
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("must be above 0")
    return value


def run(options: argparse.Namespace) -> int:
    """Measure and report. 0 whatever came of the bounds: this is a benchmark; 1 when something does not start."""
    from forebay.testing.bench_live.report import text_report
    from forebay.testing.bench_live.run import run as measure

    if not sys.platform.startswith("linux"):
        print(
            "forebay bench live reads the machine's load from Linux's /proc: run it on Linux", file=sys.stderr
        )
        return 2
    try:
        report = measure(_settings(options), _tell)
    except (RuntimeError, TimeoutError) as error:
        print(f"forebay bench: {error}", file=sys.stderr)
        return 1
    text = text_report(report)
    print(text)
    _write(report, text, options.out)
    return 0


def _settings(options: argparse.Namespace) -> "LiveSettings":
    from forebay.cli.simulate import profile_named
    from forebay.simulator.scenario import load_scenario
    from forebay.testing.bench_live.settings import LiveSettings, for_seconds

    return LiveSettings(
        for_seconds(load_scenario(options.scenario), options.seconds),
        tuple(profile_named(text) for text in options.profile or PROFILES),
        options.seed,
        options.slowdown,
    )


def _tell(profile: str, ended: int, of: int) -> None:
    if ended % 100 == 0 or ended == of:
        print(f"{profile}: {ended} of {of}", file=sys.stderr, flush=True)


def _write(report: "Report", text: str, folder: Path) -> None:
    import msgspec

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "live.json").write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
    (folder / "live.txt").write_text(text)
    print(f"written to {folder}: live.json, live.txt", file=sys.stderr)
