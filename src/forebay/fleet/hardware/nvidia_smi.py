"""`nvidia-smi`'s CSV. Columns are found by their heads, and a head or a cell names the unit."""

import csv
from collections.abc import Iterable

from forebay.domain.hardware import Device
from forebay.fleet.hardware.probe import CommandProbe, Devices
from forebay.fleet.hardware.values import MIB, number, room, share, size

COLUMNS = ("index", "name", "memory.total", "memory.used", "utilization.gpu", "power.draw", "temperature.gpu")
COMMAND = ("nvidia-smi", f"--query-gpu={','.join(COLUMNS)}", "--format=csv")


def probe() -> CommandProbe:
    """Return the probe."""
    return CommandProbe(COMMAND, parse)


def parse(text: str) -> Devices:
    """Read a table; what stands before its heads is passed over."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith("index,")), len(lines))
    rows = list(csv.reader(lines[begin:], skipinitialspace=True))
    heads = [head.partition(" ")[0] for head in rows[0]] if rows else []
    return tuple(_devices(dict(zip(heads, row, strict=False)) for row in rows[1:]))


def _devices(rows: Iterable[dict[str, str]]) -> Iterable[Device]:
    for row in rows:
        index = number(row.get("index"))
        if index is None:
            continue
        used, total = room(size(row.get("memory.used"), MIB), size(row.get("memory.total"), MIB))
        yield Device(
            index=int(index),
            name=row.get("name", ""),
            utilisation=share(row.get("utilization.gpu")),
            memory_used_bytes=used,
            memory_total_bytes=total,
            power_watts=number(row.get("power.draw")),
            temperature_celsius=number(row.get("temperature.gpu")),
        )
