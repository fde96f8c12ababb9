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
        return max(1, round(self._predict(_features(measure))))

    def learn(self, measure: TextMeasure, tokens: int) -> None:
        """An engine's report: `tokens` is usage.prompt_tokens less the exact media tokens. Below 1 it is ignored."""
        if tokens < 1:
            return
        features = _features(measure)
        surprise = tokens - self._predict(features)
        leverage = [doubt * doubt * x for doubt, x in zip(DOUBTS, features, strict=True)]
        scale = NOISE + sum(lever * x for lever, x in zip(leverage, features, strict=True))
        for index, lever in enumerate(leverage):
            self._weights[index] = max(0.0, self._weights[index] + STEP * surprise * lever / scale)

    def _predict(self, features: tuple[int, ...]) -> float:
        return sum(weight * x for weight, x in zip(self._weights, features, strict=True))


def _features(measure: TextMeasure) -> tuple[int, ...]:
    return (
        measure.ascii_bytes,
        measure.two_byte_bytes,
        measure.three_byte_bytes,
        measure.four_byte_bytes,
        measure.messages,
        1,
    )
