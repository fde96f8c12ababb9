"""LiteLLM's proxy, in Python."""

from typing import ClassVar

import msgspec

from forebay.testing.bench.contestants.base import Plain, Site
from forebay.testing.bench.install import Wheels
from forebay.testing.bench.wire import MODEL


class LiteLLM(Plain, Wheels):
    """One worker, without a database, a cache, retries or telemetry."""

    name: ClassVar[str] = "litellm"
    # It takes some 10 ms of CPU for a request, where the others take less than one.
    share: ClassVar[float] = 0.1
    ready_path: ClassVar[str] = "/health/liveliness"

    def command(self, site: Site) -> list[str]:
        """In the foreground."""
        config = site.folder / "litellm.yaml"
        config.write_bytes(msgspec.yaml.encode(configuration(site)))
        options = ["--config", str(config), "--host", "127.0.0.1", "--port", str(site.port)]
        return [*self.program("litellm"), *options, "--num_workers", "1", "--telemetry", "False"]


def configuration(site: Site) -> dict[str, object]:
    """Both engines under one name, chosen at random, as it does by itself."""
    return {
        "model_list": [
            {
                "model_name": MODEL,
                "litellm_params": {"model": f"openai/{MODEL}", "api_base": f"{url}/v1", "api_key": "none"},
            }
            for url in site.urls
        ],
        "litellm_settings": {"telemetry": False, "num_retries": 0},
        "router_settings": {"routing_strategy": "simple-shuffle"},
        # It listens on 127.0.0.1 alone, and has no secret to keep.
        "general_settings": {"dangerously_permit_weak_or_unset_master_key": True},
    }
