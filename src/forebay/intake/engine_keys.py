"""Keys that an engine takes from its router, and not from clients, because it believes them.

By them one chooses the host and the blocks that vLLM or SGLang fetch states from, the session that is gone on from, the
rank that computes, or the name under which SGLang knows, and can abort, a request.
"""

from forebay.intake.members import Members
from forebay.intake.refusal import bad_request

ENGINE_KEYS = frozenset(
    [
        "kv_transfer_params",
        *("rid", "session_params"),
        *("bootstrap_host", "bootstrap_port", "bootstrap_room"),
        *("data_parallel_rank", "disagg_prefill_dp_rank", "routed_dp_rank"),
    ]
)


def refuse_engine_keys(members: Members) -> None:
    """Raise a Refusal that names the first of them that is given; null is none."""
    for key in sorted(ENGINE_KEYS):
        if members.raw(key):
            message = "this key steers an engine (setting `intake.trust_engine_keys`): leave it out"
            raise bad_request("unsupported_parameter", message, key)
