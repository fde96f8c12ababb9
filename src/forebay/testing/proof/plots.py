"""Pictures of one seed of a case: how the times are distributed, and how even the caches are. Needs matplotlib."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from forebay.simulator.results import Result

_OURS = "#0a7ea4"
_OTHERS = ("#222222", "#b5542d", "#7a8894", "#d9b36c", "#6b8f4e", "#8e6bb0", "#c3cad1", "#aa8f8f", "#4e7f8f")


def distributions(subject: str, results: Mapping[str, Result]) -> bytes:
    """A PNG: cumulative shares of TTFT and of E2E, a line for each contestant."""
    figure, (first, whole) = _figure(2)
    for axes, what, title in ((first, "ttft", "time to first token"), (whole, "e2e", "end to end")):
        for number, (name, result) in enumerate(results.items()):
            seconds = np.sort(getattr(result.series, what))
            shares = np.arange(1, len(seconds) + 1) / max(1, len(seconds))
            axes.plot(seconds, shares, label=name, **_line(name == subject, number))
        axes.set_xscale("log")
        axes.set_xlabel(f"{title}, seconds (log scale)")
        axes.set_ylabel("share of requests")
    whole.legend(frameon=False, fontsize=7, loc="lower right")
    return _png(figure)


def occupancies(subject: str, results: Mapping[str, Result], names: Sequence[str]) -> bytes:
    """A PNG: the KV cache of every endpoint over time, a panel for each of `names`."""
    figure, panels = _figure(len(names))
    for axes, name in zip(panels, names, strict=True):
        shares = results[name].series.occupancy
        axes.plot(shares * 100, linewidth=0.7, color=_OURS if name == subject else _OTHERS[2], alpha=0.8)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("seconds of virtual time")
        axes.set_ylim(0, max(1.0, np.nanmax(shares) * 105))
    panels[0].set_ylabel("KV cache of each endpoint, %")
    return _png(figure)


def overview(
    subject: str, rival: str, changes: Sequence[tuple[str, Mapping[str, tuple[float, float, float]]]]
) -> bytes:
    """A PNG for a README: by case, the change of E2E and TTFT means against one rival, with intervals."""
    figure, (axes,) = _figure(1)
    for shift, what, colour in ((-0.2, "E2E mean", _OURS), (0.2, "TTFT mean", "#7a8894")):
        found = [one[what] for _, one in changes]
        means = np.array([mean for mean, _, _ in found]) * 100
        reach = [
            [100 * (mean - max(low, -1.0)) for mean, low, _ in found],
            [100 * (min(high, 1.0) - mean) for mean, _, high in found],
        ]
        places = np.arange(len(found)) + shift
        axes.bar(places, means, 0.38, color=colour, label=what, yerr=reach, error_kw={"elinewidth": 0.8})
    axes.axhline(0, color="#333333", linewidth=0.8)
    axes.set_xticks(range(len(changes)), [name for name, _ in changes])
    axes.set_ylabel(f"{subject} against {rival}, %")
    axes.set_title("Less is better. Modelled in virtual time; 95 % intervals over paired seeds.", fontsize=9)
    axes.legend(frameon=False)
    return _png(figure)


def _figure(panels: int) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    panes = figure.subplots(1, panels, squeeze=False)[0]
    for axes in panes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#ececec", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure, panes


def _line(ours: bool, number: int) -> dict[str, Any]:
    if ours:
        return {"color": _OURS, "linewidth": 2.2, "zorder": 5}
    return {"color": _OTHERS[number % len(_OTHERS)], "linewidth": 0.9}


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    # Without the moment and the version: the same run draws the same bytes.
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
