"""`forebay bench placement`: placement profiles against each other in virtual time."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.simulator.results import Result
    from forebay.testing.proof.cases import Case
    from forebay.testing.proof.report import Proof
    from forebay.testing.proof.run import Task

SEEDS = 5
SMOKE_SEEDS = 5
PICTURED = ("round-robin", "queue-kv")
"""Whose caches are drawn beside ours."""


def add_parser(kinds: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `placement` to the kinds of bench."""
    parser = kinds.add_parser(
        "placement",
        help="placement profiles against each other, in virtual time",
        description="Runs every case with every profile over paired seeds. All figures are modelled.",
    )
    parser.add_argument("--case", action="append", metavar="A", help="only this one; may be given again")
    parser.add_argument(
        "--subject",
        default="predictive",
        metavar="PROFILE",
        help="the one that must beat the others (%(default)s)",
    )
    parser.add_argument(
        "--seeds", type=int, metavar="N", help=f"paired seeds 1 to N ({SEEDS}; smoke: {SMOKE_SEEDS})"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="this one alone, without intervals")
    parser.add_argument(
        "--sensitivity", action="store_true", help="instead: case A under other signals, gateways and weights"
    )
    parser.add_argument("--smoke", action="store_true", help="one small case, under a minute")
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="processes (one for each core)")
    parser.add_argument(
        "--out", type=Path, default=Path("bench-placement"), metavar="FOLDER", help="for JSON, HTML, PNG"
    )


def run(options: argparse.Namespace) -> int:
    """Run and report. 0 whatever came of the gates: this is a benchmark; 2 for a wrong option."""
    from forebay.testing.proof import sensitivity
    from forebay.testing.proof.contestants import contestants
    from forebay.testing.proof.report import proof_of, text_report
    from forebay.testing.proof.run import perform, tasks

    cases = _cases(options)
    rivals = sensitivity.contestants(options.subject) if options.sensitivity else contestants()
    problem = _problem(options, cases, [one.name for one in rivals])
    if problem:
        print(problem, file=sys.stderr)
        return 2
    work = tasks(cases, rivals, _seeds(options), options.subject)
    results = perform(work, options.workers, _tell)
    proof = proof_of(options.subject, cases, work, results)
    print(text_report(proof))
    _write(options, proof, work, results)
    return 0


def _cases(options: argparse.Namespace) -> "Sequence[Case]":
    from forebay.testing.proof.cases import CASES, SMOKE
    from forebay.testing.proof.sensitivity import CASE

    if options.smoke or options.sensitivity:
        return SMOKE if options.smoke else (CASE,)
    wanted = options.case
    # `E` is all of its rates.
    return [one for one in CASES if not wanted or one.name in wanted or one.name.partition(" ")[0] in wanted]


def _problem(options: argparse.Namespace, cases: "Sequence[Case]", names: list[str]) -> str:
    from forebay.testing.proof.cases import CASES

    if not cases:
        return f"no such case; there are {', '.join(one.name for one in CASES)}"
    if options.subject not in names:
        return f"no profile {options.subject!r}; there are {', '.join(names)}"
    if options.seeds is not None and options.seeds < 1:
        return "--seeds must be 1 or more"
    return ""


def _seeds(options: argparse.Namespace) -> list[int]:
    if options.seed is not None:
        return [options.seed]
    return list(range(1, (options.seeds or (SMOKE_SEEDS if options.smoke else SEEDS)) + 1))


def _tell(done: int, total: int, what: str) -> None:
    end = "\r" if sys.stderr.isatty() and done < total else "\n"
    print(
        f"\r\x1b[K{done}/{total} {what}" if sys.stderr.isatty() else f"{done}/{total} {what}",
        end=end,
        file=sys.stderr,
        flush=True,
    )


def _write(
    options: argparse.Namespace, proof: "Proof", work: "Sequence[Task]", results: "Sequence[Result]"
) -> None:
    """`placement.json`, `placement.html`, and the pictures in it as PNGs too."""
    from forebay.testing.proof.page import page
    from forebay.testing.proof.report import encode

    folder: Path = options.out
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "placement.json").write_bytes(encode(proof))
    pictures = {}
    try:
        pictures = _pictures(options, work, results)
    except ModuleNotFoundError:
        print("no pictures: they need matplotlib (pip install 'forebay[bench]')", file=sys.stderr)
    for case, images in pictures.items():
        for number, image in enumerate(images):
            (folder / f"{case.replace('/', '-').replace(' ', '-')}-{number + 1}.png").write_bytes(image)
    (folder / "placement.html").write_text(page(proof, pictures, _command(options)), encoding="utf-8")
    print(f"written to {folder}: placement.json, placement.html", file=sys.stderr)


def _pictures(
    options: argparse.Namespace, work: "Sequence[Task]", results: "Sequence[Result]"
) -> dict[str, list[bytes]]:
    from forebay.testing.proof.plots import distributions, occupancies

    seed = min(task.seed for task in work)
    by_case: dict[str, dict[str, Result]] = {}
    for task, result in zip(work, results, strict=True):
        if task.seed == seed:
            by_case.setdefault(task.case, {})[task.contestant] = result
    some = by_case[work[0].case]
    drawn = [options.subject, *(name for name in PICTURED if name != options.subject and name in some)]
    return {
        case: [distributions(options.subject, found), occupancies(options.subject, found, drawn)]
        for case, found in by_case.items()
    }


def _command(options: argparse.Namespace) -> str:
    words = ["forebay", "bench", "placement", "--subject", options.subject]
    words += (
        ["--seed", str(options.seed)] if options.seed is not None else ["--seeds", str(len(_seeds(options)))]
    )
    words += [f"--{kind}" for kind in ("smoke", "sensitivity") if getattr(options, kind)]
    return shlex.join(words + [word for case in options.case or () for word in ("--case", case)])
