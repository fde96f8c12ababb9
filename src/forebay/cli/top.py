"""`forebay top`: pools, endpoints and decisions of a running gateway, live in a terminal."""

import argparse
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.cli.admin_port import NoAnswerError
from forebay.cli.top_ask import Picture, Watch, next_after, take

if TYPE_CHECKING:
    from rich.console import Console

PICTURE_COLUMNS = 150
"""Wide enough for every column."""

# A picture in a ticket should not fetch fonts from a stranger's host; viewers have a monospaced one of their own.
_FONT_FACES = re.compile(r"@font-face \{.*?\}", re.DOTALL)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `top` to the command line."""
    parser = subparsers.add_parser(
        "top",
        help="watch a running gateway",
        description=f"{__doc__} Keys: q quits; n, l, k, t sort by name, load, KV usage, time to first token.",
    )
    parser.add_argument(
        "--admin",
        default="127.0.0.1:8081",
        help="the gateway's admin address: HOST:PORT, a URL or unix:/PATH, default %(default)s",
    )
    parser.add_argument(
        "--interval",
        type=_seconds,
        default=1.0,
        metavar="SECONDS",
        help="between two frames, default %(default)s",
    )
    parser.add_argument("--once", action="store_true", help="print one frame and exit")
    parser.add_argument(
        "--json", action="store_true", help="print the numbers of each frame as a line of JSON"
    )
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write one frame as a picture and exit")


def run(options: argparse.Namespace) -> int:
    """Watch until `q` or Ctrl-C. 1 when the admin port does not answer to begin with, or rich is not installed."""
    try:
        first = take(options.admin)
    except NoAnswerError as error:
        print(f"forebay: {error}", file=sys.stderr)
        return 1
    if options.json:
        return _lines(first, options)
    try:
        from rich.console import Console
    except ImportError:
        print("forebay: top draws with rich: pip install 'forebay[top]', or use --json", file=sys.stderr)
        return 1
    if options.svg:
        return _picture(first, options.svg)
    console = Console(highlight=False)
    if options.once or not (console.is_terminal and sys.stdin.isatty()):
        return _frames(first, console, options)
    return _live(first, console, options.interval)


def _lines(picture: Picture, options: argparse.Namespace) -> int:
    print(picture.as_json(), flush=True)
    while not options.once:
        time.sleep(options.interval)
        picture = next_after(picture)
        print(picture.as_json(), flush=True)
    return 0


def _frames(picture: Picture, console: "Console", options: argparse.Namespace) -> int:
    """One frame after the other, for pipes and files."""
    from forebay.cli.top_frame import frame

    console.print(frame(picture, console.width))
    while not options.once:
        time.sleep(options.interval)
        picture = next_after(picture)
        console.print(frame(picture, console.width))
    return 0


def _picture(picture: Picture, path: Path) -> int:
    from rich.console import Console

    from forebay.cli.top_frame import frame

    with Path("/dev/null").open("w") as nowhere:
        console = Console(file=nowhere, record=True, width=PICTURE_COLUMNS, force_terminal=True)
        console.print(frame(picture, console.width))
    svg = _FONT_FACES.sub("", console.export_svg(title="forebay top"))
    path.write_text(svg, encoding="utf-8")
    return 0


def _live(first: Picture, console: "Console", interval_seconds: float) -> int:
    from rich.live import Live

    from forebay.cli.top_frame import frame
    from forebay.cli.top_keys import Keys

    sorts, sort = {"n": "name", "l": "load", "k": "kv", "t": "ttft"}, "name"
    with Keys() as keys, Live(console=console, screen=True, auto_refresh=False) as live:
        watch = Watch(first, interval_seconds, keys.wake)
        live.update(frame(first, console.width, console.height, sort), refresh=True)
        for key in keys.pressed(interval_seconds):
            sort = sorts.get(key, sort)
            live.update(frame(watch.picture, console.width, console.height, sort), refresh=True)
        watch.stop()
    return 0


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0.1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError("from 0.1 to 3600 seconds")
    return seconds
