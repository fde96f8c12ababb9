"""Every probe by the name that a configuration may use."""

from collections.abc import Callable, Iterable

from forebay.fleet.hardware import amd_smi, npu_smi, nvidia_smi, rocm_smi
from forebay.fleet.hardware.nvml import Nvml
from forebay.fleet.hardware.probe import Devices, Probe, Unavailable

BY_NAME: dict[str, Callable[[], Probe]] = {
    "nvml": Nvml,
    "nvidia-smi": nvidia_smi.probe,
    "amd-smi": amd_smi.probe,
    "rocm-smi": rocm_smi.probe,
    "npu-smi": npu_smi.probe,
}
"""In the order in which `auto` tries them: the cheap one of NVIDIA's first, AMD's present tool before its past one."""

AUTO = "auto"


def first_available(names: Iterable[str]) -> tuple[str, Probe, Devices]:
    """Return the first of these probes that reads some device, with what it read. Raises Unavailable with all reasons."""
    reasons = []
    for name in names:
        probe = BY_NAME[name]()
        try:
            devices = probe.read()
        except Unavailable as reason:
            reasons.append(str(reason))
        else:
            if devices:
                return name, probe, devices
            reasons.append(f"{name} tells of no device")
        probe.close()
    raise Unavailable("; ".join(reasons))
