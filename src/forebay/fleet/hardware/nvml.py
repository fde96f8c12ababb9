"""NVIDIA's management library, in this process: no command to start twice a second."""

from collections.abc import Callable
from typing import Any, TypeVar

from forebay.domain.hardware import Device
from forebay.fleet.hardware.probe import Devices, Unavailable
from forebay.fleet.hardware.values import number, room, share

T = TypeVar("T")


class Nvml:
    """Opens the library at the first reading, and again after it failed."""

    def __init__(self) -> None:
        self._library: Any = None

    def read(self) -> Devices:
        """Ask for every device. What one of them does not support is unknown. Raises Unavailable."""
        library = self._open()
        try:
            return tuple(self._device(index) for index in range(library.nvmlDeviceGetCount()))
        except library.NVMLError as error:
            self.close()
            raise Unavailable(f"NVML: {error}") from None

    def close(self) -> None:
        """Give the library back."""
        library, self._library = self._library, None
        if library is not None:
            self._asked(library, library.nvmlShutdown)

    def _open(self) -> Any:
        if self._library is None:
            try:
                import pynvml
            except ImportError:
                raise Unavailable("nvidia-ml-py is not installed: pip install 'forebay[nvml]'") from None
            try:
                pynvml.nvmlInit()
            except pynvml.NVMLError as error:
                raise Unavailable(f"NVML: {error}") from None
            self._library = pynvml
        return self._library

    def _device(self, index: int) -> Device:
        library = self._library
        handle = self._asked(library, library.nvmlDeviceGetHandleByIndex, index)
        if handle is None:
            return Device(index)
        use = self._asked(library, library.nvmlDeviceGetUtilizationRates, handle)
        memory = self._asked(library, library.nvmlDeviceGetMemoryInfo, handle)
        used, total = (None, None) if memory is None else room(memory.used, memory.total)
        milliwatts = number(self._asked(library, library.nvmlDeviceGetPowerUsage, handle))
        celsius = self._asked(library, library.nvmlDeviceGetTemperature, handle, library.NVML_TEMPERATURE_GPU)
        return Device(
            index=index,
            name=self._asked(library, library.nvmlDeviceGetName, handle) or "",
            utilisation=None if use is None else share(use.gpu),
            memory_used_bytes=used,
            memory_total_bytes=total,
            power_watts=None if milliwatts is None else milliwatts / 1000,
            temperature_celsius=number(celsius),
        )

    @staticmethod
    def _asked(library: Any, question: Callable[..., T], *about: Any) -> T | None:
        try:
            return question(*about)
        except library.NVMLError:
            return None
