"""Small files by real encoders, named after what they hold; see samples/README.md."""

from pathlib import Path
from struct import pack

import pytest

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture
def sample():
    """Bytes of a sample file."""
    return lambda name: (SAMPLES / name).read_bytes()


@pytest.fixture
def exif_block():
    """Make an EXIF block with an orientation."""

    def block(orientation, order="<", kind=3, entries=1):
        mark = b"II*\x00" if order == "<" else b"MM\x00*"
        other = pack(order + "HHII", 0x010F, 2, 1, 0) * (entries - 1)
        return (
            mark
            + pack(order + "IH", 8, entries)
            + other
            + pack(order + "HHIHH", 0x0112, kind, 1, orientation, 0)
        )

    return block
