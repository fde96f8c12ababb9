"""What a request costs on an endpoint: demand times capacity, less what the endpoint holds already."""

from forebay.domain.cost import Cost
from forebay.domain.facts import Facts, Quantity
from forebay.domain.request import Demand
from forebay.placement.arith import maximum


def price(demand: Demand, cached_tokens: Quantity, encoded_patches: Quantity, e: Facts) -> Cost:
    """Cost of `demand` on `e`, all >= 0.

    `cached_tokens` of the prompt and `encoded_patches` of its media are there already. One token at least is always
    computed, since the last one's logits are wanted. A step reads the model's weights however few tokens it carries,
    so that the prefill costs one decode step on top of its tokens: the roofline `t0 + W/BW + 2 N n / P`, with the sum
    in place of the fit's hypot.
    """
    patches = maximum(demand.encoder_patches - encoded_patches, 0.0)
    tokens = maximum(demand.prompt_tokens - cached_tokens, 1.0)
    return Cost(
        encode_us=patches * e.encode_us_per_patch,
        prefill_us=tokens * e.prefill_us_per_token + e.decode_us_per_token,
        decode_us=demand.expected_output_tokens * e.decode_us_per_token,
    )
