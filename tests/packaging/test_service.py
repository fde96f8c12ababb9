"""The unit for systemd, read by systemd itself, and what it relies on tried on a process."""

import configparser
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from forebay.config.settings import DrainSettings

UNIT = Path(__file__).parents[2] / "packaging" / "forebay.service"
TEXT = UNIT.read_text()
needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")


def setting(name):
    return re.findall(rf"^{name}=(.*)$", TEXT, re.MULTILINE)


@pytest.fixture
def installed(tmp_path):
    """The unit with a program that is here."""
    path = tmp_path / "forebay.service"
    path.write_text(TEXT.replace("/opt/forebay/bin/forebay", sys.executable))
    return path


@needs_systemd
def test_systemd_takes_the_unit_without_a_word(installed):
    done = subprocess.run(
        ["systemd-analyze", "verify", installed], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@needs_systemd
def test_systemd_finds_little_that_the_service_could_do_to_the_host(installed):
    command = ["systemd-analyze", "security", "--offline=yes", "--threshold=20", installed]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd cannot look at a file")
    assert done.returncode == 0, done.stdout[-200:]


def test_it_is_given_the_time_that_draining_takes():
    defaults = DrainSettings()
    assert float(setting("TimeoutStopSec")[0]) > defaults.lag_seconds + defaults.grace_seconds


def test_the_command_is_one_that_there_is():
    from forebay.cli.main import build_parser

    (command,) = setting("ExecStart")
    assert build_parser().parse_args(command.split()[1:]).config == Path("/etc/forebay/forebay.yaml")


@pytest.fixture
def folder():
    """A short path: the name of a Unix socket has at most 108 bytes."""
    with tempfile.TemporaryDirectory(prefix="fb-") as path:
        yield path


# From prctl(2): what MemoryDenyWriteExecute= asks of the kernel, where it can; else it filters system calls.
_AS_SYSTEMD_RUNS_IT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(65, 1, 0, 0, 0)  # PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
os.execv(sys.executable, [sys.executable, "-m", "forebay.cli.main", *sys.argv[1:]])
"""


def test_it_says_when_it_is_ready_reloads_on_hup_and_says_when_it_stops(folder, tmp_path):
    """As systemd does it: READY=1 ends the start, SIGHUP reloads, STOPPING=1 begins the end. No memory may become code."""
    path = tmp_path / "forebay.yaml"
    settings = {
        "listen": f"unix:{folder}/public.sock",
        "admin": f"unix:{folder}/admin.sock",
        "drain": {"lag_seconds": 0},
        "pools": [{"model": "m", "endpoints": [{"url": "http://127.0.0.1:9", "engine": "vllm"}]}],
    }
    path.write_text(json.dumps(settings))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"{folder}/notify")
        manager.settimeout(60)
        gateway = subprocess.Popen(
            [sys.executable, "-c", _AS_SYSTEMD_RUNS_IT, "serve", "--config", path],
            env=os.environ | {"NOTIFY_SOCKET": f"{folder}/notify"},
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert manager.recv(100) == b"READY=1"
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(f"{folder}/public.sock")
            assert setting("ExecReload") == ["/bin/kill -HUP $MAINPID"]
            gateway.send_signal(signal.SIGHUP)
            gateway.send_signal(signal.SIGTERM)
            assert manager.recv(100) == b"STOPPING=1"
            assert gateway.wait(60) == 0
        finally:
            gateway.kill()
            gateway.communicate()


def test_it_is_read_as_one_unit():
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read_string(TEXT)
    assert parser.sections() == ["Unit", "Service", "Install"]
