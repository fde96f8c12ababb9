"""Accelerators of this host, as their maker's tools read them."""

import msgspec


class Device(msgspec.Struct, frozen=True, gc=False):
    """One accelerator. None is unknown, and unknown is never zero: some devices tell no memory, some no utilisation.

    `index` is the number that its maker's tool gives it. `utilisation` is 0..1.
    """

    index: int
    name: str = ""
    utilisation: float | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    power_watts: float | None = None
    temperature_celsius: float | None = None


class Hardware(msgspec.Struct, frozen=True, gc=False):
    """The devices of a host as `probe` read them at that moment, in microseconds of the caller's clock."""

    at: int
    probe: str
    devices: tuple[Device, ...]
