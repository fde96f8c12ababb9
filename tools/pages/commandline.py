"""The command line, from argparse. Not from its own help, whose form changes with Python's version and the terminal."""

import argparse
import re
from collections.abc import Iterator

from forebay.cli.main import build_parser
from pages.text import table

_Commands = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for it


def commands(parser: argparse.ArgumentParser, summary: str = "", depth: int = 2) -> Iterator[str]:
    """A command's section and those of its own commands. `summary` stands in for a missing description."""
    actions = [action for action in parser._actions if action.dest != "help"]  # noqa: SLF001 - nor a way to list them
    rows = [_row(action, parser.prog) for action in actions if not isinstance(action, _Commands)]
    # A module's docstring begins with the command itself, and the heading says that already.
    text = re.sub(r"^`[^`]*`: ", "", parser.description or summary)
    section = f"{'#' * depth} `{parser.prog}`\n\n{text[:1].upper()}{text[1:]}\n\n"
    yield section + (table(["Argument", "Meaning"], rows) if rows else "")
    for action in actions:
        if isinstance(action, _Commands):
            helps = {each.dest: each.help or "" for each in action._choices_actions}  # noqa: SLF001 - as above
            for name, below in action.choices.items():
                yield from commands(below, helps.get(name, ""), depth + 1)


def _row(action: argparse.Action, prog: str) -> list[str]:
    value = [str(action.metavar or action.dest.upper())] if action.nargs != 0 else []
    words = " ".join(f"`{word}`" for word in [*action.option_strings, *value])
    return [words, (action.help or "") % {**vars(action), "prog": prog}]


def cli() -> str:
    statuses = (
        "0 done, 1 the command failed, 2 the command line or the configuration is wrong, 130 interrupted"
    )
    return f"# Command line\n\nExit status: {statuses}.\n\n" + "".join(commands(build_parser()))
