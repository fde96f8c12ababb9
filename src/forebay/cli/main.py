"""`forebay COMMAND`: finds the command's file and runs it."""

import argparse
import importlib
import sys
from collections.abc import Sequence

from forebay import __version__
from forebay.config.errors import ConfigError

COMMANDS = ("serve", "check", "demo", "explain", "bench")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; each command's file adds its own part."""
    parser = argparse.ArgumentParser(prog="forebay", description="Load balancer for multimodal LLM inference.")
    parser.add_argument("--version", action="version", version=f"forebay {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"forebay.cli.{name}").add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit status: 0 done, 1 it failed, 2 the command line or configuration is wrong."""
    options = build_parser().parse_args(arguments)
    module = importlib.import_module(f"forebay.cli.{options.command}")
    try:
        status: int = module.run(options)
    except ConfigError as error:
        print(f"forebay: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
