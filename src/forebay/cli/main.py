"""`forebay COMMAND`: finds the command's file and runs it."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from forebay import __version__

COMMANDS = ("serve", "check", "demo", "explain", "replay", "top", "simulate", "bench", "completion")


def build_parser(commands: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The command line with these commands; each command's file adds its own part."""
    parser = argparse.ArgumentParser(
        prog="forebay",
        description="Load balancer for multimodal LLM inference.",
        epilog="forebay COMMAND --help says what a command takes.",
    )
    parser.add_argument("--version", action="version", version=f"forebay {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", required=True)
    for name in commands:
        importlib.import_module(f"forebay.cli.{name}").add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit status: 0 done, 1 it failed, 2 the command line or configuration is wrong."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = build_parser(_needed(words)).parse_args(words)
    from forebay.config.errors import ConfigError

    module = importlib.import_module(f"forebay.cli.{options.command}")
    try:
        status: int = module.run(options)
        sys.stdout.flush()
    except ConfigError as error:
        print(f"forebay: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has enough, as `| head` has. What is still buffered goes nowhere, and without complaint.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return status


def _needed(words: Sequence[str]) -> Sequence[str]:
    """The commands whose files must be read: `--version` and each command start without the others' weight."""
    if words[:1] == ["--version"]:
        return ()
    return words[:1] if words and words[0] in COMMANDS else COMMANDS


if __name__ == "__main__":
    sys.exit(main())
