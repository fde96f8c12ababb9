"""How long answers are, learned per model and kind of input: its modalities, and whether it has few media or many."""

from forebay.domain.ability import WRITING, Ability

# The prior counts as 20 answers, as in the prototype's O = (sum + 20 * prior) / (N + 20).
PRIOR_ANSWERS = 20.0

# A mean over about the last 200 answers follows a change of workload within minutes.
MEMORY_ANSWERS = 200.0

# Plain ints: the arithmetic of flags costs ten times theirs.
_KINDS = int(Ability.TEXT | Ability.IMAGE | Ability.AUDIO | Ability.VIDEO)
_WRITING = int(WRITING)

# From so many media on a request is of another kind: albums are asked other things than single pictures. As the prototype's.
MANY_MEDIA = 4
_MANY = 1 << 62


class Lengths:
    """Decayed means of output tokens, one for each kind of request."""

    def __init__(self, prior_tokens: float) -> None:
        """`prior_tokens` stands in until answers were seen."""
        self._prior = prior_tokens
        self._sums: dict[int, float] = {}
        self._counts: dict[int, float] = {}

    def adopt(self, prior_tokens: float) -> None:
        """Begin from another prior. What was seen stays."""
        self._prior = prior_tokens

    def expected(self, needs: Ability, max_output_tokens: int, media: int = 0) -> int:
        """Output tokens to expect, at least 1 and at most what the client allows (0: anything). 0 where none is written."""
        wanted = int(needs)
        if not wanted & _WRITING:
            return 0
        kind = wanted & _KINDS | _MANY * (media >= MANY_MEDIA)
        tokens = self._sums.get(kind, 0.0) + PRIOR_ANSWERS * self._prior
        mean = round(tokens / (self._counts.get(kind, 0.0) + PRIOR_ANSWERS)) or 1
        return max_output_tokens if 0 < max_output_tokens < mean else mean

    def learn(self, needs: Ability, tokens: int, media: int = 0) -> None:
        """An answer was whole, with so many output tokens."""
        kind = int(needs) & _KINDS | _MANY * (media >= MANY_MEDIA)
        kept = 1.0 - 1.0 / MEMORY_ANSWERS
        self._sums[kind] = kept * self._sums.get(kind, 0.0) + tokens
        self._counts[kind] = kept * self._counts.get(kind, 0.0) + 1.0
