"""The host's accelerators, for `/forebay/endpoints` and as Prometheus families. Unknown is null, or has no sample."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from forebay.domain.hardware import Device, Hardware
from forebay.telemetry.endpoints_json import EndpointRow

_GAUGES: tuple[tuple[str, str, Callable[[Device], float | None]], ...] = (
    ("forebay_device_utilisation_ratio", "How busy the device is, 0 to 1.", lambda each: each.utilisation),
    ("forebay_device_memory_used_bytes", "Memory in use on the device.", lambda each: each.memory_used_bytes),
    ("forebay_device_memory_bytes", "Memory of the device.", lambda each: each.memory_total_bytes),
    ("forebay_device_power_watts", "Power that the device draws.", lambda each: each.power_watts),
    (
        "forebay_device_temperature_celsius",
        "Temperature of the device.",
        lambda each: each.temperature_celsius,
    ),
)


def hardware_json(page: dict[str, Any], rows: Sequence[EndpointRow], hardware: Hardware | None) -> None:
    """Put into the page of endpoints what is read of the host, and with each endpoint what is read of its devices."""
    page["hardware"] = None if hardware is None else _rendered(hardware, hardware.devices, page["at_us"])
    for shown, row in zip(page["endpoints"], rows, strict=True):
        own = row.endpoint.devices
        mine = () if hardware is None else tuple(each for each in hardware.devices if each.index in own)
        shown["hardware"] = _rendered(hardware, mine, page["at_us"]) if hardware and mine else None


def _rendered(hardware: Hardware, devices: tuple[Device, ...], at: int) -> dict[str, Any]:
    return {
        "probe": hardware.probe,
        "age_seconds": max(0.0, (at - hardware.at) / 1e6),
        "devices": [msgspec.to_builtins(each) for each in devices],
    }


def hardware_families(hardware: Hardware | None, rows: Sequence[EndpointRow], at: int) -> Iterator[Metric]:
    """Yield every family, as of `at`; none while nothing is read."""
    if hardware is None:
        return
    for name, text, read in _GAUGES:
        family = GaugeMetricFamily(name, text, labels=["device", "name"])
        for device in hardware.devices:
            if (value := read(device)) is not None:
                family.add_metric([str(device.index), device.name], value)
        yield family
    yield GaugeMetricFamily(
        "forebay_device_view_age_seconds",
        "Age of the reading of devices.",
        max(0.0, (at - hardware.at) / 1e6),
    )
    uses = GaugeMetricFamily(
        "forebay_endpoint_device",
        "1 for each device that an endpoint is declared to run on.",
        labels=["pool", "endpoint", "device"],
    )
    for row in rows:
        for index in row.endpoint.devices:
            uses.add_metric([row.pool, row.endpoint.name, str(index)], 1.0)
    yield uses
