"""What the gateway must know of each pool beside the plan: how to read its requests, and what to show its engines."""

from collections.abc import Mapping

import msgspec

from forebay.config.secret import Secret
from forebay.config.settings import Timeouts
from forebay.gateway.response_ids import Home, ResponseIds
from forebay.intake.tokens.family import Family


class PoolWire(msgspec.Struct, frozen=True):
    """One pool as the wire sees it.

    `names` are the served one and its aliases, `adapters` those that are declared and those that engines report.
    `ask_usage`: its engines take `stream_options`. `homes` are its endpoints' slots and URLs.
    """

    model: str
    names: tuple[str, ...]
    family: Family
    timeouts: Timeouts = Timeouts()
    api_key: Secret | None = None
    forward_auth: bool = False
    ask_usage: bool = True
    heartbeat_seconds: float = 0.0
    homes: tuple[tuple[int, str], ...] = ()
    adapters: tuple[str, ...] = ()


class PoolDirectory:
    """Pools by every name that a client may use. Replaced as a whole when the plan changes."""

    def __init__(self, pools: tuple[PoolWire, ...], id_key: bytes = b"") -> None:
        """Index `pools` by their names; names are unique, as the configuration has checked, but for adapters that engines report.

        `id_key` seals the ids of responses.
        """
        self.pools = pools
        homes = [Home(pool.model, slot, url) for pool in pools for slot, url in pool.homes]
        self.response_ids = ResponseIds(id_key, homes)
        self._by_name = {name: pool for pool in pools for name in pool.names}
        for pool in pools:
            for name in pool.adapters:
                self._by_name.setdefault(name, pool)

    def find(self, name: str) -> PoolWire | None:
        """The pool that serves `name`, or None."""
        return self._by_name.get(name)

    def family_of(self, name: str) -> Family | None:
        """The token rules for `name`, or None for an unknown model."""
        pool = self._by_name.get(name)
        return pool.family if pool else None

    def names(self) -> Mapping[str, str]:
        """The served model of every name that clients may use."""
        return {name: pool.model for name, pool in self._by_name.items()}
