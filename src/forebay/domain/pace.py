"""How the requests of a pool fare on the whole: what a second of one kind is worth in seconds of another."""

import msgspec


class Pace(msgspec.Struct, frozen=True, gc=False):
    """Running means over a pool's requests, all > 0.

    `answer_seconds` from arrival to the end of an answer, `first_token_seconds` to its first token; `prompt_tokens` and
    `prompt_tokens_rms` the mean size of a prompt and its root mean square; `kv_capacity_tokens` the mean KV cache.
    The defaults stand for an 8B model on 80 GB devices until enough was seen: 400,000 tokens are
    (0.9 x 80 GiB - 19 GB) / 147,456 bytes, rounded.
    """

    answer_seconds: float = 5.0
    first_token_seconds: float = 0.2
    prompt_tokens: float = 1500.0
    prompt_tokens_rms: float = 1500.0
    kv_capacity_tokens: float = 400_000.0


AT_FIRST = Pace()
