"""What the rooms above the plan are set by: one frozen struct each, every number with unit, default and reason."""

from typing import Literal

import msgspec

from forebay.domain.bounds import AtLeastOne, NotNegative, Positive


class Timeouts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How long to wait for an engine, in seconds. Four clocks, since one cannot tell slow from dead."""

    # A TCP handshake inside one data centre takes under 1 ms; two lost SYNs cost 3 s.
    connect_seconds: Positive = 5.0
    # From sending to the first content. For a reply that is not streamed that is the whole answer, and the clients of
    # OpenAI and Anthropic wait 600 s for one.
    first_content_seconds: Positive = 600.0
    # Silence after the first content. The slowest healthy gap is another request's whole prefill.
    idle_seconds: Positive = 120.0
    # The whole reply, 0 for no bound: a long stream that keeps moving is healthy.
    total_seconds: NotNegative = 0.0


class DrainSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the gateway, or one endpoint, is emptied, in seconds."""

    # After SIGTERM `/ready` says 503 at once, but balancers in front notice only at their next probe.
    lag_seconds: NotNegative = 3.0
    # How long open streams may go on after SIGTERM. Kubernetes kills after 30 s unless told otherwise.
    grace_seconds: NotNegative = 25.0
    # How long requests may go on at an endpoint that is drained by an operator.
    endpoint_limit_seconds: Positive = 120.0


class EyesSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How often engines are looked at, in seconds."""

    # Every policy sees signals of this age; the published comparisons use the same 0.5 s.
    scrape_seconds: Positive = 0.5
    # A scrape that has not answered by then tells nothing. An engine busy on its CPU can be slow to answer.
    scrape_timeout_seconds: Positive = 2.0
    # Liveness; own traffic tells sooner on a busy endpoint.
    health_seconds: Positive = 2.0
    health_timeout_seconds: Positive = 2.0
    # Served models and limits change when an engine restarts, which health notices at once.
    models_seconds: Positive = 60.0
    # Addresses of hosts that endpoints are declared at by name. One that two answers in a row lack is gone: within 6 s.
    names_seconds: Positive = 3.0
    # Scrapes in flight at once: bounds sockets and bursts on a large fleet.
    max_concurrent: AtLeastOne = 64


class DecisionLogSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A log of all that the conductor is told and commands, for `forebay replay`. It holds no text, media or keys."""

    # The folder, made when it is not there; one file for each run of each worker. Empty: no log.
    path: str = ""
    # Of one file; a run that has filled it is logged no further, since a log without its beginning cannot be replayed.
    # Some 2 KB a request with eight endpoints: 1 GiB is 500,000 requests.
    max_bytes: AtLeastOne = 1024 * 1024 * 1024
    # Files kept of each worker, the newest; older ones are removed when it starts.
    keep: AtLeastOne = 4


class HardwareSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How this host's accelerators are read, for operators to see. Nothing is routed or ejected by it."""

    # With which tool; `auto` takes the first that reads a device. Off by default: most gateways stand on hosts without any.
    probe: Literal["off", "auto", "nvml", "nvidia-smi", "amd-smi", "rocm-smi", "npu-smi"] = "off"
    # Between two readings; the age of what the engines' scrapes tell.
    interval_seconds: Positive = 0.5


class AccessLogSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the access log goes, one JSON line per request."""

    # `stderr`, `stdout`, `off`, or a file's path.
    path: str = "stderr"
