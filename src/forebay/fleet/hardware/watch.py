"""Reads the host's devices again and again, in a thread: drivers and tools block, and the event loop must not."""

import threading
from collections.abc import Callable

from forebay.config.settings import HardwareSettings
from forebay.domain.hardware import Hardware
from forebay.fleet.hardware.catalogue import AUTO, BY_NAME, first_available
from forebay.fleet.hardware.probe import Devices, Probe, Unavailable

RETRY_SECONDS = 30.0
"""Between two attempts where no probe works: a driver may be loaded later, and each attempt may start five commands."""


STOP_SECONDS = 2.0
"""A call into a driver that hangs may never return, not even by a signal: its thread is left behind to the process's end."""


class HardwareWatch:
    """Keeps the `latest` reading from `start` to `stop`. None before the first, and while there is none to be had.

    `warn` takes sentences for an operator: one when no probe works, one when that changes and then happens again. It is
    called in the thread. `clock` is in microseconds.
    """

    def __init__(
        self, settings: HardwareSettings, clock: Callable[[], int], warn: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._warn = warn
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._probe: Probe | None = None
        self._name = ""
        self._warned = False
        self.latest: Hardware | None = None

    def start(self) -> None:
        """Begin to read, unless probes are off."""
        if self._settings.probe != "off":
            self._thread = threading.Thread(target=self._run, name="hardware", daemon=True)
            self._thread.start()

    def leave(self) -> None:
        """Read no more: a reading that has begun is the last."""
        self._stopping.set()

    def stop(self) -> None:
        """Leave, and wait for that last reading, but no longer than STOP_SECONDS: it blocks. Safe to call twice."""
        self.leave()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.look()
            self._stopping.wait(RETRY_SECONDS if self.latest is None else self._settings.interval_seconds)
        self._close()

    def look(self) -> None:
        """Read once."""
        try:
            devices = self._read()
        except Unavailable as reason:
            self._lose(str(reason))
        except Exception as error:  # noqa: BLE001 - whatever a tool or a driver does, the thread lives on
            self._lose(f"{self._name}: {type(error).__name__}: {error}")
        else:
            self._warned = False
            self.latest = Hardware(self._clock(), self._name, devices)

    def _lose(self, reason: str) -> None:
        self._close()
        self.latest = None
        if not self._warned:
            self._warn(f"hardware: no device can be read, which changes no routing: {reason}")
        self._warned = True

    def _read(self) -> Devices:
        if self._probe is not None:
            return self._probe.read()
        wanted = self._settings.probe
        self._name, self._probe, devices = first_available(BY_NAME if wanted == AUTO else (wanted,))
        return devices

    def _close(self) -> None:
        if self._probe is not None:
            self._probe.close()
            self._probe = None
