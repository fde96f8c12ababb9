"""`rocm-smi`'s JSON: one object a card, keyed by sentences that change with its version.

Memory is worked out from bytes used and bytes there: what some versions call "GPU memory use" is something else.
"""

import re
from typing import Any

from forebay.domain.hardware import Device
from forebay.fleet.hardware.probe import CommandProbe, Devices
from forebay.fleet.hardware.values import document, number, room, share, size

COMMAND = (
    "rocm-smi", "--showproductname", "--showuse", "--showmeminfo", "vram", "--showpower", "--showtemp", "--json",
)  # fmt: skip
NAMES = ("card series", "card model", "device name")
POWERS = ("current socket graphics package power (w)", "average graphics package power (w)")
TEMPERATURES = ("temperature (sensor junction) (c)", "temperature (sensor edge) (c)")
_CARD = re.compile(r"card(\d+)")


def probe() -> CommandProbe:
    """Return the probe."""
    return CommandProbe(COMMAND, parse)


def parse(text: str) -> Devices:
    """Read the object, whatever banner stands before it; nothing where there is none."""
    cards = document(text)
    if not isinstance(cards, dict):
        return ()
    found = ((_CARD.fullmatch(key), card) for key, card in cards.items())
    return tuple(_device(int(key[1]), card) for key, card in found if key and isinstance(card, dict))


def _device(index: int, card: dict[str, Any]) -> Device:
    cells = {key.lower(): value for key, value in card.items()}
    used, total = room(
        size(cells.get("vram total used memory (b)")), size(cells.get("vram total memory (b)"))
    )
    return Device(
        index=index,
        name=next((str(cells[key]) for key in NAMES if key in cells), ""),
        utilisation=share(cells.get("gpu use (%)")),
        memory_used_bytes=used,
        memory_total_bytes=total,
        power_watts=_first(cells, POWERS),
        temperature_celsius=_first(cells, TEMPERATURES),
    )


def _first(cells: dict[str, Any], keys: tuple[str, ...]) -> float | None:
    values = (number(cells.get(key)) for key in keys)
    return next((value for value in values if value is not None), None)
