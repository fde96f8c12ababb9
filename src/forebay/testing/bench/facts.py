"""The machine under the figures, without its name, its addresses or its paths."""

import os
import platform
from pathlib import Path

from forebay.testing.bench.processes import Cores


def machine_facts(cores: Cores) -> dict[str, str]:
    """Processor, cores, memory, kernel and interpreter, and how the benchmark's parts were placed."""
    return {
        "processor": _field(Path("/proc/cpuinfo"), "model name") or platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "kernel": platform.release(),
        "system": _field(Path("/etc/os-release"), "PRETTY_NAME", "=").strip('"'),
        "python": platform.python_version(),
        "placement": f"router on core {cores.router}, load on core {cores.load}, engines on core {cores.engines}",
    }


def _field(path: Path, name: str, separator: str = ":") -> str:
    """The first value of `name` in a file of `name: value` lines; empty when there is none."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return ""
    for line in lines:
        key, found, value = line.partition(separator)
        if found and key.strip() == name:
            return value.strip()
    return ""


def _memory() -> str:
    kilobytes = _field(Path("/proc/meminfo"), "MemTotal").removesuffix(" kB")
    return f"{int(kilobytes) / 2**20:.0f} GiB" if kilobytes.isdecimal() else "unknown"
