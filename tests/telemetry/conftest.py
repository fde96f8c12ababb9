import pytest

from forebay.domain.outcome import Ending, Outcome, Usage
from forebay.domain.placement import Decision, FilterTrace, Placement, ScorerTrace
from forebay.telemetry.observer import Passage


def a_placement(slot=1, totals=(0.5, 0.2, 0.9), **changes):
    """Three candidates, the second the best, with two scorers in seconds."""
    candidates = tuple(range(len(totals)))
    fields = {
        "slot": slot,
        "profile": "multimodal",
        "candidates": candidates,
        "filters": (FilterTrace("health", (7,)), FilterTrace("model", ())),
        "scorers": (
            ScorerTrace("visual", 0.4, "s", [2 * total for total in totals], unknown=(2,)),
            ScorerTrace("decode", 0.35, "s", [0.0 for _ in totals]),
        ),
        "totals": totals,
    }
    return Placement(**{**fields, **changes})


def a_decision(request_id="r-1", try_=0, placement=None, **changes):
    placement = a_placement() if placement is None else placement
    fields = {
        "request_id": request_id,
        "at": 1000,
        "try_": try_,
        "model": "qwen",
        "pool": "qwen",
        "prompt_tokens": 140,
        "text_tokens": 10,
        "image_tokens": 100,
        "audio_tokens": 20,
        "video_tokens": 10,
        "encoder_patches": 400,
        "expected_output_tokens": 200,
        "exact": True,
        "placement": placement,
        "endpoints": {0: "ep-a", 1: "ep-b", 2: "ep-c", 7: "ep-x"},
    }
    return Decision(**{**fields, **changes})


def an_outcome(request_id="r-1", ending=Ending.FINISHED, **changes):
    fields = {
        "request_id": request_id,
        "ending": ending,
        "reason": "",
        "model": "qwen",
        "endpoint": "ep-b",
        "tries": 1,
        "usage": Usage(prompt_tokens=145, completion_tokens=30, cached_tokens=5, reported=True),
        "ttft_us": 50_000,
        "e2e_us": 900_000,
    }
    return Outcome(**{**fields, **changes})


def a_passage(request_id="r-1", **changes):
    fields = {
        "request_id": request_id,
        "api": "/v1/chat/completions",
        "model": "qwen",
        "status": 200,
        "body_bytes": 1000,
        "reply_bytes": 300,
        "duration_us": 910_000,
    }
    return Passage(**{**fields, **changes})


@pytest.fixture
def placement():
    return a_placement


@pytest.fixture
def decision():
    return a_decision


@pytest.fixture
def outcome():
    return an_outcome


@pytest.fixture
def passage():
    return a_passage
