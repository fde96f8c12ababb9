"""The shape of the configuration file. Unknown fields are refused, so that a misspelling never passes in silence."""

from typing import Annotated, Any, Literal

import msgspec

from forebay.admission.breaker import BreakerSettings
from forebay.admission.queue import QueueSettings
from forebay.admission.retry import RetrySettings
from forebay.config.discover import Discover, Port
from forebay.config.inbound import InboundLimits
from forebay.config.settings import (
    AccessLogSettings,
    DecisionLogSettings,
    DrainSettings,
    EyesSettings,
    HardwareSettings,
    Timeouts,
)
from forebay.config.tls import EngineTls
from forebay.config.ways_in import ListenerTls
from forebay.domain.bounds import AtLeastOne, Count, NotNegative
from forebay.estimators.residency import ResidencySettings
from forebay.intake.settings import IntakeSettings, MediaUrlSettings

ImageFormat = Literal["jpeg", "png", "gif", "bmp", "webp", "tiff", "heic", "avif"]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]


class EndpointFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One endpoint, or a source of them. Only `url` or `discover` is needed; what is left out is found out, or unknown."""

    # http://HOST:PORT, https://HOST:PORT, or unix:///PATH of a socket; an IPv6 address stands in [ ]. A path behind it is where the engine stands on that host, and
    # may end with the API's version where that is not /v1: http://HOST:PORT/v3 for OpenVINO's model server.
    url: Annotated[str, msgspec.Meta(max_length=256)] = ""
    # In place of `url`: where endpoints are found out from.
    discover: Discover | None = None
    # Which dialect of metrics and limits it speaks; found out when left out.
    engine: Literal["", "vllm", "llama.cpp", "sglang", "triton", "trtllm", "openvino", "tgi", "generic"] = ""
    # Where its metrics stand on the same host, when not on the port of `url`: 8002 for plain Triton. 0 for the same port.
    metrics_port: Port = 0
    # What it runs on, as `a100-80gb`: the prior of its speed. Unknown names are priced as an A100.
    device: str = ""
    # Numbers of the devices that it runs on, as [0, 1], where they are this host's own: see `hardware`.
    devices: tuple[Count, ...] = ()
    # Where it stands. Shown to operators; no policy reads it yet.
    zone: str = ""
    # The stages that it runs. A request of one stage needs `all`.
    role: Literal["all", "encode", "prefill", "decode"] = "all"
    # NUMA node of its device, and of its pre-processing. Both known and different make its bytes dearer.
    numa_node: Count | None = None
    preprocess_numa_node: Count | None = None
    # Requests that this gateway may have open there; 0 for no bound. Engines batch, and queue on their own.
    max_in_flight: Count = 0
    # Most tokens of one picture, sound or clip that its encoder takes; 0 for no bound. Engines set that room aside at their
    # start, and tell it in their log only. vLLM: --max-num-batched-tokens, or the largest item it reckoned with if more.
    encoder_budget_tokens: Count = 0
    # Image formats that it decodes, as [jpeg, png, webp]: pictures in others go elsewhere, or are refused. When left out, what
    # its kind of engine is known to decode.
    image_formats: tuple[ImageFormat, ...] | None = None


class PoolFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One pool of replicas that serve one model."""

    # The name that the engines serve.
    model: Name
    # Further names that clients may use; each name once in the whole file.
    aliases: tuple[Name, ...] = ()
    # LoRA adapters that clients may ask for, by the names that the engines know them by. Those that engines list are found
    # out without; one that no engine lists is sent to any, for engines that load adapters when asked.
    adapters: tuple[Name, ...] = ()
    # Where its replicas answer.
    endpoints: Annotated[tuple[EndpointFile, ...], msgspec.Meta(min_length=1)]
    # A family's name, or a mapping with `name` and its parameters. The name is found out when left out, from the model's
    # name or its files.
    family: str | dict[str, Any] = ""
    # The served model's folder, or its preprocessor_config.json, relative to this file: what it states of pictures, sounds
    # and clips goes before the family's defaults, and after the parameters given with `family`. Nothing is read without.
    preprocessor_config: str = ""
    # A profile's name, or a mapping with `name` and its parameters.
    profile: str | dict[str, Any] = "least-request"
    # Where the key stands that the engines want: an environment variable, or a file. Keep one; none is sent without.
    api_key_env: str = ""
    api_key_file: str = ""
    tls: EngineTls = EngineTls()
    # Whether the client's own Authorization goes on to the engines.
    forward_auth: bool = False
    # Whether every stream is asked for its usage (`stream_options`). Off for engines that refuse the field: their
    # tokens are then counted by pieces.
    ask_usage: bool = True
    # A comment is sent into a stream that has begun and then been silent for so long, so that proxies and clients with
    # timeouts of their own hold on. 0 for none: strict readers need not expect one.
    heartbeat_seconds: NotNegative = 0.0
    timeouts: Timeouts = Timeouts()
    retry: RetrySettings = RetrySettings()
    breaker: BreakerSettings = BreakerSettings()
    queue: QueueSettings = QueueSettings()
    residency: ResidencySettings = ResidencySettings()
    # How long a fresh replica is spared: caches and graphs warm up within its first requests.
    slow_start_seconds: NotNegative = 30.0
    # Stands in for a length that the client left open, until lengths are learned. Public chat traces have means of
    # 100 to 400 tokens.
    expected_output_tokens: AtLeastOne = 200


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole file."""

    # The public port, for clients: HOST:PORT, [V6]:PORT, unix:/PATH, or a list of these.
    listen: str | tuple[str, ...] = "127.0.0.1:8080"
    # The port for operators, in the same forms. It asks for no key: keep it off the public network.
    admin: str | tuple[str, ...] = "127.0.0.1:8081"
    # TLS of the two listeners.
    tls: ListenerTls = ListenerTls()
    admin_tls: ListenerTls = ListenerTls()
    # Who may connect to Unix sockets that are listened at, in octal: its owner and its group.
    socket_mode: str = "660"
    # One pool for each served model.
    pools: Annotated[tuple[PoolFile, ...], msgspec.Meta(min_length=1)]
    # Where the keys stand, separated by white space, of which every client must show one. Without, none is asked for.
    keys_env: str = ""
    keys_file: str = ""
    # Where the secret stands that seals the ids of responses: an environment variable, or a file, the same for all gateways
    # of a fleet. Without, it is made of the clients' keys, so that new keys make old ids unknown.
    id_key_env: str = ""
    id_key_file: str = ""
    inbound: InboundLimits = InboundLimits()
    intake: IntakeSettings = IntakeSettings()
    # Remote media; the same setting inside `intake` is refused, so that there is one place for it.
    media_urls: MediaUrlSettings = MediaUrlSettings()
    eyes: EyesSettings = EyesSettings()
    hardware: HardwareSettings = HardwareSettings()
    drain: DrainSettings = DrainSettings()
    access_log: AccessLogSettings = AccessLogSettings()
    decision_log: DecisionLogSettings = DecisionLogSettings()
    # Processes that serve, beside one that looks after them; 1: all in one process. One for each core that the gateway
    # may use, less one for the engines' metrics.
    workers: Annotated[int, msgspec.Meta(ge=1, le=256)] = 1
    # Chance breaks ties. The same seed and the same events give the same decisions.
    seed: int = 0
