"""`amd-smi metric`'s JSON: a list of devices, in newer versions inside `gpu_data`; cells are `N/A`, or a value and its unit.

What it calls MB are units of 2**20 bytes.
"""

from typing import Any

from forebay.domain.hardware import Device
from forebay.fleet.hardware.probe import CommandProbe, Devices
from forebay.fleet.hardware.values import MIB, document, number, room, share, size

COMMAND = ("amd-smi", "metric", "--usage", "--mem-usage", "--power", "--temperature", "--json")


def probe() -> CommandProbe:
    """Return the probe."""
    return CommandProbe(COMMAND, parse)


def parse(text: str) -> Devices:
    """Read the list; nothing where there is none."""
    found = document(text)
    listed = found.get("gpu_data") if isinstance(found, dict) else found
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    return tuple(_device(row) for row in rows if number(row.get("gpu")) is not None)


def _device(row: dict[str, Any]) -> Device:
    used, total = room(
        size(_cell(row, "mem_usage", "used_vram"), MIB), size(_cell(row, "mem_usage", "total_vram"), MIB)
    )
    hotspot, edge = (number(_cell(row, "temperature", sensor)) for sensor in ("hotspot", "edge"))
    return Device(
        index=int(row["gpu"]),
        utilisation=share(_cell(row, "usage", "gfx_activity")),
        memory_used_bytes=used,
        memory_total_bytes=total,
        power_watts=number(_cell(row, "power", "socket_power")),
        temperature_celsius=edge if hotspot is None else hotspot,
    )


def _cell(row: dict[str, Any], group: str, name: str) -> Any:
    inside = row.get(group)
    cell = inside.get(name) if isinstance(inside, dict) else None
    return cell.get("value") if isinstance(cell, dict) else cell
