"""The observer on the hot path: a few dict look-ups and additions per request."""

from collections.abc import Mapping

from forebay.domain.outcome import Ending, Outcome
from forebay.domain.placement import Decision
from forebay.domain.request import Api
from forebay.telemetry.observer import Passage
from forebay.telemetry.tally import Histogram, PoolTally, Tally

OTHER = "other"
"""The label of what no plan knows: a client must not be able to invent label values."""

MAX_REASONS = 64
"""Distinct reasons told apart per pool. They are enums of ours; the bound guards against a mistake."""

# Reading an enum's member or value costs more than counting it.
_FINISHED = Ending.FINISHED
_APIS = frozenset(api.value for api in Api)


class Counters:
    """Counts by pool. `names` maps each name that clients may use to its pool's label.

    Nothing is locked: one worker's loop is the only writer.
    """

    def __init__(self, names: Mapping[str, str] = {}) -> None:
        self.tally = Tally()
        self._pools: dict[str, PoolTally] = {}  # by each name that clients may use
        self._other = PoolTally()
        # Decisions of requests on their way: an outcome does not repeat what the request was.
        self._open: dict[str, Decision] = {}
        self.rename(names)

    def rename(self, names: Mapping[str, str]) -> None:
        """Take over the names of a new plan. Counts of pools that are gone stay, as counters must."""
        pools = self.tally.pools
        self._pools = {name: pools.setdefault(pool, PoolTally()) for name, pool in names.items()}
        self._other = pools.setdefault(OTHER, self._other)

    def gaps(self, model: str) -> Histogram:
        """Return the histogram of gaps between tokens of that model's pool; `add` microseconds to it."""
        return self._pool(model).gap

    def decided(self, decision: Decision) -> None:
        """Count a decision, as placed, as a retry, or as having found no endpoint."""
        reason = "placed"
        if decision.placement.slot is None:
            reason = "no-endpoint"
        elif decision.try_:
            reason = "retried"
        self._open[decision.request_id] = decision
        _count(self._pool(decision.pool).decisions, reason)

    def ended(self, outcome: Outcome) -> None:
        """Count a request's one ending."""
        decision = self._open.pop(outcome.request_id, None)
        pool = self._pool(outcome.model if decision is None else decision.pool)
        if outcome.ending is not _FINISHED:
            _count_unfinished(pool, outcome)
        else:
            _count(pool.endings, "finished")
        if outcome.tries > 1:
            pool.retries += outcome.tries - 1
        if outcome.ttft_us:
            pool.first_token.add(outcome.ttft_us)
        pool.duration.add(outcome.e2e_us)
        _count_tokens(pool, outcome, decision)

    def served(self, passage: Passage) -> None:
        """Count a reply and its bytes."""
        api, status = passage.api, passage.status
        replies = self.tally.replies.setdefault(api if api in _APIS else OTHER, {})
        replies[status] = replies.get(status, 0) + 1
        pool = self._pool(passage.model)
        pool.body_bytes += passage.body_bytes
        pool.reply_bytes += passage.reply_bytes

    def _pool(self, model: str) -> PoolTally:
        return self._pools.get(model, self._other)


def _count(row: dict[str, int], reason: str) -> None:
    if reason in row:
        row[reason] += 1
    elif len(row) < MAX_REASONS:
        row[reason] = 1
    else:
        row[OTHER] = row.get(OTHER, 0) + 1


def _count_unfinished(pool: PoolTally, outcome: Outcome) -> None:
    _count(pool.endings, outcome.ending.value)
    if outcome.ending is Ending.REJECTED:
        _count(pool.rejections, outcome.reason)
    elif outcome.ending is Ending.FAILED:
        _count(pool.failures, outcome.reason)


def _count_tokens(pool: PoolTally, outcome: Outcome, decision: Decision | None) -> None:
    usage = outcome.usage
    pool.completion_tokens += usage.completion_tokens
    pool.cached_tokens += usage.cached_tokens
    if decision is None or not (usage.reported or usage.completion_tokens):
        return
    media = decision.image_tokens + decision.audio_tokens + decision.video_tokens
    # The engine tells one number. Media are priced by the model's own rules, so that the rest is text.
    text = max(0, usage.prompt_tokens - media) if usage.reported else decision.text_tokens
    pool.prompt_tokens[0] += text
    pool.predicted_tokens[0] += decision.text_tokens
    if media:
        _count_media(pool.prompt_tokens, decision)
        _count_media(pool.predicted_tokens, decision)


def _count_media(tokens: list[int], decision: Decision) -> None:
    tokens[1] += decision.image_tokens
    tokens[2] += decision.audio_tokens
    tokens[3] += decision.video_tokens
