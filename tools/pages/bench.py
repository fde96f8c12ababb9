"""The README's figures, from the JSON of `forebay bench router`."""

from forebay.testing.bench.figures import Figures
from forebay.testing.bench.results import Report
from forebay.testing.bench.table import microseconds
from forebay.testing.bench.targets import CONTENDER, Target, targets
from pages.text import table

BEGIN, END = "<!-- bench table -->", "<!-- end of bench table -->"


def with_figures(readme: str, report: Report) -> str:
    """The README with this report's figures in place of what stood between the marks. Raises ValueError without a mark."""
    before, begin, rest = readme.partition(BEGIN)
    if not begin:
        raise ValueError(f"the README has no {BEGIN}")
    after = rest.partition(END)[2] if END in rest else rest
    return f"{before}{BEGIN}\n\n{figures(report)}{END}{after}"


def figures(report: Report) -> str:
    """What was run, CPU by case, the targets with `met` or `MISSED`, and the run's own notes."""
    found = Figures(report)
    routers = [CONTENDER, *(name for name in report.versions if name not in {CONTENDER, "direct"})]
    versions = ", ".join(f"{name} {report.versions[name]}" for name in routers)
    machine = f"{report.machine['processor']}, {report.machine['cores']} cores"
    said = f"{report.date[:10]}, {report.plan} plan, {report.rounds} interleaved rounds; {versions}; {machine}.\n\n"
    rows = [
        [
            case.title,
            *(
                microseconds(cost.median) if (cost := found.cpu_us(name, case.name)) else "-"
                for name in routers
            ),
        ]
        for case in report.cases
        if case.measure == "cpu"
    ]
    said += table(["CPU of the router, for each", *routers], rows)
    said += table(["Target", "Limit", "This run", ""], [_target(each) for each in targets(report)])
    return said + "".join(f"- {note}\n" for note in report.notes) + ("\n" if report.notes else "")


def _target(target: Target) -> list[str]:
    figure = "-" if target.figure is None else f"{target.figure:.2f} {target.unit}"
    return [target.what, f"{target.limit:g} {target.unit}", figure, target.state]
