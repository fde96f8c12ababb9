"""What can be shown of Triton's kit without Triton: its paths, its refusals, and the choice of a Python."""

import subprocess
import sys
from pathlib import Path

import pytest

from forebay.testing.engines import triton


def test_a_missing_installation_is_named_with_its_cure(monkeypatch, tmp_path):
    monkeypatch.setenv(triton.ENVIRONMENT_VARIABLE, str(tmp_path))
    assert triton.environment_directory() == tmp_path
    assert "make test-engines" in triton.triton_available()
    (tmp_path / f"lib/python3.11/site-packages/nvidia_pytriton-{triton.VERSION}.dist-info").mkdir(
        parents=True
    )
    assert triton.triton_available() is None
    triton.main(["install", str(tmp_path)])  # nothing to do, and nothing done


def test_the_command_names_its_three_ports(tmp_path):
    spec = triton.triton(18000, 18002, environment=tmp_path)
    options = dict(zip(spec.command, spec.command[1:], strict=False))
    assert (options["--http-port"], options["--metrics-port"]) == ("18000", "18002")
    assert str(tmp_path / "bin" / "python") in spec.command
    assert any(Path(part).name == "triton_app.py" and Path(part).exists() for part in spec.command)
    assert spec.health_path == "/v2/models/double/ready"


def test_no_fitting_python_is_refused_with_the_cure(monkeypatch):
    monkeypatch.setattr(triton, "PYTHONS", ("/no/such/python", "/bin/false"))
    with pytest.raises(SystemExit, match="libpython3"):
        triton.fitting_python()


def test_a_python_is_judged_by_the_library_that_the_loader_finds(monkeypatch):
    monkeypatch.setattr(triton, "PYTHONS", (sys.executable,))
    judged = subprocess.run((sys.executable, "-c", triton._FITS), capture_output=True, check=False)
    if judged.returncode:
        with pytest.raises(SystemExit):
            triton.fitting_python()
    else:
        assert triton.fitting_python() == sys.executable


def test_an_installation_that_fails_is_told(monkeypatch, tmp_path):
    (tmp_path / "list.txt").write_text("no-such-package-of-forebay @ file:///no/such/wheel.whl\n")
    monkeypatch.setattr(triton, "PYTHONS", ("/bin/true",))
    (tmp_path / "env/bin").mkdir(parents=True)
    (tmp_path / "env/bin/python").symlink_to("/bin/false")
    with pytest.raises(SystemExit, match="could not be installed from"):
        triton.install(tmp_path / "env", tmp_path / "list.txt")
