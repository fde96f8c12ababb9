"""Tokens of text, from bytes by script and turns, learned per model from what its engines report."""

from forebay.domain.request import TextMeasure

# Priors: tokens per byte of each script, per message, and per prompt. ASCII: 4 characters a token, OpenAI's rule of
# thumb for English. Two-byte alphabets: 2.5 characters of 2 bytes. Three-byte scripts: 1.5 characters of 3 bytes, as
# vocabularies of 100 K and more do. Four-byte signs: 2 tokens each. A ChatML turn is `<|im_start|>`, role, newline,
# `<|im_end|>`, newline: 5; and the prompt ends with an open turn of 3.
PRIORS = (0.25, 0.2, 0.22, 0.5, 5.0, 3.0)

# How far each prior may be off: it sets which weight a surprise is blamed on. About its own size for ratios; templates
# differ more (0 for completions, dozens with a default system prompt).
DOUBTS = (0.15, 0.2, 0.2, 0.5, 5.0, 10.0)

VARIANCES = tuple(doubt * doubt for doubt in DOUBTS)

# Share of each surprise that is corrected: half-way would chase noise, a tenth would take dozens of requests.
STEP = 0.3

# Least variance of a surprise, in tokens squared: it keeps a tiny prompt from turning a weight by a whole token.
NOISE = 4.0


class TextTokens:
    """One model's tokenizer, as a line through bytes.

    Normalised least mean squares; each weight is moved in proportion to its squared doubt, and kept from going below 0.
    """

    def __init__(self) -> None:
        self._weights = list(PRIORS)

    def estimate(self, measure: TextMeasure) -> int:
        """Tokens of the text and its template, at least 1."""
        return max(1, round(self._predict(measure)))

    def learn(self, measure: TextMeasure, tokens: int) -> None:
        """An engine's report: `tokens` is usage.prompt_tokens less the exact media tokens. Below 1 it is ignored."""
        if tokens < 1:
            return
        surprise = tokens - self._predict(measure)
        # Most prompts are of one script: what is not there has no part in the surprise.
        levers = [(index, VARIANCES[index] * x, x) for index, x in enumerate(_features(measure)) if x]
        scale = NOISE
        for _, lever, x in levers:
            scale += lever * x
        step = STEP * surprise / scale
        weights = self._weights
        for index, lever, _ in levers:
            weight = weights[index] + step * lever
            weights[index] = weight if weight > 0.0 else 0.0  # noqa: FURB136  # half the price of max()

    def _predict(self, m: TextMeasure) -> float:
        ascii_, two, three, four, message, prompt = self._weights
        total = ascii_ * m.ascii_bytes + message * m.messages + prompt
        return total + two * m.two_byte_bytes + three * m.three_byte_bytes + four * m.four_byte_bytes


def _features(m: TextMeasure) -> tuple[int, ...]:
    return (m.ascii_bytes, m.two_byte_bytes, m.three_byte_bytes, m.four_byte_bytes, m.messages, 1)
