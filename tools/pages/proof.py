"""The README's word on placement, from the JSON of `forebay bench placement`."""

from forebay.testing.proof.contestants import FRESH
from forebay.testing.proof.report import CaseReport, Proof
from pages.text import table

BEGIN, END = "<!-- placement table -->", "<!-- end of placement table -->"
RIVALS = ("round-robin", "least-request", FRESH)


def with_placement(readme: str, proof: Proof) -> str:
    """The README with this proof's figures in place of what stood between the marks. Raises ValueError without a mark."""
    before, begin, rest = readme.partition(BEGIN)
    if not begin:
        raise ValueError(f"the README has no {BEGIN}")
    after = rest.partition(END)[2] if END in rest else rest
    return f"{before}{BEGIN}\n\n{placement(proof)}{END}{after}"


def placement(proof: Proof) -> str:
    """Changes of the means against three rivals by case, and every gate that was missed."""
    head = ["Case", *(f"{what}, {rival}" for rival in RIVALS for what in ("E2E", "TTFT"))]
    rows = [[f"{one.case}: {one.title}", *_changes(one)] for one in proof.cases]
    gates = sum(len(one.verdicts) for one in proof.cases)
    said = (
        f"Modelled: `{proof.subject}`, means over {len(proof.seeds)} paired seeds against each rival's, less is better. "
        f"{gates - len(proof.missed)} of {gates} gates met.\n\n"
    )
    said += table(head, rows)
    for case, missed in proof.missed:
        said += f"- MISSED, case {case}: {missed.words}; measured {missed.numbers()}\n"
    behind = [(one.case, rival) for one in proof.cases for rival in one.behind]
    said += "".join(f"- MISSED, case {case}: {rival} has a lower E2E mean\n" for case, rival in behind)
    return said + "\n"


def _changes(case: CaseReport) -> list[str]:
    rows = {row.contestant: row.changes for row in case.rows}
    return [f"{rows[rival][what][0]:+.0%}" for rival in RIVALS for what in ("E2E mean", "TTFT mean")]
