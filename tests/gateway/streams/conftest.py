"""Recorded streams of the public cases."""

import json
from pathlib import Path

import pytest

CASES = Path(__file__).parents[2] / "cases"


@pytest.fixture
def case():
    """Bytes of a case file."""
    return lambda name: (CASES / name).read_bytes()


@pytest.fixture
def case_json():
    """A case file read as JSON."""
    return lambda name: json.loads((CASES / name).read_bytes())
