"""The shape of the configuration file. Unknown fields are refused, so that a misspelling never passes in silence."""

from typing import Annotated, Any, Literal

import msgspec

from forebay.admission.breaker import BreakerSettings
from forebay.admission.queue import QueueSettings
from forebay.admission.retry import RetrySettings
from forebay.config.inbound import InboundLimits
from forebay.config.settings import (
    AccessLogSettings,
    Count,
    DrainSettings,
    EyesSettings,
    NotNegative,
    Timeouts,
)
from forebay.intake.settings import IntakeSettings, MediaUrlSettings

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]


class EndpointFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One endpoint. Only `url` is needed; what is left out is found out or stays unknown."""

    url: Name
    engine: Literal["", "vllm", "llama.cpp", "sglang", "generic"] = ""
    device: str = ""
    zone: str = ""
    role: Literal["all", "encode", "prefill", "decode"] = "all"
    numa_node: Count | None = None
    preprocess_numa_node: Count | None = None
    # Requests that this gateway may have open there; 0 for no bound. Engines batch, and queue on their own.
    max_in_flight: Count = 0


class PoolFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One pool of replicas that serve one model."""

    model: Name
    aliases: tuple[Name, ...] = ()
    endpoints: Annotated[tuple[EndpointFile, ...], msgspec.Meta(min_length=1)]
    # A family's name, or a mapping with `name` and its parameters; found out from the model's name when left out.
    family: str | dict[str, Any] = ""
    # A profile's name, or a mapping with `name` and its parameters.
    profile: str | dict[str, Any] = "least-request"
    api_key_env: str = ""
    api_key_file: str = ""
    # Whether the client's own Authorization goes on to the engines.
    forward_auth: bool = False
    timeouts: Timeouts = Timeouts()
    retry: RetrySettings = RetrySettings()
    breaker: BreakerSettings = BreakerSettings()
    queue: QueueSettings = QueueSettings()
    # How long a fresh replica is spared: caches and graphs warm up within its first requests.
    slow_start_seconds: NotNegative = 30.0
    # Stands in for a length that the client left open, until lengths are learned. Public chat traces have means of
    # 100 to 400 tokens.
    expected_output_tokens: Annotated[int, msgspec.Meta(ge=1)] = 200


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole file."""

    listen: str = "127.0.0.1:8080"
    admin: str = "127.0.0.1:8081"
    pools: Annotated[tuple[PoolFile, ...], msgspec.Meta(min_length=1)]
    keys_env: str = ""
    keys_file: str = ""
    inbound: InboundLimits = InboundLimits()
    intake: IntakeSettings = IntakeSettings()
    # Remote media; the same setting inside `intake` is refused, so that there is one place for it.
    media_urls: MediaUrlSettings = MediaUrlSettings()
    eyes: EyesSettings = EyesSettings()
    drain: DrainSettings = DrainSettings()
    access_log: AccessLogSettings = AccessLogSettings()
    # Chance breaks ties. The same seed and the same events give the same decisions.
    seed: int = 0
