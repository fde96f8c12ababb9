"""`forebay explain REQUEST-ID`: why a request went where it went, with every candidate's numbers."""

import argparse
import json
import sys
import urllib.parse

from forebay.cli.admin_port import NoAnswerError, ask, code_of, not_the_admin_port
from forebay.telemetry.table import as_table


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `explain` to the command line."""
    parser = subparsers.add_parser("explain", help="why a request went where it went", description=__doc__)
    parser.add_argument(
        "request_id", metavar="REQUEST-ID", help="as echoed in x-request-id and the access log"
    )
    parser.add_argument(
        "--admin",
        default="127.0.0.1:8081",
        help="the gateway's admin address: HOST:PORT, a URL or unix:/PATH, default %(default)s",
    )
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def run(options: argparse.Namespace) -> int:
    """Ask the running gateway. 1 when it cannot be reached, or no longer knows the request."""
    path = f"/forebay/decisions/{urllib.parse.quote(options.request_id, safe='')}"
    try:
        status, story = ask(options.admin, path)
        if status != 200 and code_of(story) != "unknown_request":
            raise not_the_admin_port(options.admin, status, path)
    except NoAnswerError as error:
        print(f"forebay: {error}", file=sys.stderr)
        return 1
    if status != 200:
        print(f"forebay: {story['error']['message']}", file=sys.stderr)
        return 1
    print(json.dumps(story) if options.json else as_table(story))
    return 0
