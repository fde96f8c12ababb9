"""Mooncake: the reuse is the trace's own."""

import random
from itertools import islice

from forebay.simulator.engine.caches import PrefixCache
from forebay.simulator.workloads.mooncake import BLOCK_TOKENS, Mooncake
from forebay.simulator.workloads.requests import visit


def drawn(workload, count, seed=1):
    return list(islice(workload.asks(random.Random(seed)), count))


def test_a_prompts_blocks_belong_to_it_wholly():
    asks = drawn(Mooncake(most_context_tokens=8_000), 300)
    assert all(len(ask.shared) * BLOCK_TOKENS <= ask.text_tokens <= 8_000 for ask in asks)
    assert any(ask.shared for ask in asks)


def test_a_cache_without_bounds_finds_a_good_part_of_all_tokens_again():
    cache, again, total = PrefixCache(1 << 40), 0, 0
    for number, ask in enumerate(drawn(Mooncake(), 2500)):
        made = visit(number, 0.0, ask)
        again += cache.match(made.blocks, made.block_ends)
        cache.keep(made.blocks, made.block_ends)
        total += made.prompt_tokens
    assert 0.2 < again / total < 0.6


def test_the_next_round_shares_nothing_with_the_first():
    asks = drawn(Mooncake(), 6000, seed=4)
    first = {block for ask in asks[:100] for block in ask.shared}
    again = {block for ask in asks[3000:3100] for block in ask.shared}
    assert first
    assert [ask.text_tokens for ask in asks[:100]] == [ask.text_tokens for ask in asks[3000:3100]]
    assert not first & again
