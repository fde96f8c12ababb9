"""Everything believed of one pool's endpoints, as the facts that policies read."""

import contextlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

from forebay.domain.cost import Cost
from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.facts import Facts
from forebay.domain.load import Load, Outcomes
from forebay.domain.request import Demand
from forebay.estimators.account import (
    DECLARED_FIELDS,
    RAMP_FIELDS,
    RATE_FIELDS,
    VIEW_FIELDS,
    WORK_FIELDS,
    Account,
)
from forebay.estimators.capacity import Capacity
from forebay.estimators.rows import Columns, Row
from forebay.estimators.speed import Speed

# Below this many endpoints numpy's fixed cost per operation is dearer than a plain loop (measured).
COLUMNS_FROM = 32


class Beliefs:
    """The books, views and speeds of a pool, kept as rows and, for a large pool, as columns that never differ.

    Implements `domain.facts.PoolFacts`. Events of endpoints that are not (or no longer) in the pool are ignored.
    """

    def __init__(self, model: str, slow_start_seconds: float) -> None:
        """`model` is the name that the pool's engines serve; `slow_start_seconds` is 0 for no slow start."""
        self._model = model
        self._slow_start_us = slow_start_seconds * 1e6
        self._accounts: dict[int, Account] = {}
        self._rows: list[Row] = []
        self._columns: Columns | None = None
        self._standing = object()
        self._changing = False
        self._warming: set[int] = set()
        self._presuming: set[int] = set()
        self._common: defaultdict[str, Speed] = defaultdict(Speed)  # by device
        self._untried: set[int] = set()  # those whose speed is not known from themselves

    @property
    def rows(self) -> Sequence[Facts]:
        """One per endpoint, in the order in which they were added."""
        return self._rows

    @property
    def columns(self) -> Facts | None:
        """The same, when there are at least COLUMNS_FROM."""
        return self._columns

    @property
    def standing(self) -> object:
        """Another object whenever an endpoint's standing has changed, or which endpoints there are."""
        return self._standing

    def facts(self, at: int) -> "Beliefs":
        """These beliefs, with what time alone changes brought up to `at`. To be called before each decision."""
        if self._warming:
            self._warm_up(at)
        if self._presuming:
            self._move_on(at)
        return self

    def row(self, slot: int) -> Facts:
        """The facts of one endpoint. Raises KeyError for one that is not in the pool."""
        return self._accounts[slot].row

    def slots(self) -> Iterable[int]:
        """The endpoints of the pool, in the order in which they were added."""
        return self._accounts.keys()

    def add(self, endpoint: Endpoint, capacity: Capacity, at: int, *, fresh: bool) -> None:
        """An endpoint joins. A `fresh` one starts slowly if others are at work; at a gateway's start none is fresh."""
        account = Account(endpoint, capacity, at)
        if fresh and any(other.row.usable for other in self._accounts.values()):
            account.chill(at)
            self._warm(account, at)
        self._accounts[endpoint.slot] = account
        self._untried.add(endpoint.slot)
        self._lay_out()
        if not self._changing:
            self._presume()

    def redeclare(self, endpoint: Endpoint, capacity: Capacity) -> None:
        """An endpoint of the pool is declared anew. What is open there, and what was seen of it, stays."""
        account = self._accounts.get(endpoint.slot)
        if account is not None:
            if account.device != endpoint.device:
                self._untried.add(endpoint.slot)
            account.redeclare(endpoint, capacity)
            self._standing = object()
            self._write(account, (*DECLARED_FIELDS, *RATE_FIELDS))

    def adopt(self, slow_start_seconds: float) -> None:
        """Let endpoints that are fresh from now on warm up for so long; 0 for no slow start."""
        self._slow_start_us = slow_start_seconds * 1e6

    def remove(self, slot: int) -> None:
        """An endpoint leaves, with all that is known of it. Its open attempts end without an account."""
        if self._accounts.pop(slot, None) is not None:
            self._warming.discard(slot)
            self._presuming.discard(slot)
            self._untried.discard(slot)
            self._lay_out()

    def dispatched(
        self,
        slot: int,
        key: Hashable,
        cost: Cost,
        demand: Demand,
        at: int,
        *,
        cached_tokens: float = 0.0,
        streamed: bool = True,
    ) -> None:
        """An attempt was sent, priced at `cost` there, as so much of its prompt is believed to be cached.

        `streamed` tells whether its first token will show.
        """
        account = self._accounts.get(slot)
        if account is not None:
            account.dispatched(key, cost, demand, at, cached_tokens=cached_tokens, streamed=streamed)
            self._worked(account)

    def first_token(self, slot: int, key: Hashable, at: int) -> None:
        """The attempt's first content came."""
        account = self._accounts.get(slot)
        if account is not None:
            if account.first_token(key, at, self._common[account.device]):
                self._untried.discard(slot)
                self._presume()
            self._worked(account)

    def progress(self, slot: int, key: Hashable, tokens: int, gap_us: int, at: int) -> None:
        """The attempt has brought `tokens` in all, with `gap_us` the largest gap since the last telling."""
        del at
        account = self._accounts.get(slot)
        if account is not None:
            account.progress(key, tokens, gap_us)
            self._worked(account)

    def ended(self, slot: int, key: Hashable, at: int, tokens: int = 0) -> bool:
        """The attempt is over, however it ended. False, and nothing changes, when it was closed before.

        `tokens` are those of one whole streamed answer, 0 for anything else.
        """
        account = self._accounts.get(slot)
        if account is None or not account.ended(key, at, tokens):
            return False
        self._worked(account)
        return True

    def viewed(self, view: EndpointView, at: int) -> None:
        """A scrape or probe. It replaces all that the last one told."""
        account = self._accounts.get(view.slot)
        if account is not None:
            if account.viewed(view, self._model, at):
                self._standing = object()
            self._write(account, VIEW_FIELDS)

    def heard(self, peers: Load, at: int) -> None:
        """What the other conductors have at one endpoint, all together. It replaces all that was heard last."""
        account = self._accounts.get(peers.slot)
        if account is not None:
            account.heard(peers, at)
            self._worked(account)

    def wants(self, slot: int, wanting: int, held: int) -> None:
        """So many own requests wait that could go to the endpoint; `held` of them are told here and nowhere else."""
        account = self._accounts.get(slot)
        if account is not None:
            account.wants(wanting, held)
            self._write(account, ("max_in_flight",))

    def load(self, slot: int, outcomes: Outcomes) -> Load:
        """Own work at the endpoint, with what the breaker tells. Raises KeyError for one that is not in the pool."""
        return self._accounts[slot].load(outcomes)

    def open(self, slot: int) -> int:
        """Own attempts in flight at the endpoint. Raises KeyError for one that is not in the pool."""
        return self._accounts[slot].open

    def set_usable(self, slot: int, flag: bool, at: int) -> None:
        """Whether the breaker lets requests through. One that comes back to others at work starts slowly."""
        account = self._accounts.get(slot)
        if account is None or bool(account.row.usable) is flag:
            return
        account.row.usable = float(flag)
        self._standing = object()
        if not flag:
            account.left_at = at
        elif any(other.row.usable for other in self._accounts.values() if other is not account):
            account.cool_down(at, self._slow_start_us)
            self._warm(account, at)
        self._write(account, ("usable", *RAMP_FIELDS))

    def set_draining(self, slot: int, flag: bool) -> None:
        """Whether the endpoint is being emptied by our own wish; an engine may also say so in its view."""
        account = self._accounts.get(slot)
        if account is not None and account.drain(flag):
            self._standing = object()
            self._write(account, ("draining",))

    def _warm_up(self, at: int) -> None:
        for slot in tuple(self._warming):
            account = self._accounts[slot]
            if account.warm_up(at, self._slow_start_us):
                self._warming.discard(slot)
            self._write(account, RAMP_FIELDS)

    def _move_on(self, at: int) -> None:
        for slot in tuple(self._presuming):
            account = self._accounts[slot]
            if account.books.presume(at):
                self._worked(account)

    def _warm(self, account: Account, at: int) -> None:
        if not account.warm_up(at, self._slow_start_us):
            self._warming.add(account.row.slot)

    def _presume(self) -> None:
        """What some endpoints have shown is presumed of those alike that have shown nothing yet."""
        for slot in self._untried:
            account = self._accounts[slot]
            if account.presume(self._common[account.device]):
                self._write(account, WORK_FIELDS)

    def _worked(self, account: Account) -> None:
        """Bring the row up to its books."""
        if account.post():
            self._presuming.add(account.row.slot)
        else:
            self._presuming.discard(account.row.slot)
        if self._columns is not None:
            self._write(account, WORK_FIELDS)

    def _write(self, account: Account, names: Iterable[str]) -> None:
        if self._columns is not None:
            self._columns.write(account.position, account.row, names)

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Let several endpoints join or leave inside: the rows are laid out once, at the end."""
        self._changing, self._columns = True, None
        try:
            yield
        finally:
            self._changing = False
            self._lay_out()
            self._presume()

    def _lay_out(self) -> None:
        if self._changing:
            return
        self._rows = [account.row for account in self._accounts.values()]
        for position, account in enumerate(self._accounts.values()):
            account.position = position
        self._standing = object()
        self._columns = Columns(self._rows) if len(self._rows) >= COLUMNS_FROM else None
