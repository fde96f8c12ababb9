"""A decision and its numbers, for machines (`explained`) and for people (`as_table`). Pure."""

import math
from collections.abc import Sequence
from typing import Any

from forebay.domain.outcome import Outcome
from forebay.domain.placement import Decision, FilterTrace, Placement, ScorerTrace
from forebay.telemetry.decisions import Story

MAX_SHOWN_WHOLE = 16
"""Pools up to this size are shown whole."""
SHOWN_OF_LARGE = 8
"""Of larger ones, this many of the best."""


def explained(story: Story) -> dict[str, Any]:
    """Return the whole story of a request as JSON-ready values. What is unknown is None."""
    first = story.decisions[0]
    return {
        "request_id": first.request_id,
        "model": first.model,
        "pool": first.pool,
        "demand": _demand(first),
        "decisions": [explained_decision(decision) for decision in story.decisions],
        "outcome": None if story.outcome is None else _outcome(story.outcome),
    }


def explained_decision(decision: Decision) -> dict[str, Any]:
    """Return one try: filters, candidates best first with every score, and why the chosen one won."""
    placement = decision.placement
    order = ranking(placement)
    shown = order if len(order) <= MAX_SHOWN_WHOLE else _with_chosen(placement, order[:SHOWN_OF_LARGE])
    runner_up = _runner_up(placement, order)
    return {
        "try": decision.try_,
        "at_us": decision.at,
        "profile": placement.profile,
        "least_wins": placement.least_wins,
        "filters": [_filter(decision, trace) for trace in placement.filters],
        "candidates": _candidates(decision, shown),
        "candidates_not_shown": len(order) - len(shown),
        "chosen": None if placement.slot is None else _name(decision, placement.slot),
        "runner_up": None if runner_up is None else _name(decision, placement.candidates[runner_up]),
        "why": why(decision),
    }


def _candidates(decision: Decision, places: Sequence[int]) -> list[dict[str, Any]]:
    placement = decision.placement
    scored = _scored(placement)
    total_shares = shares(placement.totals)
    by_scorer = [(scorer, shares(scorer.values)) for scorer in placement.scorers]
    return [
        {
            "endpoint": _name(decision, placement.candidates[place]),
            "slot": int(placement.candidates[place]),
            "chosen": bool(placement.candidates[place] == placement.slot),
            "total": _number(placement.totals[place]) if scored else None,
            "total_share": total_shares[place] if scored else None,
            "scores": {
                scorer.name: _score(scorer, share[place], place, placement.candidates[place])
                for scorer, share in by_scorer
            },
        }
        for place in places
    ]


def ranking(placement: Placement) -> list[int]:
    """Return the places of the candidates, best total first; a total that is not a number comes last."""
    places = range(len(placement.candidates))
    if not _scored(placement):
        return list(places)
    sign = 1.0 if placement.least_wins else -1.0
    totals = [float(total) * sign for total in placement.totals]
    return sorted(places, key=lambda place: (math.isnan(totals[place]), totals[place]))


def shares(values: Sequence[float]) -> list[float | None]:
    """Return each value as a share of the greatest, in [0, 1], for people to compare; None for what is not a number."""
    numbers = [_number(value) for value in values]
    greatest = max((number for number in numbers if number is not None), default=0.0)
    return [_share(number, greatest) for number in numbers]


def why(decision: Decision) -> str:
    """Say in one sentence why the chosen endpoint was chosen."""
    placement = decision.placement
    if placement.slot is None:
        return _why_none(placement)
    chosen = _name(decision, placement.slot)
    order = ranking(placement)
    other = _runner_up(placement, order)
    if other is None:
        return f"{chosen} was the only candidate left"
    if not _scored(placement):
        return f"{chosen} was picked without scores"
    place = list(placement.candidates).index(placement.slot)
    return _margin(placement, chosen, _name(decision, placement.candidates[other]), place, other)


def _margin(placement: Placement, chosen: str, other: str, place: int, other_place: int) -> str:
    mine, theirs = float(placement.totals[place]), float(placement.totals[other_place])
    better = theirs - mine if placement.least_wins else mine - theirs
    unit = _common_unit(placement)
    if math.isnan(better):
        return f"{chosen} was picked; its total or that of {other} is not known"
    if better == 0:
        return f"{chosen} and {other} are equal at {_brief(mine)}{unit}: the tie was broken by the picker"
    amount = f"{_brief(abs(better))}{unit}"
    if better < 0:
        return f"{chosen} was picked although {other} is better by {amount}: the picker does not always take the best"
    percent = f" ({better / abs(theirs):.0%})" if theirs and math.isfinite(theirs) else ""
    word = "less" if placement.least_wins else "more"
    return f"{chosen} has {amount}{percent} {word} than {other}"


def _why_none(placement: Placement) -> str:
    dropped = [f"{trace.name} dropped {len(trace.dropped)}" for trace in placement.filters if trace.dropped]
    return f"no endpoint was left: {', '.join(dropped)}" if dropped else "the pool has no endpoint"


def _common_unit(placement: Placement) -> str:
    # Totals have a unit only when all terms share it.
    units = {scorer.unit for scorer in placement.scorers}
    unit = units.pop() if len(units) == 1 else ""
    return f" {unit}" if unit else ""


def _runner_up(placement: Placement, order: Sequence[int]) -> int | None:
    return next((place for place in order if placement.candidates[place] != placement.slot), None)


def _with_chosen(placement: Placement, best: list[int]) -> list[int]:
    chosen = next((p for p, slot in enumerate(placement.candidates) if slot == placement.slot), None)
    return best if chosen is None or chosen in best else [*best, chosen]


def _filter(decision: Decision, trace: FilterTrace) -> dict[str, Any]:
    names = [_name(decision, slot) for slot in trace.dropped[:MAX_SHOWN_WHOLE]]
    return {"name": trace.name, "dropped": names, "dropped_count": len(trace.dropped)}


def _scored(placement: Placement) -> bool:
    # A picker that needs no scores leaves the totals empty.
    return len(placement.totals) == len(placement.candidates)


def _score(scorer: ScorerTrace, share: float | None, place: int, slot: int) -> dict[str, Any]:
    return {
        "value": _number(scorer.values[place]),
        "unit": scorer.unit,
        "weight": scorer.weight,
        "share": share,
        "belief": "unknown" if slot in scorer.unknown else "known",
    }


def _demand(decision: Decision) -> dict[str, Any]:
    return {
        "prompt_tokens": decision.prompt_tokens,
        "text_tokens": decision.text_tokens,
        "image_tokens": decision.image_tokens,
        "audio_tokens": decision.audio_tokens,
        "video_tokens": decision.video_tokens,
        "encoder_patches": decision.encoder_patches,
        "expected_output_tokens": decision.expected_output_tokens,
        "exact": decision.exact,
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    usage = outcome.usage
    return {
        "ending": outcome.ending.value,
        "reason": outcome.reason,
        "endpoint": outcome.endpoint,
        "tries": outcome.tries,
        "prompt_tokens": usage.prompt_tokens if usage.reported else None,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "tokens_reported": usage.reported,
        "ttft_ms": outcome.ttft_us / 1000 if outcome.ttft_us else None,
        "e2e_ms": outcome.e2e_us / 1000,
    }


def _name(decision: Decision, slot: int) -> str:
    return decision.endpoints.get(int(slot), f"slot {int(slot)}")


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _share(value: float | None, greatest: float) -> float | None:
    if value is None:
        return None
    return min(1.0, max(0.0, value / greatest)) if greatest > 0 else 0.0


def _brief(value: float) -> str:
    return f"{value:.4g}"
