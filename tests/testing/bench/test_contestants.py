"""Each contestant's configuration and command line."""

import os
import shutil
import subprocess
from types import SimpleNamespace

import pytest
import yaml

from forebay.testing.bench import contestants, install
from forebay.testing.bench.contestants import CONTESTANTS, Direct, Forebay, Nginx, Site, VllmRouter


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path, 18080, 18081, [18001, 18002])


def test_names_are_unique_and_direct_starts_nothing(site):
    assert [one.name for one in CONTESTANTS] == ["direct", "nginx", "vllm-router", "forebay"]
    direct = Direct()
    direct.install()
    assert direct.version()
    assert direct.cure() == ""
    assert direct.command(site) == []


def test_forebay_serves_the_two_engines(site):
    router = Forebay()
    router.install()
    assert router.cure() == ""
    command = router.command(site)
    config = yaml.safe_load((site.folder / "forebay.yaml").read_text())
    assert command[-3:] == ["serve", "--config", str(site.folder / "forebay.yaml")]
    assert config["listen"] == "127.0.0.1:18080"
    assert [one["url"] for one in config["pools"][0]["endpoints"]] == [
        "http://127.0.0.1:18001",
        "http://127.0.0.1:18002",
    ]


@pytest.mark.skipif(not contestants.find_nginx(), reason="nginx is not installed")
def test_nginx_accepts_its_configuration(site):
    command = Nginx().command(site)
    done = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Nginx().version()


def test_a_missing_nginx_has_a_cure(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name, path=None: None)
    assert Nginx().version() == ""
    assert "nginx-light" in Nginx().cure()


def test_vllm_router_is_absent_until_installed(monkeypatch, tmp_path, site):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    router = VllmRouter()
    assert router.version() == ""
    assert "--install" in router.cure()
    python = install.vllm_router_python()
    python.parent.mkdir(parents=True)
    python.touch()
    assert router.version() == install.VLLM_ROUTER_VERSION
    command = router.command(site)
    assert command[command.index("--policy") + 1] == "round_robin"
    assert command[-2:] == ["http://127.0.0.1:18001", "http://127.0.0.1:18002"]


def fake_pip(code):
    def run(argv, **_options):
        return SimpleNamespace(returncode=code, stderr="no matching distribution", argv=argv)

    return run


def test_vllm_router_is_installed_whole_or_not_at_all(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(install.subprocess, "run", fake_pip(1))
    monkeypatch.setattr(install.venv, "create", fake_venv)
    with pytest.raises(RuntimeError, match="no matching distribution"):
        VllmRouter().install()
    assert VllmRouter().version() == ""
    monkeypatch.setattr(install.subprocess, "run", fake_pip(0))
    VllmRouter().install()
    assert VllmRouter().version() == install.VLLM_ROUTER_VERSION


def fake_venv(folder, **_options):
    (folder / "lib" / "python3" / "site-packages").mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").touch()


def test_nginx_needs_root(monkeypatch):
    ran = []
    monkeypatch.setattr(
        install.subprocess, "run", lambda argv, **_o: ran.append(argv) or SimpleNamespace(returncode=0)
    )
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(PermissionError, match="sudo"):
        Nginx().install()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    Nginx().install()
    assert [argv[1] for argv in ran] == ["update", "install"]
