"""An explained request as text for a terminal. Pure."""

from collections.abc import Sequence
from typing import Any

from forebay.telemetry.words import counted


def as_table(explained: dict[str, Any]) -> str:
    """Return the text for what `explain.explained` returned, ending in a newline."""
    lines = [_headline(explained), _demand_line(explained["demand"])]
    for decision in explained["decisions"]:
        lines += ["", *_decision_lines(decision)]
    if explained["outcome"] is not None:
        lines += ["", _outcome_line(explained["outcome"])]
    return "\n".join(lines) + "\n"


def _headline(explained: dict[str, Any]) -> str:
    return f"request {explained['request_id']}  model {explained['model']}  pool {explained['pool']}"


def _demand_line(demand: dict[str, Any]) -> str:
    parts = [f"{name} {demand[f'{name}_tokens']}" for name in ("text", "image", "audio", "video")]
    exact = "exact" if demand["exact"] else "approximate"
    return (
        f"predicted {counted(demand['prompt_tokens'], 'prompt token')} ({', '.join(parts)}; media {exact}), "
        f"{counted(demand['encoder_patches'], 'encoder patch', 'encoder patches')}, "
        f"{counted(demand['expected_output_tokens'], 'output token')} expected"
    )


def _decision_lines(decision: dict[str, Any]) -> list[str]:
    lines = [f"try {decision['try']}, profile {decision['profile']}: {decision['why']}"]
    lines += [
        f"  {trace['name']} dropped {_listed(trace['dropped'], trace['dropped_count'])}"
        for trace in decision["filters"]
        if trace["dropped_count"]
    ]
    if decision["candidates"]:
        lines += [f"  {line}" for line in _grid(_rows(decision["candidates"]))]
    if decision["candidates_not_shown"]:
        lines.append(f"  and {decision['candidates_not_shown']} more")
    return lines


def _rows(candidates: list[dict[str, Any]]) -> list[list[str]]:
    scores = candidates[0]["scores"]
    titles = [f"{name} x{score['weight']:g} [{score['unit']}]" for name, score in scores.items()]
    return [["", "endpoint", "total", "share", *titles], *(_row(candidate) for candidate in candidates)]


def _row(candidate: dict[str, Any]) -> list[str]:
    return [
        "->" if candidate["chosen"] else "",
        candidate["endpoint"],
        _figure(candidate["total"]),
        _percent(candidate["total_share"]),
        *(_score(score) for score in candidate["scores"].values()),
    ]


def _score(score: dict[str, Any]) -> str:
    unknown = " ?" if score["belief"] == "unknown" else ""
    return f"{_figure(score['value'])} ({_percent(score['share'])}){unknown}"


def _grid(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _listed(names: list[str], count: int) -> str:
    rest = f" and {count - len(names)} more" if count > len(names) else ""
    return ", ".join(names) + rest


def _outcome_line(outcome: dict[str, Any]) -> str:
    first = (
        "no first token" if outcome["ttft_ms"] is None else f"first token after {outcome['ttft_ms']:.1f} ms"
    )
    reported = outcome["prompt_tokens"]
    prompt = (
        "prompt tokens not reported" if reported is None else f"{counted(reported, 'prompt token')} reported"
    )
    ending, reason = outcome["ending"], outcome["reason"]
    why = f" ({reason})" if reason and reason != ending else ""
    where = f" at {outcome['endpoint']}" if outcome["endpoint"] else ""
    return (
        f"{ending}{why}{where} after {counted(outcome['tries'], 'try', 'tries')}: {first}, "
        f"{outcome['e2e_ms']:.1f} ms in all, {prompt}, {counted(outcome['completion_tokens'], 'completion token')}"
    )


def _figure(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
