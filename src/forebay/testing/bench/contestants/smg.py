"""Shepherd Model Gateway, in Rust."""

from typing import ClassVar

from forebay.testing.bench.contestants.base import Plain, Site
from forebay.testing.bench.install import Wheels


class Smg(Plain, Wheels):
    """Round robin; everything else as the program sets it, which logs two lines for each request."""

    name: ClassVar[str] = "smg"

    def command(self, site: Site) -> list[str]:
        """In the foreground, its metrics on the second port."""
        options = ["--host", "127.0.0.1", "--port", str(site.port), "--prometheus-port", str(site.admin_port)]
        start = [*self.program("smg"), "launch"]
        return [*start, *options, "--policy", "round_robin", "--worker-urls", *site.urls]
