"""Steps of an engine's batch: what one takes, what waits before one, and what the KV cache holds of all that is there.

The step model is the roofline of one forward pass: the weights are read once, and the KV cache of every running sequence
(Pope et al., "Efficiently scaling transformer inference", MLSys 2023, section 3). Arithmetic of the decoded tokens hides behind
the reading of weights up to some hundred sequences, and is left out.
"""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import known, maximum, minimum, nothing
from forebay.placement.scorers.foreign import strangers

# A prompt of a stranger, whose size no scrape tells: the mean of the Azure conversation trace of 2023 (19,366
# requests, 1,154.7 context tokens; AzurePublicDataset, CC-BY-4.0).
FOREIGN_PROMPT_TOKENS = 1155.0

# A request that arrives at a random moment finds half of the running step still to come.
STEP_LEFT = 0.5

# Prompts are worked on in chunks of so many tokens (vLLM's `max_num_batched_tokens` for chunked prefill), and decodes ride
# along: of what reading their KV cache adds to a step, 0.35 shows. The prototype's fit.
CHUNK_TOKENS = 2048.0
RIDING_SHARE = 0.35

# The KV cache of an 8B model on an 80 GB device, where none is told: (0.9 x 80 GiB - 19 GB) / 147,456 bytes.
UNTOLD_CAPACITY_TOKENS = 400_000.0


def step_us(e: Facts, kv_tokens: Quantity) -> Quantity:
    """Microseconds of one decode step with so many tokens in the KV cache, > 0."""
    return e.decode_us_per_token + kv_tokens * e.decode_us_per_kv_token


def aged_backlog_us(at: int, e: Facts) -> Quantity:
    """Own work there without a first token, less what must be done by now of the oldest one's, >= 0.

    Ageing stops at the oldest one's price: an engine slower than believed is not thought to have caught up.
    """
    return e.backlog_us - minimum(at - e.progressed_at, e.head_us)


def wait_us(ask: Ask, e: Facts, trust_us: float) -> Quantity:
    """Microseconds until the endpoint turns to this request, >= 0.

    The backlog, own and strangers', stretched by the decodes that ride along, and half of the step that runs.
    """
    riding = e.kv_tokens * e.decode_us_per_kv_token
    chunk_us = CHUNK_TOKENS * e.prefill_us_per_token + e.decode_us_per_token
    queued = strangers(ask, e, e.waiting, trust_us) * FOREIGN_PROMPT_TOKENS * e.prefill_us_per_token
    before_us = (aged_backlog_us(ask.at, e) + queued) * (1.0 + RIDING_SHARE * riding / chunk_us)
    return before_us + STEP_LEFT * (e.in_flight > 0.0) * (e.decode_us_per_token + riding)


def capacity_tokens(e: Facts) -> Quantity:
    """Tokens that its KV cache holds, > 0, by a default where none is told."""
    return known(e.kv_capacity_tokens, UNTOLD_CAPACITY_TOKENS)


def held_tokens(ask: Ask, e: Facts, trust_us: float) -> Quantity:
    """Tokens in its KV cache: own ones, which are exact, and strangers' by their share of the last scrape."""
    if nothing(e.foreign):
        return e.kv_tokens
    return e.kv_tokens + strangers(ask, e, e.kv_usage * capacity_tokens(e), trust_us)


def full_share(ask: Ask, e: Facts, trust_us: float) -> Quantity:
    """Share of its KV cache that is in use with this request and half of its answer, >= 0; over 1 it does not fit."""
    mine = ask.prompt_tokens + 0.5 * ask.demand.expected_output_tokens
    return maximum(held_tokens(ask, e, trust_us) + mine, 1.0) / capacity_tokens(e)
