"""One endpoint's or request's numbers as short words. What is not known is a dot, and never a zero."""

from typing import Any

UNKNOWN = "·"


def state(endpoint: dict[str, Any]) -> str:
    """What keeps requests from it, most telling first; `up` for nothing."""
    seen, believed = endpoint["seen"] or {}, endpoint["believed"] or {}
    if believed.get("draining"):
        return "draining"
    if seen.get("reachable") is False:
        return "down"
    if believed.get("usable") is False:
        return "resting"  # its breaker is open, or it cools down
    if believed.get("serves") is False:
        return "other model"
    ramp = believed.get("ramp")
    return f"warming {ramp:.0%}" if ramp is not None and ramp < 1 else "up"


def count(value: float | None) -> str:
    """A number of requests."""
    return UNKNOWN if value is None else f"{value:g}"


def tokens(value: float | None) -> str:
    """A number of tokens, thousands as k."""
    if value is None:
        return UNKNOWN
    return f"{value:.0f}" if value < 10_000 else f"{value / 1000:.0f}k"


def percent(value: float | None) -> str:
    """A share of one."""
    return UNKNOWN if value is None else f"{value:.0%}"


def milliseconds(value: float | None) -> str:
    """A duration given in ms; from ten seconds on in seconds."""
    if value is None:
        return UNKNOWN
    return f"{value:.0f} ms" if value < 10_000 else f"{value / 1000:.0f} s"


def microseconds(value: float | None) -> str:
    """A duration given in us."""
    return milliseconds(None if value is None else value / 1000)


def rate(value: float | None) -> str:
    """Per second."""
    return UNKNOWN if value is None else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def age(value: float | None) -> str:
    """How old, given in seconds."""
    if value is None:
        return UNKNOWN
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s" if value < 120 else f"{value / 60:.0f} min"


def score(value: float | None) -> str:
    """A total or a term."""
    return UNKNOWN if value is None else f"{value:.3g}"


def tail(request_id: str) -> str:
    """The end of an id: where those that the gateway makes differ."""
    return request_id if len(request_id) <= 16 else "…" + request_id[-15:]


def ending(request: dict[str, Any]) -> str:
    """How a request ended, or that it has not."""
    outcome = request["outcome"]
    if outcome is None:
        return "open"
    if outcome["ending"] == "finished":
        return f"{milliseconds(outcome['ttft_ms'])} / {milliseconds(outcome['e2e_ms'])}"
    return str(outcome["reason"] or outcome["ending"])


def demand(request: dict[str, Any]) -> str:
    """Prompt tokens, by modality where there is more than text; `~` for what is approximate."""
    wanted = request["demand"]
    media = [(name[0], wanted[f"{name}_tokens"]) for name in ("image", "audio", "video")]
    parts = [f"{tokens(amount)}{sign}" for sign, amount in media if amount]
    text = tokens(wanted["text_tokens"])
    return ("" if wanted["exact"] else "~") + (f"{text}t " + " ".join(parts) if parts else text)
