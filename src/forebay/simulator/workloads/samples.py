"""Reads the samples that come with the package."""

from importlib.resources import files
from typing import TypeVar

import msgspec

T = TypeVar("T")


def sample(name: str, shape: type[T]) -> T:
    """The sample `name`, as `shape`."""
    return msgspec.json.decode(
        files("forebay").joinpath(f"simulator/workloads/data/{name}").read_bytes(), type=shape
    )
