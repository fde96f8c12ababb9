"""Small files by real encoders, named after what they hold; see samples/README.md."""

from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture
def sample():
    """Bytes of a sample file."""
    return lambda name: (SAMPLES / name).read_bytes()
