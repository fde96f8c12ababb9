"""SIGHUP and a file that changes, at a real gateway."""

import asyncio
import contextlib
import functools
import itertools
import json
import os
import signal

from forebay.cli.main import main
from forebay.cli.reloading import reloading
from forebay.config.assemble import load
from forebay.config.document import Document
from forebay.gateway.station import Station


def write(path, *ports, pool=None, **settings):
    """A configuration of endpoints at these ports; nobody needs to answer there."""
    endpoints = [{"url": f"http://127.0.0.1:{port}"} for port in ports]
    file = {
        "listen": "127.0.0.1:0",
        "admin": "127.0.0.1:0",
        "pools": [{"model": "m", "endpoints": endpoints, **(pool or {})}],
    }
    path.with_suffix(".new").write_text(json.dumps(file | settings))
    path.with_suffix(".new").rename(path)


@contextlib.asynccontextmanager
async def serving(path):
    station = Station(load(path), read=functools.partial(Document.read, path))
    await station.start()
    try:
        yield station
    finally:
        await station.stop()
        await asyncio.sleep(0)


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.005)


def ports(station):
    return [endpoint.name.rpartition(":")[2] for endpoint in station.assembly.endpoints()]


async def test_sighup_reads_the_file_anew_and_a_broken_one_changes_nothing(tmp_path):
    path = tmp_path / "f.yaml"
    write(path, 1)
    async with serving(path) as station:
        with reloading(station, None):
            write(path, 2, 1)
            os.kill(os.getpid(), signal.SIGHUP)
            await until(lambda: ports(station) == ["2", "1"])
            path.write_text("pools: [")
            os.kill(os.getpid(), signal.SIGHUP)
            await until(lambda: station.plans.failures)
            assert ports(station) == ["2", "1"]
            assert "not YAML" in station.plans.last.error
        failures = station.plans.failures
        os.kill(os.getpid(), signal.SIGHUP)  # while it drains: neither a reload nor the end
        await asyncio.sleep(0.05)
        assert station.plans.failures == failures


async def test_a_watched_file_and_the_keys_that_it_names(tmp_path):
    path, keys = tmp_path / "f.yaml", tmp_path / "keys"
    keys.write_text("one")
    write(path, 1, keys_file=str(keys))
    async with serving(path) as station:
        with reloading(station, path, 0.005):
            async with asyncio.timeout(30):
                for seed in itertools.count():  # the first look may come after the first change
                    write(path, 2, keys_file=str(keys), seed=seed)
                    await asyncio.sleep(0.01)
                    if ports(station) == ["2"]:
                        break
            keys.write_text("two")
            await until(lambda: station.assembly.keys.admits(b"Bearer two", None))
            assert not station.assembly.keys.admits(b"Bearer one", None)


async def test_a_served_models_file_that_changes_is_read_anew(tmp_path):
    path, served = tmp_path / "f.yaml", tmp_path / "served"
    served.mkdir()
    (served / "preprocessor_config.json").write_text('{"max_pixels": 50176}')
    write(path, 1, pool={"family": "qwen2-vl", "preprocessor_config": "served"})

    def max_pixels(station):
        return station.assembly.pools[0].family.on("vllm").max_pixels

    async with serving(path) as station:
        assert max_pixels(station) == 50_176
        with reloading(station, path, 0.005):
            async with asyncio.timeout(30):
                for more in itertools.count(1):  # the first look may come after the first change
                    fresh = served / "fresh"
                    fresh.write_text(json.dumps({"max_pixels": 50_176 + more}))
                    fresh.rename(served / "preprocessor_config.json")
                    await asyncio.sleep(0.01)
                    if max_pixels(station) > 50_176:
                        break


def test_only_a_file_can_be_watched(capsys):
    assert main(["serve", "http://127.0.0.1:1", "--watch"]) == 2
    assert "--watch goes with --config FILE" in capsys.readouterr().err
