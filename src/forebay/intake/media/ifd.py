"""Image file directories, of which TIFF files and EXIF blocks are made. Source: TIFF 6.0, section 2; BigTIFF."""

from collections.abc import Container
from struct import Struct
from typing import NamedTuple

from forebay.intake.media.header import Buffer

# A camera writes a few dozen tags; the count in the file is only a claim.
MAX_ENTRIES = 256


class Layout(NamedTuple):
    """How one of the four kinds of file writes its numbers. `values` maps a field type to how one value is written."""

    first_at: int
    number: Struct
    offset: Struct
    entry: Struct
    values: dict[int, Struct]

    def first(self, data: Buffer) -> int:
        """Where the first directory stands. Raises CUT."""
        return int(self.offset.unpack_from(data, self.first_at)[0])

    def entries(self, data: Buffer, at: int, wanted: Container[int]) -> dict[int, int]:
        """First value of each `wanted` tag in the directory at `at` that is a whole number and is there. Raises CUT."""
        (claimed,) = self.number.unpack_from(data, at)
        start = at + self.number.size
        room = (len(data) - start) // self.entry.size
        found = {}
        for index in range(min(claimed, room, MAX_ENTRIES)):
            entry_at = start + index * self.entry.size
            tag, kind, count = self.entry.unpack_from(data, entry_at)
            if tag in wanted and kind in self.values and count == 1:
                (found[tag],) = self.values[kind].unpack_from(
                    data, entry_at + self.entry.size - self.offset.size
                )
        return found

    def behind(self, data: Buffer, at: int) -> int:
        """Where the directory behind the one at `at` stands, 0 behind the last. Raises CUT."""
        (claimed,) = self.number.unpack_from(data, at)
        return int(self.offset.unpack_from(data, at + self.number.size + claimed * self.entry.size)[0])


def _layout(order: str, *, big: bool) -> Layout:
    values = {3: Struct(f"{order}H"), 4: Struct(f"{order}I")}  # SHORT, LONG
    if big:
        values[16] = Struct(f"{order}Q")  # LONG8
        return Layout(8, Struct(f"{order}Q"), Struct(f"{order}Q"), Struct(f"{order}HHQ8x"), values)
    return Layout(4, Struct(f"{order}H"), Struct(f"{order}I"), Struct(f"{order}HHI4x"), values)


LAYOUTS = {
    b"II*\x00": _layout("<", big=False),
    b"MM\x00*": _layout(">", big=False),
    b"II+\x00": _layout("<", big=True),
    b"MM\x00+": _layout(">", big=True),
}
