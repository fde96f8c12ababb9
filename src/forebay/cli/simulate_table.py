"""The table of simulated runs, which says of itself what it rests on. Pure."""

import statistics
from collections.abc import Callable, Sequence

from forebay.simulator.results import Figures, Result, standing_of
from forebay.simulator.scenario import Scenario

# Heading, what it shows, and with how many digits.
COLUMNS: Sequence[tuple[str, Callable[[Figures], float], int]] = (
    ("E2E mean s", lambda figures: figures.e2e.mean, 3),
    ("P99-P50 s", lambda figures: figures.e2e.jitter, 2),
    ("TTFT mean ms", lambda figures: 1e3 * figures.ttft.mean, 0),
    ("P99-P50 ms", lambda figures: 1e3 * figures.ttft.jitter, 0),
    ("KV std %", lambda figures: 100 * figures.kv_std, 2),
    ("KV CV", lambda figures: figures.kv_cv, 2),
    ("requests/s", lambda figures: figures.throughput_per_second, 2),
    ("max/mean", lambda figures: figures.imbalance, 2),
    ("refused", lambda figures: figures.refused, 0),
)

LEGEND = """\
E2E: a request as a whole. TTFT: until its first token. P99-P50: jitter, of the figure before it.
KV std and CV: how unevenly KV caches are filled, in percent of a cache, and of the mean. max/mean: load of the busiest endpoint."""


def table(scenario: Scenario, results: Sequence[Result]) -> str:
    """One row for each profile: the mean over seeds and, of several, their standard deviation."""
    profiles = list(dict.fromkeys(result.profile for result in results))
    rows = [["profile", *(heading for heading, _, _ in COLUMNS)]]
    for profile in profiles:
        figures = [result.figures for result in results if result.profile == profile]
        rows.append([profile, *(_cell([of(one) for one in figures], digits) for _, of, digits in COLUMNS)])
    return "\n".join([*_heading(scenario, results), "", LEGEND, "", grid(rows)])


def grid(rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [
            first.ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)),
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _heading(scenario: Scenario, results: Sequence[Result]) -> list[str]:
    seeds = sorted({result.seed for result in results})
    how = (
        f"seeds {seeds[0]} to {seeds[-1]}: mean ± standard deviation"
        if len(seeds) > 1
        else f"seed {seeds[0]}"
    )
    counted = results[0].figures
    return [
        f"{scenario.name}: {scenario.title}",
        f"modelled, not measured; {how}; {counted.counted} of {counted.requests} requests counted",
        *(f"{device}: {standing}" for device, standing in standing_of(scenario).items()),
    ]


def _cell(values: Sequence[float], digits: int) -> str:
    mean = f"{statistics.fmean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ±{statistics.stdev(values):.{digits}f}"
