"""An endpoint as declared by the plan, and as seen by the fleet's eyes."""

import re
from urllib.parse import urlsplit

import msgspec

from forebay.domain.ability import ANY_FORMAT, Ability, Role

API_BASE = "/v1"
"""Where OpenAI's API stands on a host unless its address says otherwise."""

_VERSION = re.compile(r"/v\d+$", re.ASCII)


class Endpoint(msgspec.Struct, frozen=True, gc=False):
    """A routable address and what its owner declared of it. Unstated is empty or None, never a guess.

    `slot` is its place in the conductor's tables, unique among live endpoints. `url` is scheme, host and port, and the base
    path where there is one: see `path_at`. `host` is the name that it is asked by, where `url` has only an address that a
    name stood for. `devices` are the accelerators of this very host that it runs on. `metrics_port` is where its metrics stand
    on the same host, 0 for the port of `url`. `max_in_flight` is a bound on requests that this gateway has open there, and
    `encoder_budget_tokens` on the tokens of one medium; 0 for none. `image_formats` are those that it decodes, whatever its
    kind of engine is known for.
    """

    slot: int
    name: str
    url: str
    host: str = ""
    engine: str = ""
    device: str = ""
    devices: tuple[int, ...] = ()
    zone: str = ""
    role: Role = Role.ALL
    numa_node: int | None = None
    preprocess_numa_node: int | None = None
    max_in_flight: int = 0
    metrics_port: int = 0
    encoder_budget_tokens: int = 0
    image_formats: Ability | None = None

    def able(self, seen: int) -> int:
        """Abilities that were `seen` (-1 for any), with the declared image formats in place of those."""
        return seen if self.image_formats is None else seen & ~int(ANY_FORMAT) | int(self.image_formats)


def path_at(url: str, path: str) -> str:
    """`path` as the endpoint at `url` serves it. A `/v3` that ends `url` stands in place of `/v1`; what is before it, before all.

    So `http://h/a/v3` answers `/v1/models` at `/a/v3/models`, and `/health` at `/a/health`.
    """
    own = urlsplit(url).path.rstrip("/")
    if not own:
        return path
    version = _VERSION.search(own)
    if version and (path == API_BASE or path.startswith(API_BASE + "/")):
        path = version[0] + path.removeprefix(API_BASE)
    return _VERSION.sub("", own) + path


class EndpointView(msgspec.Struct, frozen=True, gc=False):
    """What one scrape and probe told of an endpoint. None is unknown, and unknown is never zero.

    `reachable` is the last probe's word: True, False, or None before the first. `models` are the names it serves.
    `running` and `waiting` are requests, `kv_usage` is 0..1 (the fullest rank), `kv_usage_mean` its mean over ranks,
    `kv_capacity_tokens` the size of the KV cache, `context_tokens` the longest sequence, `max_running` how many requests
    it runs at once before further ones wait. `gap_p95_us` is the engine's own 95th percentile between tokens over the last
    scrapes. `adapters` are the LoRA adapters among `models`.
    """

    slot: int
    reachable: bool | None = None
    draining: bool = False
    engine: str = ""
    models: tuple[str, ...] | None = None
    adapters: tuple[str, ...] | None = None
    abilities: Ability | None = None
    context_tokens: int | None = None
    max_running: int | None = None
    running: float | None = None
    waiting: float | None = None
    kv_usage: float | None = None
    kv_usage_mean: float | None = None
    kv_capacity_tokens: int | None = None
    gap_p95_us: float | None = None
