"""What a run of the proof says: figures for each case and contestant, changes against each rival, and the gates."""

import statistics
from collections.abc import Sequence

import msgspec

from forebay.simulator.results import Figures, Result
from forebay.testing.proof.cases import Case, Gate
from forebay.testing.proof.figures import FIGURES, LARGER_IS_BETTER
from forebay.testing.proof.paired import Change, change
from forebay.testing.proof.run import Task


class Verdict(msgspec.Struct, frozen=True):
    """A gate, what was measured, and whether it is met."""

    words: str
    mean: float
    low: float
    high: float
    met: bool


class Row(msgspec.Struct, frozen=True):
    """One contestant in one case: means over seeds, and the change of ours against it by figure (none for ours itself)."""

    contestant: str
    figures: dict[str, float]
    changes: dict[str, tuple[float, float, float]]


class CaseReport(msgspec.Struct, frozen=True):
    """One case. `behind` names rivals that have a surely lower E2E mean than ours."""

    case: str
    title: str
    standing: dict[str, str]
    rows: list[Row]
    verdicts: list[Verdict]
    behind: list[str]


class Proof(msgspec.Struct, frozen=True):
    """The whole. No date and no machine in it: the same seeds give the same bytes, anywhere."""

    subject: str
    seeds: list[int]
    cases: list[CaseReport]

    @property
    def missed(self) -> list[tuple[str, Verdict]]:
        """Gates that are not met, with their case."""
        return [(one.case, verdict) for one in self.cases for verdict in one.verdicts if not verdict.met]


def proof_of(subject: str, cases: Sequence[Case], work: Sequence[Task], results: Sequence[Result]) -> Proof:
    """Put the results together."""
    by_case: dict[str, dict[str, list[Result]]] = {}
    for task, result in zip(work, results, strict=True):
        by_case.setdefault(task.case, {}).setdefault(task.contestant, []).append(result)
    titles = {task.case: task.scenario.title for task in work}
    return Proof(
        subject,
        sorted({task.seed for task in work}),
        [_case_report(subject, case, titles[case.name], by_case[case.name]) for case in cases],
    )


def _case_report(subject: str, case: Case, title: str, runs: dict[str, list[Result]]) -> CaseReport:
    ours = [result.figures for result in runs[subject]]
    rows = [_row(name, ours if name != subject else None, results) for name, results in runs.items()]
    return CaseReport(
        case.name,
        title,
        runs[subject][0].standing,
        rows,
        [
            verdict(gate, ours, [one.figures for one in runs[gate.rival]])
            for gate in case.gates
            if gate.rival in runs
        ],
        [row.contestant for row in rows if "E2E mean" in row.changes and row.changes["E2E mean"][1] > 0],
    )


def _row(name: str, ours: list[Figures] | None, results: Sequence[Result]) -> Row:
    theirs = [result.figures for result in results]
    every = {**FIGURES, **LARGER_IS_BETTER}
    means = {what: statistics.fmean(map(read, theirs)) for what, read in every.items()}
    changes = {} if ours is None else {what: _change(what, ours, theirs) for what in FIGURES}
    return Row(name, means, {what: (one.mean, one.low, one.high) for what, one in changes.items()})


def _change(what: str, ours: Sequence[Figures], theirs: Sequence[Figures]) -> Change:
    return change([*map(FIGURES[what], ours)], [*map(FIGURES[what], theirs)])


def verdict(gate: Gate, ours: Sequence[Figures], theirs: Sequence[Figures]) -> Verdict:
    """Whether the gate is met."""
    found = _change(gate.figure, ours, theirs)
    met = {
        "not-behind": found.not_behind,
        "at-most": found.mean <= gate.bound and found.better,
        "below": found.mean <= gate.bound,
    }[gate.kind]
    return Verdict(gate.words(), *found, met)


def encode(proof: Proof) -> bytes:
    """As `placement.json`: the same bytes for the same seeds."""
    return msgspec.json.format(msgspec.json.encode(proof), indent=1) + b"\n"


def text_report(proof: Proof) -> str:
    """For a terminal."""
    heading = (
        f"Placement, MODELLED in virtual time: {proof.subject} against every baseline, {len(proof.seeds)} paired seeds.\n"
        "Less is better; in brackets the change of ours over theirs, and behind gates its 95 % interval."
    )
    parts = [heading, *(_case_text(proof.subject, one) for one in proof.cases)]
    met = sum(len(one.verdicts) for one in proof.cases) - len(proof.missed)
    parts.append(f"{met} gates met, {len(proof.missed)} missed.")
    return "\n\n".join(parts) + "\n"


def _case_text(subject: str, report: CaseReport) -> str:
    head = ["", *FIGURES, "throughput"]
    rows = [head, *(_cells(row) for row in report.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [
        "  ".join(
            cell.ljust(width) if not at else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    standing = "; ".join(f"{device}: {words}" for device, words in report.standing.items())
    lines = [f"Case {report.case}: {report.title} ({standing})", *table]
    lines += [
        f"{'met   ' if one.met else 'MISSED'}  {one.words}: {one.mean:+.1%} [{one.low:+.1%} .. {one.high:+.1%}]"
        for one in report.verdicts
    ]
    lines.append(
        f"MISSED  {subject} has a higher E2E mean than {', '.join(report.behind)}"
        if report.behind
        else "met     the lowest E2E mean, within intervals"
    )
    return "\n".join(lines)


def _cells(row: Row) -> list[str]:
    cells = [row.contestant]
    for what in FIGURES:
        value = row.figures[what]
        shown = f"{value:.3f}" if what != "KV std" else f"{value:.2%}"
        cells.append(f"{shown} ({row.changes[what][0]:+.0%})" if what in row.changes else shown)
    return [*cells, f"{row.figures['throughput']:.2f}/s"]
