"""A scenario: a fleet, what is asked of it, and what happens to it. Read from YAML; errors name the place and the cure."""

from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import msgspec

from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.config.shapes import convert, named, nearest
from forebay.domain.bounds import AtLeastOne, Count, NotNegative, Positive
from forebay.simulator.engine.device import UnknownDevice, load_device
from forebay.simulator.engine.shape import MODELS
from forebay.simulator.workloads.catalogue import WORKLOADS

HERE = Path()


class Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`count` equal endpoints. They take `slower` times as long as the gateway was told by `device`."""

    device: str
    count: AtLeastOne = 1
    slower: Positive = 1.0


class Arrivals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An open loop: requests come whether or not earlier ones are served.

    Gaps are drawn from a gamma distribution with this coefficient of variation: 1 is Poisson's process. `as_recorded` takes the
    workload's own times, stretched to the rate.
    """

    rate_per_second: Positive
    cv: Positive = 1.0
    as_recorded: bool = False


class Incident(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At a moment, one endpoint (by its place in the fleet, from 0) slows down by `factor`, is lost, or joins only then."""

    at_seconds: NotNegative
    endpoint: Count
    what: Literal["slow-down", "lose", "join"]
    factor: Positive = 1.0


class Part(msgspec.Struct, frozen=True):
    """A workload, by its name and parameters, and its weight among the parts of a scenario."""

    name: str
    weight: float
    workload: Any


class Caches(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What each engine keeps: encoded media, in items, and KV blocks of prompts."""

    encoder_items: Count = 256
    prefix: bool = True


class ScenarioFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole file."""

    # What tables are headed with.
    title: str
    # The endpoints, in groups of equal ones.
    fleet: tuple[Group, ...]
    # A workload's name; a mapping with `name`, its parameters and its `weight`; or a list of these.
    workload: str | dict[str, Any] | tuple[str | dict[str, Any], ...]
    # How requests come, or how many clients each come again when they are served: one of the two.
    arrivals: Arrivals | None = None
    clients: Count = 0
    # How long requests come, or how many: one of the two. A closed loop wants `requests`.
    duration_seconds: NotNegative = 0.0
    requests: Count = 0
    # What every engine serves: Qwen3-VL-8B, or Llama-3.1-8B.
    model: str = "Qwen3-VL-8B"
    caches: Caches = Caches()
    # Off: sequences enter when their whole prompt fits, and may then overfill the cache, as in simpler models.
    preemption: bool = True
    # How often each endpoint is scraped, as live.
    signals_seconds: Positive = 0.5
    # How many serve the fleet together; visits go to them in turn.
    gateways: AtLeastOne = 1
    # How old the other gateways' deltas are when they arrive.
    peers_seconds: NotNegative = 0.010
    # The conductor's, for endpoints that are new: 0 for fleets that are warm.
    slow_start_seconds: NotNegative = 0.0
    # What happens to endpoints meanwhile.
    incidents: tuple[Incident, ...] = ()


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is given beside a profile and a seed. Change one with `msgspec.structs.replace`."""

    name: str
    title: str
    fleet: tuple[Group, ...]
    parts: tuple[Part, ...]
    arrivals: Arrivals | None
    clients: int
    requests: int
    model: str = "Qwen3-VL-8B"
    caches: Caches = Caches()
    preemption: bool = True
    signals_seconds: float = 0.5
    gateways: int = 1
    peers_seconds: float = 0.010
    slow_start_seconds: float = 0.0
    incidents: tuple[Incident, ...] = ()

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of each endpoint."""
        return tuple(group.device for group in self.fleet for _ in range(group.count))

    def at_rate(self, per_second: float) -> "Scenario":
        """The same for as long, with so many requests a second. Of an open loop only."""
        assert self.arrivals is not None
        faster = per_second / self.arrivals.rate_per_second
        return msgspec.structs.replace(
            self,
            arrivals=msgspec.structs.replace(self.arrivals, rate_per_second=per_second),
            requests=max(1, round(self.requests * faster)),
        )


def _folder() -> Path:
    return Path(str(files("forebay").joinpath("simulator/scenarios")))


def shipped() -> tuple[str, ...]:
    """Names of the scenarios that come with the package."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def load_scenario(name: str) -> Scenario:
    """A scenario that comes with the package, by name in any case, or one's own by the path of its file. Raises ConfigError."""
    known = {one.lower(): one for one in shipped()}
    if name.lower() in known:
        path = _folder() / f"{known[name.lower()]}.yaml"
    elif name.endswith((".yaml", ".yml")):
        path = Path(name)
    else:
        there = f"there are {', '.join(shipped())}, or give the path of a .yaml file"
        raise ConfigError(name, "no such scenario", nearest(name, known) or there)
    return read_scenario(Document.read(path), path.stem, path.parent)


def read_scenario(document: Document, name: str, folder: Path = HERE) -> Scenario:
    """The scenario in a document; files that it names are relative to `folder`. Raises ConfigError."""
    file = convert(document.data, ScenarioFile, document, "$")
    fleet = tuple(
        msgspec.structs.replace(group, device=_beside(folder, group.device)) for group in file.fleet
    )
    file = msgspec.structs.replace(file, fleet=fleet)
    _check(document, file)
    return Scenario(
        name=name,
        title=file.title,
        fleet=file.fleet,
        parts=_parts(document, file),
        arrivals=file.arrivals,
        clients=file.clients,
        requests=file.requests or max(1, round(file.duration_seconds * _rate(file))),
        model=file.model,
        caches=file.caches,
        preemption=file.preemption,
        signals_seconds=file.signals_seconds,
        gateways=file.gateways,
        peers_seconds=file.peers_seconds,
        slow_start_seconds=file.slow_start_seconds,
        incidents=file.incidents,
    )


def _beside(folder: Path, device: str) -> str:
    return str(folder / device) if device.endswith(".json") else device


def _rate(file: ScenarioFile) -> float:
    return file.arrivals.rate_per_second if file.arrivals else 0.0


def _parts(document: Document, file: ScenarioFile) -> tuple[Part, ...]:
    if isinstance(file.workload, tuple):
        return tuple(_part(document, f"$.workload[{at}]", one) for at, one in enumerate(file.workload))
    return (_part(document, "$.workload", file.workload),)


def _part(document: Document, path: str, given: str | dict[str, Any]) -> Part:
    name, settings = named(document, path, given, WORKLOADS)
    weight = convert(settings.pop("weight", 1.0), Positive, document, f"{path}.weight")
    return Part(name, weight, convert(settings, WORKLOADS[name], document, path))


def _check(document: Document, file: ScenarioFile) -> None:
    """What the shape alone cannot tell."""

    def wrong(path: str, problem: str, cure: str) -> None:
        raise ConfigError(document.place(path), problem, cure)

    if not file.fleet:
        wrong("$.fleet", "no endpoints", "write `[{device: a100-sxm, count: 8}]`")
    if (file.arrivals is None) == (file.clients == 0):
        wrong("$.arrivals", "how requests come is not clear", "give either `arrivals` or `clients`")
    if bool(file.requests) == bool(file.duration_seconds) or (file.clients and not file.requests):
        closed = "give `requests`: with `clients` nobody knows how long they take"
        wrong(
            "$.requests",
            "when it ends is not clear",
            closed if file.clients else "give either `requests` or `duration_seconds`",
        )
    if file.model not in MODELS:
        wrong("$.model", f"`{file.model}` is not known", nearest(file.model, MODELS) or ", ".join(MODELS))
    for at, group in enumerate(file.fleet):
        _check_device(document, f"$.fleet[{at}].device", group.device)
    count = sum(group.count for group in file.fleet)
    for at, incident in enumerate(file.incidents):
        if incident.endpoint >= count:
            wrong(
                f"$.incidents[{at}].endpoint",
                f"there is no endpoint {incident.endpoint}",
                f"they are 0 to {count - 1}",
            )


def _check_device(document: Document, path: str, device: str) -> None:
    try:
        load_device(device)
    except (UnknownDevice, msgspec.ValidationError) as error:
        raise ConfigError(document.place(path), str(error)) from None
