"""This package's own gateway."""

from typing import ClassVar

import forebay
from forebay.testing.bench.contestants.base import Plain, Site
from forebay.testing.bench.processes import python
from forebay.testing.bench.wire import MODEL


class Forebay(Plain):
    """One process, the profile for images, metrics, access log and decisions on."""

    name: ClassVar[str] = "forebay"

    def version(self) -> str:
        """The version of this installation."""
        return forebay.__version__

    def cure(self) -> str:
        """It is always here."""
        return ""

    def install(self) -> None:
        """Nothing to do."""

    def command(self, site: Site) -> list[str]:
        """Two static endpoints of one pool."""
        config = site.folder / "forebay.yaml"
        config.write_text(self.configuration(site))
        return python("forebay.cli.main", "serve", "--config", str(config))

    def configuration(self, site: Site) -> str:
        """The gateway's configuration for the benchmark."""
        endpoints = "".join(f"      - url: {url}\n        engine: vllm\n" for url in site.urls)
        return (
            f"listen: 127.0.0.1:{site.port}\nadmin: 127.0.0.1:{site.admin_port}\n"
            "drain:\n  lag_seconds: 0\n  grace_seconds: 1\n"
            f"pools:\n  - model: {MODEL}\n    family: qwen2.5-vl\n    profile: multimodal\n    endpoints:\n{endpoints}"
        )


class TwoWorkers(Forebay):
    """The same as a supervisor and two workers, on the one core that every router is given: what sharing the work costs."""

    name: ClassVar[str] = "forebay-2-workers"

    def configuration(self, site: Site) -> str:
        """With the one setting more."""
        return f"workers: 2\n{super().configuration(site)}"
