"""The report as plain text for a terminal."""

from collections.abc import Sequence

from forebay.testing.bench.figures import Figures, Spread
from forebay.testing.bench.results import DecisionTime, Memory, Report
from forebay.testing.bench.targets import CONTENDER, MEGABYTE, Target, targets


def text_report(report: Report) -> str:
    """Every figure of the run, what it promises, and what a reader must know."""
    parts = [
        _heading(report),
        _cpu(report),
        _ratios(report),
        _latency(report),
        _memory(report.memory),
        _decisions(report.decisions),
        _bytes(report),
        _promises(targets(report)) if CONTENDER in report.versions else "",
        _notes(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def grid(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as aligned columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def microseconds(value: float) -> str:
    """Three digits at most, in the unit that needs no zeros."""
    if value < 1000:
        return f"{value:.0f} us"
    return f"{value / 1000:.2f} ms" if value < 10_000 else f"{value / 1000:.1f} ms"


def _spread(found: Spread | None) -> str:
    if found is None:
        return "-"
    return f"{microseconds(found.median)} [{microseconds(found.least)} .. {microseconds(found.largest)}]"


def _heading(report: Report) -> str:
    machine = report.machine
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items() if name != "direct")
    return (
        f"Router benchmark, {report.plan} plan, {report.rounds} interleaved rounds, {report.date}\n"
        f"{versions}\n"
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}; {machine['system']}, "
        f"kernel {machine['kernel']}; {machine['placement']}"
    )


def _routers(report: Report) -> list[str]:
    return [name for name in report.versions if name != "direct"]


def _cpu(report: Report) -> str:
    figures, routers = Figures(report), _routers(report)
    rows = [["CPU of the router, for each", *routers]]
    rows += [
        [case.title, *(_spread(figures.cpu_us(router, case.name)) for router in routers)]
        for case in report.cases
    ]
    return (
        grid(rows)
        + "\nMedian of the rounds [least .. largest]. User and system time of the whole process tree."
    )


def _ratios(report: Report) -> str:
    figures = Figures(report)
    peers = [name for name in _routers(report) if name != CONTENDER]
    if CONTENDER not in report.versions or not peers:
        return ""
    rows = [["CPU of forebay over CPU of", *peers]]
    for case in report.cases:
        ratios = (figures.ratio(CONTENDER, peer, case.name) for peer in peers)
        cells = (f"{one.median:.2f} [{one.least:.2f} .. {one.largest:.2f}]" if one else "-" for one in ratios)
        rows.append([case.title, *cells])
    return grid(rows) + "\nPaired: the ratio is taken within each round, then the median."


def _latency(report: Report) -> str:
    figures = Figures(report)
    case = next((one for one in report.cases if one.measure == "latency"), None)
    if case is None:
        return ""
    rows = [["latency of " + case.title, "p50", "p99", "added p50", "added p99"]]
    for name in report.versions:
        plain = (figures.latency_us(name, case.name, share) for share in (0.5, 0.99))
        added = (
            figures.added_us(name, case.name, share) if name != "direct" else None for share in (0.5, 0.99)
        )
        rows.append([name, *(microseconds(one.median) if one else "-" for one in (*plain, *added))])
    return grid(rows) + "\nAdded: over `direct` in the same round."


def _decisions(found: Sequence[DecisionTime]) -> str:
    if not found:
        return ""
    sizes = sorted({one.endpoints for one in found})
    times = {(one.profile, one.endpoints): one.microseconds for one in found}
    rows = [["one decision, over endpoints", *(f"{size:,}" for size in sizes)]]
    rows += [
        [name, *(microseconds(times[name, size]) for size in sizes)]
        for name in dict.fromkeys(one.profile for one in found)
    ]
    return grid(rows) + "\nOf forebay, in the bench's own process, with its score trace."


def _memory(found: Sequence[Memory]) -> str:
    if not found:
        return ""
    rows = [["resident memory", "streams", "idle", "all open", "a stream", "at 10,000"]]
    rows += [
        [
            one.contestant,
            f"{one.streams:,}",
            f"{one.idle_bytes / MEGABYTE:.0f} MB",
            f"{one.open_bytes / MEGABYTE:.0f} MB",
            f"{one.bytes_a_stream / 1000:.1f} KB",
            f"{one.at(10_000) / MEGABYTE:.0f} MB",
        ]
        for one in found
    ]
    return grid(rows)


def _bytes(report: Report) -> str:
    figures = Figures(report)
    rows = [["bytes", "request kept", "answer kept", "wrong answers"]]
    for name in report.versions:
        request, answer = figures.rewrites(name)
        rows.append(
            [name, "no" if request else "yes", "no" if answer else "yes", str(figures.faults(name)[0])]
        )
    firsts = (f"{name}: {figures.faults(name)[1]}" for name in report.versions if figures.faults(name)[0])
    return "\n".join([grid(rows), *firsts])


def _promises(found: Sequence[Target]) -> str:
    rows = [["target", "limit", "this run", ""]]
    for one in found:
        figure = "-" if one.figure is None else f"{one.figure:.2f} {one.unit}"
        rows.append([one.what, f"<= {one.limit:g} {one.unit}", figure, one.state])
    return grid(rows)


def _notes(report: Report) -> str:
    lines = [f"FAILED: {failure}" for failure in report.failed]
    lines += [f"note: {note}" for note in report.notes]
    lines += [f"note: {name} is not installed; {cure}" for name, cure in report.missing.items()]
    return "\n".join(lines)
