"""What each endpoint has served lately, as the remembered outcomes tell. Pure."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from forebay.domain.outcome import Ending, Outcome
from forebay.telemetry.decisions import Story

WINDOW_US = 30_000_000
"""Long enough for a few answers of an endpoint, short enough to be about now."""


def served(stories: Iterable[Story], at: int) -> dict[str, dict[str, Any]]:
    """Return, by endpoint, what ended within the window before `at`, as JSON-ready values.

    `stories` come newest first. Where they reach back less far than the window, so does the window: rates are per
    second of it. Tokens are those of whole answers that ended, not of streams that still run.
    """
    ended: defaultdict[str, list[Outcome]] = defaultdict(list)
    begun = at
    for story in stories:
        begun = story.decisions[0].at
        outcome = story.outcome
        if outcome is not None and outcome.endpoint and begun + outcome.e2e_us > at - WINDOW_US:
            ended[outcome.endpoint].append(outcome)
    seconds = max(min(at - begun, WINDOW_US), 1_000_000) / 1e6
    return {endpoint: _row(outcomes, seconds) for endpoint, outcomes in ended.items()}


def together(parts: Iterable[Mapping[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return what several workers have served, as one. Medians are averaged, each weighted by what it is the median of."""
    by_endpoint: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for part in parts:
        for endpoint, row in part.items():
            by_endpoint[endpoint].append(row)
    return {endpoint: _sum(rows) for endpoint, rows in by_endpoint.items()}


def _sum(rows: list[dict[str, Any]]) -> dict[str, Any]:
    medians = [
        (row["ttft_p50_ms"], row["finished"] + row["failed"])
        for row in rows
        if row["ttft_p50_ms"] is not None
    ]
    weight = sum(weight for _, weight in medians)
    return {
        "window_seconds": max(row["window_seconds"] for row in rows),
        "finished": sum(row["finished"] for row in rows),
        "failed": sum(row["failed"] for row in rows),
        "ttft_p50_ms": sum(median * count for median, count in medians) / weight if weight else None,
        "output_tokens_per_second": sum(row["output_tokens_per_second"] for row in rows),
    }


def _row(outcomes: list[Outcome], seconds: float) -> dict[str, Any]:
    first_tokens = [outcome.ttft_us / 1000 for outcome in outcomes if outcome.ttft_us]
    return {
        "window_seconds": seconds,
        "finished": sum(outcome.ending is Ending.FINISHED for outcome in outcomes),
        "failed": sum(outcome.ending is Ending.FAILED for outcome in outcomes),
        "ttft_p50_ms": statistics.median(first_tokens) if first_tokens else None,
        "output_tokens_per_second": sum(outcome.usage.completion_tokens for outcome in outcomes) / seconds,
    }
