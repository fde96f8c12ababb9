"""KV balance: how full the endpoint's KV cache would be beside the others'."""

import math

import numpy as np

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import unknown
from forebay.placement.scales import Scale
from forebay.placement.steps import full_share
from forebay.placement.worth import PerAsk


class KvBalance:
    """Share of the KV cache that would be in use, own tokens and strangers', with this request and half of its answer."""

    name = "kv"
    unit = "share"
    least_wins = True

    def __init__(self, trust_us: float) -> None:
        """`trust_us` is the age at which a scrape counts half."""
        self._trust_us = trust_us

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Share, > 0; over 1 the request does not fit."""
        return full_share(ask, e, self._trust_us)

    def unknown(self, ask: Ask, e: Facts) -> Quantity:
        """Flag: the size of the cache is not known; that of an 80 GB device is assumed."""
        del ask
        return unknown(e.kv_capacity_tokens)


def in_seconds(worth: PerAsk, relative: float, level: float) -> Scale:
    """A scale from shares to seconds: `worth` x (relative x share / mean + level x share x mean capacity / prompt).

    `relative` speaks while caches are nearly empty, when a small difference tells where the work is; `level` when they
    fill. The prompt is the pool's root mean square, so that both are free of the sizes of models and devices.
    """

    def seconds(shares: Quantity, ask: Ask) -> Quantity:
        is_array = isinstance(shares, np.ndarray)
        # fsum rounds once, so that the mean is the same number over a list and over an array.
        mean = math.fsum(shares.tolist() if is_array else shares) / max(len(shares), 1)
        pace = ask.pace
        by_level = level * pace.kv_capacity_tokens / pace.prompt_tokens_rms
        per_share = worth(ask) * (relative / mean + by_level) if mean else 0.0
        return shares * per_share if is_array else [share * per_share for share in shares]

    return seconds
