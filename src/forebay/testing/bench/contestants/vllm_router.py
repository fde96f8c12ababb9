"""The vLLM project's router, in Rust."""

from typing import ClassVar

from forebay.testing.bench.contestants.base import Plain, Site
from forebay.testing.bench.install import Wheels

# What the program `vllm-router` itself does, without its import of a debugging balancer in Python. That import needs
# packages that are never used here, and would only add to the peer's memory.
_START = """
import argparse
from vllm_router.router import Router
from vllm_router.router_args import RouterArgs
parser = argparse.ArgumentParser()
RouterArgs.add_cli_args(parser)
arguments = RouterArgs.from_cli_args(parser.parse_args())
arguments._validate_router_args()
Router.from_args(arguments).start()
"""


class VllmRouter(Plain, Wheels):
    """Round robin; everything else as the program sets it."""

    name: ClassVar[str] = "vllm-router"

    def command(self, site: Site) -> list[str]:
        """In the foreground, its metrics on the second port."""
        options = ["--host", "127.0.0.1", "--port", str(site.port), "--prometheus-port", str(site.admin_port)]
        start = [str(self.python()), "-c", _START]
        return [*start, *options, "--policy", "round_robin", "--worker-urls", *site.urls]
