"""What the operating system charges to a process and its descendants: CPU time and resident memory. Linux only."""

import os
import time
from pathlib import Path
from typing import NamedTuple

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Stat(NamedTuple):
    """The fields of `/proc/PID/stat` that the benchmark reads."""

    parent: int
    own_ticks: int
    """User and system time of all threads, those that ended included."""
    waited_ticks: int
    """User and system time of children that ended and were waited for."""


def parse_stat(line: str) -> Stat:
    """Read one line of `/proc/PID/stat`; the process's name may hold spaces and brackets."""
    fields = line[line.rindex(")") + 2 :].split()
    return Stat(int(fields[1]), int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14]))


def _stats() -> dict[int, Stat]:
    found: dict[int, Stat] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                found[int(entry.name)] = parse_stat((entry / "stat").read_text())
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended while we looked
    return found


def tree(root: int) -> dict[int, Stat]:
    """The living processes of the tree under `root`, itself included."""
    stats = _stats()
    members = {root} & stats.keys()
    grown = True
    while grown:
        children = {pid for pid, stat in stats.items() if stat.parent in members}
        grown = not children <= members
        members |= children
    return {pid: stats[pid] for pid in members}


def cpu_clock(pid: int) -> int:
    """The id of the CPU-time clock of a process, as `clock_getcpuclockid(3)` makes it: `(~pid << 3) | CPUCLOCK_SCHED`.

    Its resolution is a nanosecond, where `/proc/PID/stat` counts ticks of 10 ms.
    """
    return (~pid << 3) | 2


def tree_cpu_seconds(root: int) -> float:
    """User and system time of the tree so far: living processes by their clock, ended ones by what their parents waited for."""
    total = 0.0
    for pid, stat in tree(root).items():
        try:
            own = time.clock_gettime(cpu_clock(pid))
        except OSError:
            own = stat.own_ticks / _TICKS_PER_SECOND
        total += own + stat.waited_ticks / _TICKS_PER_SECOND
    return total


def tree_resident_bytes(root: int) -> int:
    """Resident memory of the tree. Pages that processes share are counted once for each."""
    total = 0
    for pid in tree(root):
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += pages * os.sysconf("SC_PAGE_SIZE")
    return total


def parse_busy(line: str) -> int:
    """Ticks in which the machine's cores did anything, from the first line of `/proc/stat`."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, line.split()[1:9])
    return user + nice + system + irq + softirq + steal


class Neighbours:
    """How much of the machine other programs used while the benchmark ran."""

    def __init__(self) -> None:
        """Start counting."""
        self._began = time.monotonic()
        self._before = self._others()

    def share(self) -> float:
        """0..1 of all cores since the start; time that the hypervisor took away counts as others'."""
        passed = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        return max(0.0, self._others() - self._before) / passed

    @staticmethod
    def _others() -> float:
        busy = parse_busy(Path("/proc/stat").read_text().partition("\n")[0])
        return busy / _TICKS_PER_SECOND - tree_cpu_seconds(os.getpid())
