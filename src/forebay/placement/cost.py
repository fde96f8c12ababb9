"""What a request costs on an endpoint: demand times capacity, less what the endpoint holds already.

A step reads the model's weights however few tokens it carries, `t0 + W/BW + 2 N n / P`, so that a prefill costs one
decode step on top of its tokens. At least one token is always computed, since the last one's logits are wanted.
"""

from forebay.domain.cost import Cost
from forebay.domain.facts import Ask, Facts, Quantity
from forebay.domain.request import Demand
from forebay.placement.arith import lacking, maximum


def price(demand: Demand, cached_tokens: Quantity, encoded_patches: Quantity, e: Facts) -> Cost:
    """Cost of `demand` on `e`, all >= 0, where `cached_tokens` and `encoded_patches` of it are there already."""
    patches = maximum(demand.encoder_patches - encoded_patches, 0.0)
    tokens = maximum(demand.prompt_tokens - cached_tokens, 1.0)
    return Cost(
        encode_us=patches * e.encode_us_per_patch,
        prefill_us=tokens * e.prefill_us_per_token + e.decode_us_per_token,
        decode_us=demand.expected_output_tokens * e.decode_us_per_token,
    )


def prompt_us(ask: Ask, e: Facts) -> Quantity:
    """Microseconds of encode and prefill that this request needs on `e`, > 0: `price` without the books."""
    tokens = lacking(ask.prompt_tokens, ask.cached_tokens, e.slot, 1.0)
    text_us = tokens * e.prefill_us_per_token + e.decode_us_per_token
    patches = ask.demand.encoder_patches
    if not patches:
        return text_us
    return lacking(patches, ask.encoded_patches, e.slot, 0.0) * e.encode_us_per_patch + text_us
