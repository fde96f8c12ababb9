"""Builders for asks and facts, in both shapes."""

from types import SimpleNamespace

import numpy as np
import pytest
from xxhash import xxh3_64_intdigest

from forebay.domain.ability import Ability, Role
from forebay.domain.facts import Ask
from forebay.domain.pace import AT_FIRST
from forebay.domain.request import Api, Demand, InferenceRequest, MediaItem, TextMeasure

NAN = float("nan")
KINDS = {"slot": np.int64, "abilities": np.int64, "roles": np.int64, "name_hash": np.uint64}

IDLE = {
    "name_hash": 0,
    "usable": 1.0,
    "draining": 0.0,
    "serves": 1.0,
    "abilities": -1,
    "roles": int(Role.ALL),
    "context_tokens": NAN,
    "encoder_budget_tokens": float("inf"),
    "in_flight": 0.0,
    "max_in_flight": float("inf"),
    "running": NAN,
    "waiting": NAN,
    "kv_usage": NAN,
    "viewed_at": NAN,
    "foreign": NAN,
    "encode_us_per_patch": 3.0,
    "prefill_us_per_token": 20.0,
    "decode_us_per_token": 8_000.0,
    "decode_us_per_kv_token": 0.1,
    "backlog_us": 0.0,
    "head_us": 0.0,
    "progressed_at": 0.0,
    "decoding": 0.0,
    "work_share": 0.0,
    "worked_at": 0.0,
    "kv_tokens": 0.0,
    "uncached_tokens": 0.0,
    "sent_tokens": 0.0,
    "kv_capacity_tokens": NAN,
    "gap_p95_us": NAN,
    "bytes_per_us": 625.0,
    "numa_apart": NAN,
    "ramp": 1.0,
}


def row_of(slot=0, **facts):
    named = {"name_hash": xxh3_64_intdigest(b"e%d" % slot)}
    return SimpleNamespace(slot=slot, **(IDLE | named | facts))


def columns_of(rows):
    return SimpleNamespace(
        **{
            name: np.array([getattr(e, name) for e in rows], dtype=KINDS.get(name, np.float64))
            for name in ("slot", *IDLE)
        }
    )


def pool_of(*rows, columns=False):
    return SimpleNamespace(rows=rows, columns=columns_of(rows) if columns else None, standing=object())


def ask_of(
    at=1_000_000,
    cached=None,
    encoded=None,
    tried=(),
    needs=Ability.TEXT | Ability.CHAT,
    items=(),
    pace=AT_FIRST,
    **demand,
):
    wants = {
        "text_tokens": 100,
        "image_tokens": 0,
        "audio_tokens": 0,
        "video_tokens": 0,
        "encoder_patches": 0,
        "expected_output_tokens": 200,
        "body_bytes": 1_000,
        "exact": True,
    } | demand
    media = tuple(
        MediaItem(Ability.IMAGE, 0, i, "image/png", tokens=tokens, content_hash=1)
        for i, tokens in enumerate(items)
    )
    request = InferenceRequest("r", Api.CHAT, "m", needs, TextMeasure(ascii_bytes=400, messages=1), media)
    return Ask(request, Demand(**wants), at, cached or {}, encoded or {}, tried, pace=pace)


@pytest.fixture(scope="session")
def row():
    return row_of


@pytest.fixture(scope="session")
def pool():
    return pool_of


@pytest.fixture(scope="session")
def ask():
    return ask_of


@pytest.fixture(scope="session")
def columns():
    return columns_of
