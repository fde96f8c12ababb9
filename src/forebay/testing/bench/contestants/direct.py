"""No router at all."""

import sys
from typing import ClassVar

from forebay.testing.bench.contestants.base import Plain, Site


class Direct(Plain):
    """The load goes straight to the engines. What the others add is measured against this."""

    name: ClassVar[str] = "direct"

    def version(self) -> str:
        """There is nothing to install."""
        return sys.version.split()[0]

    def cure(self) -> str:
        """It is always here."""
        return ""

    def install(self) -> None:
        """Nothing to do."""

    def command(self, site: Site) -> list[str]:
        """No process is started."""
        del site
        return []
