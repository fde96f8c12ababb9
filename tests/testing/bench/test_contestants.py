"""Each contestant's configuration and command line."""

import os
import shutil
import subprocess
from types import SimpleNamespace

import pytest
import yaml

from forebay.cli import bench_router
from forebay.testing.bench import install
from forebay.testing.bench.contestants import CONTESTANTS, Site
from forebay.testing.bench.contestants.direct import Direct
from forebay.testing.bench.contestants.litellm import LiteLLM
from forebay.testing.bench.contestants.nginx import Nginx, find_nginx
from forebay.testing.bench.contestants.own import Forebay, TwoWorkers
from forebay.testing.bench.contestants.sglang_router import SglangRouter
from forebay.testing.bench.contestants.smg import Smg
from forebay.testing.bench.contestants.vllm_router import VllmRouter

PEERS = [VllmRouter, SglangRouter, Smg, LiteLLM]


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path, 18080, 18081, [18001, 18002])


def test_names_are_unique_and_direct_starts_nothing(site):
    names = [one.name for one in CONTESTANTS]
    assert len(set(names)) == len(names)
    assert tuple(names) == bench_router._NAMES
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


def test_two_workers_are_one_setting_more(site):
    TwoWorkers().command(site)
    config = yaml.safe_load((site.folder / "forebay.yaml").read_text())
    assert config.pop("workers") == 2
    assert config == yaml.safe_load(Forebay().configuration(site))


@pytest.mark.skipif(not find_nginx(), reason="nginx is not installed")
def test_nginx_accepts_its_configuration(site):
    command = Nginx().command(site)
    done = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Nginx().version()


def test_a_missing_nginx_has_a_cure(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name, path=None: None)
    assert Nginx().version() == ""
    assert "nginx-light" in Nginx().cure()


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_is_absent_until_installed(monkeypatch, tmp_path, peer):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    router = peer()
    assert router.version() == ""
    assert "--install" in router.cure()
    router.python().parent.mkdir(parents=True)
    router.python().touch()
    assert router.version()
    assert router.version() in str(router.python())


@pytest.mark.parametrize("peer", [VllmRouter, SglangRouter, Smg])
def test_routers_of_engines_take_turns_between_the_two(site, peer):
    command = peer().command(site)
    assert command[command.index("--policy") + 1] == "round_robin"
    assert command[-2:] == ["http://127.0.0.1:18001", "http://127.0.0.1:18002"]


def test_litellm_knows_both_engines_under_one_name(site):
    LiteLLM().command(site)
    config = yaml.safe_load((site.folder / "litellm.yaml").read_text())
    assert {one["model_name"] for one in config["model_list"]} == {"bench-vl"}
    assert [one["litellm_params"]["api_base"] for one in config["model_list"]] == [
        "http://127.0.0.1:18001/v1",
        "http://127.0.0.1:18002/v1",
    ]


@pytest.mark.parametrize("peer", PEERS)
def test_all_that_a_peer_brings_is_pinned_by_hash(peer):
    text = peer()._list().read_text()
    wheels = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert all("==" in line and line.endswith("\\") for line in wheels)
    assert text.count("--hash=sha256:") >= len(wheels)


def fake_pip(code):
    def run(argv, **_options):
        return SimpleNamespace(returncode=code, stderr="no matching distribution", argv=argv)

    return run


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_is_installed_whole_or_not_at_all(monkeypatch, tmp_path, peer):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(install.subprocess, "run", fake_pip(1))
    monkeypatch.setattr(install.venv, "create", fake_venv)
    with pytest.raises(RuntimeError, match="no matching distribution"):
        peer().install()
    assert peer().version() == ""
    monkeypatch.setattr(install.subprocess, "run", fake_pip(0))
    peer().install()
    assert peer().version()


def fake_venv(folder, **_options):
    (folder / "bin").mkdir(parents=True)
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
