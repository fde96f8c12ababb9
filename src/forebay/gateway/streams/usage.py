"""Token counts as engines report them, in either API's words. Nonsense is no count, never an error."""

from collections.abc import Mapping
from typing import Any

from forebay.domain.outcome import Usage


def openai_usage(reported: Any) -> Usage | None:
    """Counts of an OpenAI `usage` object, in the words of chats or of responses; None when there is none in tokens."""
    if not isinstance(reported, dict):
        return None
    if "input_tokens" in reported:
        return _counts(reported, "input_tokens", "output_tokens", "input_tokens_details")
    if reported.get("type") == "duration":  # of sound, in seconds
        return None
    return _counts(reported, "prompt_tokens", "completion_tokens", "prompt_tokens_details")


def anthropic_usage(reported: Any, before: Usage | None = None) -> Usage | None:
    """Counts of an Anthropic `usage` object, laid over those told `before` in the same stream.

    The prompt is what was read fresh, plus what came from the cache, plus what was written to it. None when there is
    nothing to lay on.
    """
    if not isinstance(reported, dict):
        return before
    output = _count(reported, "output_tokens")
    if "input_tokens" not in reported:
        told = before or Usage(reported=True)
        return Usage(
            told.prompt_tokens, max(output, told.completion_tokens), told.cached_tokens, reported=True
        )
    cached = _count(reported, "cache_read_input_tokens")
    prompt = _count(reported, "input_tokens") + cached + _count(reported, "cache_creation_input_tokens")
    return Usage(prompt, output, cached, reported=True)


def _counts(reported: Mapping[str, Any], prompt: str, output: str, details: str) -> Usage:
    inner = reported.get(details)
    cached = _count(inner, "cached_tokens") if isinstance(inner, dict) else 0
    return Usage(_count(reported, prompt), _count(reported, output), cached, reported=True)


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and value > 0 else 0
