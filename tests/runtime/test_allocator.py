import platform

from forebay.runtime import allocator
from forebay.runtime.allocator import keep_freed_memory


def test_glibc_takes_the_settings():
    assert keep_freed_memory() == (platform.libc_ver()[0] == "glibc")


def test_other_libraries_are_left_alone(monkeypatch):
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda _name: object())
    assert not keep_freed_memory()
