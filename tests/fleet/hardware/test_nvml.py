import sys

import pytest

from forebay.domain.hardware import Device
from forebay.fleet.hardware.nvml import Nvml
from forebay.fleet.hardware.probe import Unavailable

GIB = 1 << 30
BUSY = (98, 60 * GIB, 80 * GIB, 301_200, 66, 0)
UNIFIED = (37, -1, -1, 11_170, 45, 0)
SPLIT = (-1, 10 * GIB, 40 * GIB, -1, -1, 0)
GONE = (0, 0, 0, 0, 0, 1)
UNKNOWN_ERROR, DRIVER_NOT_LOADED, MISMATCH = 999, 9, 18


def test_what_a_device_does_not_support_is_unknown(fake_nvml):
    fake_nvml(BUSY, UNIFIED, SPLIT, GONE)
    probe = Nvml()
    assert probe.read() == (
        Device(0, "Fake 0", 0.98, 60 * GIB, 80 * GIB, 301.2, 66.0),
        Device(1, "Fake 1", 0.37, None, None, 11.17, 45.0),
        Device(2, "Fake 2", None, 10 * GIB, 40 * GIB, None, None),
        Device(3),
    )
    probe.close()


def test_the_library_is_opened_once_and_given_back(fake_nvml):
    library = fake_nvml(BUSY)
    probe = Nvml()
    before = library.fake_opened()
    probe.read()
    probe.read()
    assert library.fake_opened() == before + 1
    probe.close()
    probe.close()
    assert library.fake_opened() == before


@pytest.mark.parametrize(
    ("status", "words"), [(DRIVER_NOT_LOADED, "Driver Not Loaded"), (MISMATCH, "mismatch")]
)
def test_a_driver_that_is_not_there_makes_it_unavailable(fake_nvml, status, words):
    fake_nvml(init=status)
    with pytest.raises(Unavailable, match=words):
        Nvml().read()


def test_a_library_that_fails_later_is_opened_anew(fake_nvml):
    library = fake_nvml(BUSY)
    probe = Nvml()
    probe.read()
    fake_nvml(BUSY, counting=UNKNOWN_ERROR)
    before = library.fake_opened()
    with pytest.raises(Unavailable, match="NVML"):
        probe.read()
    assert library.fake_opened() == before - 1
    fake_nvml(UNIFIED)
    assert probe.read()[0].utilisation == 0.37
    probe.close()


def test_the_missing_binding_is_named_with_the_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(Unavailable, match=r"pip install 'forebay\[nvml\]'"):
        Nvml().read()
