"""What a run of the proof says: figures for each case and contestant, changes against each rival, and the gates."""

import statistics
from collections.abc import Sequence

import msgspec

from forebay.simulator.results import Result
from forebay.simulator.scenario import Scenario
from forebay.testing.proof.cases import Case, Gate
from forebay.testing.proof.contestants import NO_RIVALS
from forebay.testing.proof.figures import FIGURES, THROUGHPUT, recovery_seconds
from forebay.testing.proof.paired import Change, change
from forebay.testing.proof.run import Task


class Verdict(msgspec.Struct, frozen=True):
    """A gate, what was measured, and whether it is met."""

    words: str
    mean: float
    low: float
    high: float
    met: bool
    level: bool = False

    def numbers(self) -> str:
        """As people read them: a change with its interval, or a level from its least to its largest."""
        shown = "{:.2f} [{:.2f} .. {:.2f}]" if self.level else "{:+.1%} [{:+.1%} .. {:+.1%}]"
        return shown.format(self.mean, self.low, self.high)


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
    scenarios = {task.case: task.scenario for task in work}
    return Proof(
        subject,
        sorted({task.seed for task in work}),
        [
            _case_report(
                subject,
                case,
                scenarios[case.name].title,
                _incident_at(scenarios[case.name]),
                by_case[case.name],
            )
            for case in cases
        ],
    )


def _incident_at(scenario: Scenario) -> float | None:
    return min((one.at_seconds for one in scenario.incidents), default=None)


def _case_report(
    subject: str, case: Case, title: str, incident_at: float | None, runs: dict[str, list[Result]]
) -> CaseReport:
    rows = [
        _row(name, runs[subject] if name != subject else None, results, incident_at)
        for name, results in runs.items()
    ]
    return CaseReport(
        case.name,
        title,
        runs[subject][0].standing,
        rows,
        [verdict(gate, runs[gate.ours or subject], runs[gate.rival]) for gate in case.gates],
        [row.contestant for row in rows if _surely_ahead(row)],
    )


def _surely_ahead(row: Row) -> bool:
    """Whether a rival has a lower E2E mean than ours."""
    found = row.changes.get("E2E mean")
    return row.contestant not in NO_RIVALS and found is not None and found[1] > 0


def _row(
    name: str, ours: Sequence[Result] | None, theirs: Sequence[Result], incident_at: float | None
) -> Row:
    means = {what: statistics.fmean(map(read, theirs)) for what, read in FIGURES.items()}
    means["throughput"] = statistics.fmean(map(THROUGHPUT, theirs))
    if incident_at is not None:
        means["recovery"] = statistics.fmean(recovery_seconds(one.series, incident_at) for one in theirs)
    # A short run may have no moment that was busy enough to speak of imbalance.
    compared = [] if ours is None else [what for what in FIGURES if means[what] > 0]
    changes = {what: _change(what, ours or (), theirs) for what in compared}
    return Row(name, means, {what: (one.mean, one.low, one.high) for what, one in changes.items()})


def _change(what: str, ours: Sequence[Result], theirs: Sequence[Result]) -> Change:
    return change([*map(FIGURES[what], ours)], [*map(FIGURES[what], theirs)])


def verdict(gate: Gate, ours: Sequence[Result], theirs: Sequence[Result]) -> Verdict:
    """Whether the gate is met. Of a level, the figure stands where the change does."""
    if gate.kind == "level":
        found = [*map(FIGURES[gate.figure], ours)]
        mean = statistics.fmean(found)
        return Verdict(gate.words(), mean, min(found), max(found), mean <= gate.bound, level=True)
    changed = _change(gate.figure, ours, theirs)
    met = {
        "not-behind": changed.not_behind,
        "at-most": changed.mean <= gate.bound and changed.better,
        "below": changed.mean <= gate.bound,
    }[gate.kind]
    return Verdict(gate.words(), *changed, met)


def encode(proof: Proof) -> bytes:
    """As `placement.json`: the same bytes for the same seeds."""
    return msgspec.json.format(msgspec.json.encode(proof), indent=1) + b"\n"


def text_report(proof: Proof) -> str:
    """For a terminal."""
    heading = (
        f"Placement, MODELLED in virtual time: {proof.subject} against every baseline, {len(proof.seeds)} paired seeds.\n"
        f"Less is better; in brackets the change of {proof.subject} over theirs, and behind a gate its 95 % interval.\n"
        "E2E is a request as a whole, TTFT until its first token, jitter P99 - P50; KV std is how unevenly KV caches are filled,\n"
        "imbalance the load of the busiest endpoint over the mean. A gate is what was asked of the profile beforehand."
    )
    parts = [heading, *(_case_text(proof.subject, one) for one in proof.cases)]
    met = sum(len(one.verdicts) for one in proof.cases) - len(proof.missed)
    parts.append(f"{met} gates met, {len(proof.missed)} missed.")
    return "\n\n".join(parts) + "\n"


def _case_text(subject: str, report: CaseReport) -> str:
    recovers = "recovery" in report.rows[0].figures
    head = ["", *FIGURES, "throughput", *(["recovery"] if recovers else [])]
    rows = [head, *(_cells(row) for row in report.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(_aligned(row, widths)) for row in rows]
    standing = "; ".join(f"{device}: {words}" for device, words in report.standing.items())
    lines = [f"Case {report.case}: {report.title} ({standing})", *table]
    lines += [f"{'met   ' if one.met else 'MISSED'}  {one.words}: {one.numbers()}" for one in report.verdicts]
    lines.append(
        f"MISSED  {subject} has a higher E2E mean than {', '.join(report.behind)}"
        if report.behind
        else "met     the lowest E2E mean, within intervals"
    )
    return "\n".join(lines)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        row[0].ljust(widths[0]),
        *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
    ]


def _cells(row: Row) -> list[str]:
    cells = [row.contestant]
    for what in FIGURES:
        value = shown(what, row.figures[what])
        cells.append(f"{value} ({row.changes[what][0]:+.0%})" if what in row.changes else value)
    cells.append(f"{row.figures['throughput']:.2f}/s")
    return [*cells, f"{row.figures['recovery']:.0f} s"] if "recovery" in row.figures else cells


def shown(what: str, value: float) -> str:
    """A figure in its unit."""
    if what == "KV std":
        return f"{value:.2%}"
    return f"{value:.2f}" if what == "imbalance" else f"{value:.3f} s"
