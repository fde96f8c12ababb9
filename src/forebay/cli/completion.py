"""`forebay completion bash|zsh|fish`: a script that lets the shell complete commands and options.

Made once from the parser itself, so that pressing Tab starts no Python. The shells read it as documented in "Deploy".
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

SHELLS = ("bash", "zsh", "fish")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `completion` to the command line."""
    parser = subparsers.add_parser(
        "completion",
        help="a script for the shell's completion",
        description=(__doc__ or "").partition("\n")[0],
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell that will read it: bash, zsh or fish")


def run(options: argparse.Namespace) -> int:
    """Print the script. 1 when shtab is not installed."""
    try:
        import shtab
    except ImportError:
        print(
            "forebay: the script is made with shtab: pip install 'forebay[completion]'; the machine that makes it need "
            "not be the one that uses it",
            file=sys.stderr,
        )
        return 1
    from forebay.cli.main import build_parser

    parser = build_parser()
    for action in _actions(parser):
        if action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, options.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument of the command line, those of its commands too."""
    for action in parser._actions:  # noqa: SLF001 - argparse shows them to nobody
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for command in action.choices.values():
                yield from _actions(command)
