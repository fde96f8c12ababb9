"""Where endpoints are found out from while the gateway runs."""

from typing import Annotated, Literal

import msgspec

from forebay.config.errors import ConfigError
from forebay.domain.bounds import Positive

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class Discover(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One source of endpoints: `dns` with `port`, or `file`. The other settings of its entry hold for all that it finds."""

    # A name: each address that it has, A or AAAA, is one endpoint. In Kubernetes that is a headless service.
    dns: str = ""
    # Where each of them answers, and how.
    port: Port = 0
    scheme: Literal["http", "https"] = "http"
    # A file with a list of endpoints, YAML or JSON, in the form of the configuration's own. Replace it in one step
    # (write another, rename it).
    file: str = ""
    # How often it is looked at. An address counts as gone when two answers in a row lack it, so within 6 s.
    refresh_seconds: Positive = 3.0

    def check(self, place: str) -> None:
        """Refuse what names no source, or two. Raises ConfigError naming `place`."""
        if bool(self.dns) == bool(self.file):
            raise ConfigError(place, "one source is needed", "write `dns` and `port`, or `file`")
        if self.dns and not self.port:
            raise ConfigError(place, "the port is missing", "add `port`, as 8000: addresses have none")
        if self.file and (self.port or self.scheme != "http"):
            raise ConfigError(
                place, "`port` and `scheme` go with `dns`", "write them into each URL of the file"
            )

    def __str__(self) -> str:
        scheme = "" if self.scheme == "http" else f"{self.scheme}://"
        return self.file or f"{scheme}{self.dns}:{self.port}"
