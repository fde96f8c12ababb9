"""`forebay replay LOG`: whether the same decisions come of a decision log's events with this version."""

import argparse
import json
import sys
from pathlib import Path

import msgspec

from forebay import __version__


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `replay` to the command line."""
    parser = subparsers.add_parser(
        "replay", help="make a log's decisions again, and compare them", description=__doc__
    )
    parser.add_argument(
        "log", type=Path, metavar="LOG", help="a file that `decision_log` in the configuration has made"
    )
    parser.add_argument("--json", action="store_true", help="print what came of it as JSON")


def run(options: argparse.Namespace) -> int:
    """0 when every event brought the same commands, 1 at the first that did not, 2 for what is no log."""
    from forebay.runtime.records import LogError
    from forebay.runtime.replay import replay

    try:
        found = replay(options.log)
    except (OSError, LogError) as error:
        print(f"forebay: {options.log}: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({"same": found.same, "difference": msgspec.to_builtins(found.difference)}))
    else:
        head, difference = found.head, found.difference
        print(
            f"worker {head.worker} of {head.workers}, written by Forebay {head.written_by}, replayed by {__version__}"
        )
        print(f"{found.same} events brought the same commands")
        if difference is not None:
            print(f"event {difference.number}, {difference.kind} at {difference.at} us: {difference.problem}")
    return 0 if found.difference is None else 1
