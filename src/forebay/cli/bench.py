"""`forebay bench KIND`: finds the kind's file and runs it."""

import argparse
import importlib

KINDS = ("router", "placement", "live")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `bench`; each kind's file adds its own part."""
    bench = subparsers.add_parser("bench", help="measure Forebay on this machine")
    kinds = bench.add_subparsers(dest="bench", metavar="KIND", required=True)
    for kind in KINDS:
        importlib.import_module(f"forebay.cli.bench_{kind}").add_parser(kinds)


def run(options: argparse.Namespace) -> int:
    """Run the kind that was asked for. Returns its exit status."""
    status: int = importlib.import_module(f"forebay.cli.bench_{options.bench}").run(options)
    return status
