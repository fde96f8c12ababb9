"""The answer: how long its tokens will take there."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.arith import minimum
from forebay.placement.steps import step_us

# Prompts that keep coming stretch every step; past this share of the time the queue, and not the step, tells the rest.
MOST_SHARE = 0.85
MEMORY_US = 5e6


class AnswerTime:
    """Seconds of decode: expected tokens x one step, stretched by the prompts that keep coming there."""

    name = "answer"
    unit = "seconds"
    least_wins = True

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """Seconds, >= 0."""
        tokens_us = ask.demand.expected_output_tokens * 1e-6
        left = 1.0 - prompt_share(ask.at, e)
        return step_us(e, e.kv_tokens + ask.prompt_tokens) * tokens_us / left


def prompt_share(at: int, e: Facts) -> Quantity:
    """Share of its time that goes to prompts, 0..0.85, by what was sent there of late.

    It falls as memory / (memory + age): an exponential would say the same of a fresh share, and differ in its last bits
    between one number and an array.
    """
    return minimum(e.work_share * (MEMORY_US / (MEMORY_US + at - e.worked_at)), MOST_SHARE)
