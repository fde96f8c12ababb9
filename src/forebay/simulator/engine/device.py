"""What an engine runs on: peak figures from a datasheet, and the shares of them that were fitted. Data files that users can add."""

from importlib.resources import files
from pathlib import Path

import msgspec

from forebay.domain.bounds import NotNegative, Positive


class StepFit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much of the peak one step of the language model reaches; shares in 0..1."""

    t0_ms: NotNegative
    weight_bandwidth_share: Positive
    gemm_share: Positive
    attention_share: Positive
    kv_bandwidth_share: Positive
    sequence_us: NotNegative


class EncoderFit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same of one call of the vision encoder."""

    t0_ms: NotNegative
    linear_share: Positive
    attention_share: Positive


class Device(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of accelerator. `standing` and `encoder_standing` say how far the figures can be trusted, in every table."""

    title: str
    standing: str
    encoder_standing: str
    peak_tflops: Positive
    bandwidth_tb_per_second: Positive
    memory_gib: Positive
    step: StepFit
    encoder: EncoderFit
    source: str

    @property
    def flops(self) -> float:
        """Peak operations a second."""
        return self.peak_tflops * 1e12

    @property
    def bandwidth(self) -> float:
        """Peak bytes a second."""
        return self.bandwidth_tb_per_second * 1e12

    @property
    def memory_bytes(self) -> float:
        """All of its memory."""
        return self.memory_gib * 2**30


class UnknownDevice(ValueError):  # noqa: N818  reads as what happened
    """There is no such device file. The message names those that there are."""


def load_device(name: str) -> Device:
    """A device that comes with the package, by name, or one of a user's own, by the path of its file.

    Raises UnknownDevice, and msgspec.ValidationError for a file of another shape.
    """
    shipped = files("forebay").joinpath("simulator/devices")
    path = Path(name) if name.endswith(".json") else Path(str(shipped.joinpath(f"{name}.json")))
    if not path.is_file():
        known = sorted(one.name.removesuffix(".json") for one in shipped.iterdir())
        raise UnknownDevice(
            f"no device {name!r}; there are {', '.join(known)}, or give the path of a .json file"
        )
    return msgspec.json.decode(path.read_bytes(), type=Device)
