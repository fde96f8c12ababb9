"""`npu-smi info`'s table, of Ascend devices: two lines a chip, the first with power and temperature, the second with the rest.

A chip without HBM has its memory in the column before. What the table calls MB are units of 2**20 bytes.
"""

import itertools
import re

from forebay.domain.hardware import Device
from forebay.fleet.hardware.probe import CommandProbe, Devices
from forebay.fleet.hardware.values import MIB, number, room, share, size

COMMAND = ("npu-smi", "info")
# | 0     910B3               | OK            | 90.6        36                0    / 0             |
_FIRST = re.compile(r"\|\s*\d+\s+(?P<name>\S+)\s*\|\s*\w+\s*\|\s*(?P<power>\S+)\s+(?P<temperature>\S+)\s.*\|")
# | 0                         | 0000:C1:00.0  | 0           0    / 0          4187 / 65536         |
_SECOND = re.compile(
    r"\|\s*\d+(?:\s+\d+)?\s*\|\s*[0-9A-Fa-f]+:[0-9A-Fa-f:.]+\s*\|\s*(?P<use>\S+)\s+(?P<pairs>\d+\s*/\s*\d+.*?)\s*\|"
)
_PAIR = re.compile(r"(\d+)\s*/\s*(\d+)")


def probe() -> CommandProbe:
    """Return the probe."""
    return CommandProbe(COMMAND, parse)


def parse(text: str) -> Devices:
    """Read the table. Devices are numbered from 0 in its order, as the runtime numbers them."""
    lines = text.splitlines()
    pairs = ((_FIRST.match(line), _SECOND.match(after)) for line, after in itertools.pairwise(lines))
    found = [(first, second) for first, second in pairs if first and second]
    return tuple(_device(index, first, second) for index, (first, second) in enumerate(found))


def _device(index: int, first: re.Match[str], second: re.Match[str]) -> Device:
    rooms = [room(size(used, MIB), size(total, MIB)) for used, total in _PAIR.findall(second["pairs"])]
    used, total = next((pair for pair in reversed(rooms) if pair[1]), (None, None))
    return Device(
        index=index,
        name=first["name"],
        utilisation=share(second["use"]),
        memory_used_bytes=used,
        memory_total_bytes=total,
        power_watts=number(first["power"]),
        temperature_celsius=number(first["temperature"]),
    )
