"""The routers that are compared: how each is found, configured and started in front of the fake engines. A file each."""

from forebay.testing.bench.contestants.base import Contestant, Site
from forebay.testing.bench.contestants.direct import Direct
from forebay.testing.bench.contestants.litellm import LiteLLM
from forebay.testing.bench.contestants.nginx import Nginx
from forebay.testing.bench.contestants.own import Forebay, TwoWorkers
from forebay.testing.bench.contestants.sglang_router import SglangRouter
from forebay.testing.bench.contestants.smg import Smg
from forebay.testing.bench.contestants.vllm_router import VllmRouter

__all__ = ["CONTESTANTS", "Contestant", "Site"]

CONTESTANTS: tuple[Contestant, ...] = (
    Direct(),
    Nginx(),
    VllmRouter(),
    SglangRouter(),
    Smg(),
    LiteLLM(),
    Forebay(),
    TwoWorkers(),
)
