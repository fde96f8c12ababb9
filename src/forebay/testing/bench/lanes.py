"""Started contestants, in front of started engines."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from forebay.testing.bench import cpu
from forebay.testing.bench.contestants import Contestant, Site
from forebay.testing.bench.processes import Cores, Process, free_ports, python, wait_until_ready

ENGINES = 2


class Lane:
    """One started contestant: where the load goes, and whose CPU time is counted."""

    def __init__(self, contestant: Contestant, process: Process | None, ports: Sequence[int]) -> None:
        """No process means `direct`: the ports are those of the engines."""
        self.name = contestant.name
        self.share = contestant.share
        self.process = process
        self.ports = list(ports)

    def cpu_seconds(self) -> float:
        """CPU time that its process tree has used so far."""
        return cpu.tree_cpu_seconds(self.process.pid) if self.process else 0.0

    def resident_bytes(self) -> int:
        """Memory that its process tree holds now."""
        return cpu.tree_resident_bytes(self.process.pid) if self.process else 0


class Track:
    """What every lane needs: a folder for files, cores, and the ports of the engines."""

    def __init__(self, folder: Path, cores: Cores, engine_ports: Sequence[int]) -> None:
        """Nothing is started here."""
        self._folder = folder
        self._cores = cores
        self._engine_ports = engine_ports

    @contextlib.contextmanager
    def lane(self, contestant: Contestant) -> Iterator[Lane]:
        """Start one contestant and wait until it answers; stop it at the end."""
        port, admin_port = free_ports(2)
        place = self._folder / contestant.name
        place.mkdir(exist_ok=True)
        command = contestant.command(Site(place, port, admin_port, self._engine_ports))
        if not command:
            yield Lane(contestant, None, self._engine_ports)
            return
        process = Process(contestant.name, command, place, self._cores.router)
        try:
            wait_until_ready(process, port, contestant.ready_path)
            yield Lane(contestant, process, [port])
        finally:
            process.stop()

    @contextlib.contextmanager
    def lanes(self, contestants: Sequence[Contestant]) -> Iterator[list[Lane]]:
        """Start all of them."""
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(self.lane(one)) for one in contestants]


@contextlib.contextmanager
def track(folder: Path, cores: Cores) -> Iterator[Track]:
    """Start the fake engines; stop them at the end."""
    ports = free_ports(ENGINES)
    with contextlib.ExitStack() as stack:
        for number, port in enumerate(ports):
            command = python("forebay.testing.bench.engine", "--port", str(port))
            process = Process(f"engine-{number}", command, folder, cores.engines)
            stack.callback(process.stop)
            wait_until_ready(process, port)
        yield Track(folder, cores, ports)
