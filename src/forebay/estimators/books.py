"""Own work on one endpoint: exact accounts, each attempt opened once and closed once."""

from collections.abc import Hashable

from forebay.domain.cost import Cost
from forebay.domain.request import Demand


class OpenAttempt:
    """One attempt in flight. `silent` ones (not streamed) show no first token until they are whole.

    `among_ours` tells that nobody else's work was seen before it. From its first token on, `served_us` is how long its
    prompt was worked on, None if that cannot be told, `first_at` when that was over, and `prompts_us` and `prompts`
    what the endpoint had spent on prompts by then, and on how many. `peers_us` is the work that peers had ever sent there when
    it was sent itself, and later when its first token came.
    """

    __slots__ = (
        "among_ours",
        "at",
        "first_at",
        "nominal_us",
        "peers_us",
        "prompt_tokens",
        "prompt_us",
        "prompts",
        "prompts_us",
        "served_us",
        "silent",
        "streamed_tokens",
        "uncached_tokens",
    )

    def __init__(
        self,
        cost: Cost,
        demand: Demand,
        at: int,
        *,
        cached_tokens: float,
        peers_us: int,
        among_ours: bool,
        silent: bool,
        speed_factor: float,
    ) -> None:
        prompt_us = cost.encode_us + cost.prefill_us
        self.prompt_us = round(prompt_us)
        self.nominal_us = prompt_us / speed_factor
        self.prompt_tokens = demand.prompt_tokens
        self.uncached_tokens = max(0, demand.prompt_tokens - round(cached_tokens))
        self.streamed_tokens = 0
        self.at = at
        self.among_ours = among_ours
        self.peers_us = peers_us
        self.silent = silent
        self.served_us: int | None = None
        self.first_at = 0
        self.prompts_us = 0
        self.prompts = 0


class Books:
    """Attempts before their first token, and those after, oldest first.

    All amounts are ints, so that what was added and taken away again leaves exactly 0: a leaked microsecond would
    poison the backlog for ever.

    A silent attempt is presumed to be past its first token once its priced work would be done, served in order.
    """

    __slots__ = (
        "_before",
        "_disturbed",
        "_past",
        "_progressed_at",
        "backlog_us",
        "kv_tokens",
        "prompts",
        "prompts_us",
        "sent_tokens",
        "uncached_tokens",
    )

    def __init__(self) -> None:
        self._before: dict[Hashable, OpenAttempt] = {}
        self._past: dict[Hashable, OpenAttempt] = {}
        self._progressed_at = 0
        self._disturbed = False
        self.prompts = 0  # first tokens seen, and how long the endpoint worked for them
        self.prompts_us = 0
        self.backlog_us = 0
        self.kv_tokens = 0
        self.uncached_tokens = 0
        self.sent_tokens = 0

    @property
    def open(self) -> tuple[int, int]:
        """How many attempts are before their first token, and how many past it or presumed so."""
        return len(self._before), len(self._past)

    @property
    def idle(self) -> bool:
        """Whether no attempt waits for its first token."""
        return not self._before

    @property
    def head(self) -> OpenAttempt | None:
        """The oldest attempt without a first token."""
        return next(iter(self._before.values())) if self._before else None

    def progressed_at(self, head: OpenAttempt) -> int:
        """When the head began to be worked on: its own dispatch, or the last first token if that was later."""
        last = self._progressed_at
        return last if last > head.at else head.at  # noqa: FURB136  # half the price of max()

    def opened(self, key: Hashable, attempt: OpenAttempt) -> None:
        """Begin an account. A key that is open already is left as it is."""
        if key in self._before or key in self._past:
            return
        self._before[key] = attempt
        self.backlog_us += attempt.prompt_us
        self.kv_tokens += attempt.prompt_tokens
        self.uncached_tokens += attempt.uncached_tokens
        self.sent_tokens += attempt.uncached_tokens

    def first_token(self, key: Hashable, at: int) -> OpenAttempt | None:
        """Move an account past its first token. None when it is not waiting for one."""
        head = self.head
        attempt = self._before.pop(key, None)
        if attempt is not None:
            assert head is not None, "it was before its first token itself"
            self.backlog_us -= attempt.prompt_us
            self._serve(attempt, at, at - self.progressed_at(head))
            self._progressed_at = at
            self._past[key] = attempt
        return attempt

    def _serve(self, attempt: OpenAttempt, at: int, served_us: int) -> None:
        """The endpoint has worked since the first token before, or since the oldest was sent.

        Also when it was not the oldest's turn: first tokens of one step reach us in any order, and the step's time counts once.
        """
        self.prompts += 1
        self.prompts_us += served_us
        if not self._disturbed:
            attempt.served_us = served_us
        self._disturbed = False
        attempt.first_at, attempt.prompts, attempt.prompts_us = at, self.prompts, self.prompts_us

    def progress(self, key: Hashable, tokens: int) -> None:
        """So many tokens have come in all. Fewer than before is ignored."""
        attempt = self._past.get(key) or self._before.get(key)
        if attempt is not None and tokens > attempt.streamed_tokens:
            self.kv_tokens += tokens - attempt.streamed_tokens
            attempt.streamed_tokens = tokens

    def closed(self, key: Hashable) -> OpenAttempt | None:
        """End an account. None when there is none: a second close changes nothing."""
        attempt = self._before.pop(key, None)
        if attempt is not None:
            self.backlog_us -= attempt.prompt_us
            self._disturbed = True  # what was done for it in vain is in the time of the next
        else:
            attempt = self._past.pop(key, None)
        if attempt is not None:
            self.kv_tokens -= attempt.prompt_tokens + attempt.streamed_tokens
            self.uncached_tokens -= attempt.uncached_tokens
        return attempt

    def presume(self, at: int) -> bool:
        """Move silent attempts past their first token whose work would be done by now. True if any was."""
        moved = False
        while (head := self.head) is not None and head.silent:
            done_at = self.progressed_at(head) + head.prompt_us
            if done_at > at:
                break
            self.first_token(next(iter(self._before)), done_at)
            moved = True
        return moved
