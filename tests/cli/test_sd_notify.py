"""What a service manager is told."""

import socket
import tempfile
import uuid

import pytest

from forebay.cli.sd_notify import READY, sd_notify


@pytest.fixture
def folder():
    """A short path: the name of a Unix socket has at most 108 bytes."""
    with tempfile.TemporaryDirectory(prefix="fb-") as path:
        yield path


@pytest.mark.parametrize("abstract", [True, False])
def test_the_manager_hears_it_at_a_path_or_an_abstract_name(abstract, folder, monkeypatch):
    name = f"forebay-{uuid.uuid4()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{name}" if abstract else f"{folder}/notify")
        manager.settimeout(30)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}" if abstract else f"{folder}/notify")
        sd_notify(READY)
        assert manager.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", ["", "somewhere/else", "/nobody/listens"])
def test_without_a_manager_nothing_happens(address, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    sd_notify(READY)
