"""The report as a picture. Needs matplotlib (`pip install .[bench]`)."""

from pathlib import Path
from typing import Any

from forebay.testing.bench.figures import Figures
from forebay.testing.bench.results import CaseFacts, Report
from forebay.testing.bench.table import microseconds
from forebay.testing.bench.targets import CONTENDER

_COLOURS = {
    "nginx": ("#c3cad1", "#222222"),
    "vllm-router": ("#7a8894", "white"),
    "sglang-router": ("#b5542d", "white"),
    "smg": ("#6b8f4e", "white"),
    "litellm": ("#8e6bb0", "white"),
    CONTENDER: ("#0a7ea4", "white"),
    f"{CONTENDER}-2-workers": ("#7fc4d9", "#222222"),
}
"""Of the bar, and of the figure written on its foot, where no whisker reaches."""
_OTHER_COLOURS = ("#d9b36c", "#222222")


def draw(report: Report, path: Path) -> None:
    """Write a PNG: CPU time by case, one bar for each router, on a logarithmic scale.

    Raises ModuleNotFoundError without matplotlib.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.2), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    routers = [name for name in report.versions if name != "direct"]
    width = 0.8 / max(1, len(routers))
    for number, router in enumerate(routers):
        _draw_bars(axes, report, router, (number - (len(routers) - 1) / 2) * width, width)
    _dress(axes, report.cases)
    figure.suptitle("What one request, or one stream chunk, costs in the router: less is better", fontsize=12)
    machine = report.machine
    figure.supxlabel(
        f"Median of {report.rounds} interleaved rounds, whiskers from least to largest. {machine['processor']}, "
        f"{machine['system']}, {report.date[:10]}. The engines are fakes that answer at once.",
        fontsize=7.5,
        color="#555555",
    )
    figure.savefig(path)


def _draw_bars(axes: Any, report: Report, router: str, shift: float, width: float) -> None:
    figures = Figures(report)
    found = [(place, figures.cpu_us(router, case.name)) for place, case in enumerate(report.cases)]
    bars = [(place + shift, one) for place, one in found if one is not None]
    heights = [one.median for _, one in bars]
    whiskers = [[one.median - one.least for _, one in bars], [one.largest - one.median for _, one in bars]]
    bar_colour, text_colour = _COLOURS.get(router, _OTHER_COLOURS)
    axes.bar(
        [place for place, _ in bars],
        heights,
        width * 0.94,
        yerr=whiskers,
        error_kw={"elinewidth": 0.8, "ecolor": "#333333"},
        color=bar_colour,
        label=f"{router} {report.versions[router]}",
    )
    for place, one in bars:
        text = microseconds(one.median)
        axes.text(
            place,
            0.012,
            text,
            color=text_colour,
            fontsize=6,
            # Upright, as bars are narrow where there are many.
            rotation="vertical",
            ha="center",
            transform=axes.get_xaxis_transform(),
        )


def _dress(axes: Any, cases: list[CaseFacts]) -> None:
    axes.set_yscale("log")
    axes.set_xticks(range(len(cases)), [case.title for case in cases])
    axes.set_ylabel("CPU time of the router, microseconds (log scale)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", which="major", color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.margins(y=0.12)
    axes.legend(
        frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, fontsize=9, borderaxespad=0.2
    )
