"""What a request costs on an endpoint: demand times capacity, less what the endpoint holds already."""

from forebay.domain.cost import Cost
from forebay.domain.facts import Ask, Facts, Quantity
from forebay.domain.request import Demand
from forebay.placement.arith import lookup, maximum


def price(demand: Demand, cached_tokens: Quantity, encoded_patches: Quantity, e: Facts) -> Cost:
    """Cost of `demand` on `e`, all >= 0, where `cached_tokens` and `encoded_patches` of it are there already."""
    return Cost(
        encode_us=_encode_us(demand, encoded_patches, e),
        prefill_us=_prefill_us(demand, cached_tokens, e),
        decode_us=demand.expected_output_tokens * e.decode_us_per_token,
    )


def prompt_us(ask: Ask, e: Facts) -> Quantity:
    """Microseconds of encode and prefill that this request needs on `e`, > 0."""
    encode = _encode_us(ask.demand, lookup(ask.encoded_patches, e.slot), e)
    return encode + _prefill_us(ask.demand, lookup(ask.cached_tokens, e.slot), e)


def _encode_us(demand: Demand, encoded_patches: Quantity, e: Facts) -> Quantity:
    return maximum(demand.encoder_patches - encoded_patches, 0.0) * e.encode_us_per_patch


def _prefill_us(demand: Demand, cached_tokens: Quantity, e: Facts) -> Quantity:
    """Roofline of a step, `t0 + W/BW + 2 N n / P`: it reads the model's weights however few tokens it carries.

    At least one token is always computed, since the last one's logits are wanted.
    """
    return maximum(demand.prompt_tokens - cached_tokens, 1.0) * e.prefill_us_per_token + e.decode_us_per_token
