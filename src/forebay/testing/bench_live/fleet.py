"""The processes of a live run: four engines, or as many as the scenario has, and one gateway."""

import contextlib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from forebay.simulator.scenario import Scenario
from forebay.simulator.workloads.requests import MODEL
from forebay.testing.bench.processes import Process, free_ports, python, wait_until_ready
from forebay.testing.bench_live.settings import LiveSettings, engine_settings
from forebay.testing.bench_live.wire import FAMILY
from forebay.testing.modelled import Truth


class Site(NamedTuple):
    """Where chats are sent, and the ports of the engines by slot."""

    url: str
    engines: tuple[int, ...]

    def truths(self) -> dict[str, tuple[int, Truth]]:
        """What the engines know of each request by its id, and the slot of its engine."""
        found: dict[str, tuple[int, Truth]] = {}
        for slot, port in enumerate(self.engines):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/modelled/truth") as response:
                told = msgspec.json.decode(response.read(), type=list[Truth])
            found |= {truth.request_id: (slot, truth) for truth in told}
        return found


@contextlib.contextmanager
def serving(settings: LiveSettings, profile: str | dict[str, Any], folder: Path) -> Iterator[Site]:
    """Start all of them. Raises RuntimeError or TimeoutError when something does not start."""
    scenario = settings.scenario
    gateway, admin, *engines = free_ports(2 + len(scenario.devices))
    slower = [group.slower for group in scenario.fleet for _ in range(group.count)]
    with contextlib.ExitStack() as stack:
        started = [
            _start(stack, f"engine-{port}", engine_command(settings, port, device, slow), folder)
            for port, device, slow in zip(engines, scenario.devices, slower, strict=True)
        ]
        for process, port in zip(started, engines, strict=True):
            wait_until_ready(process, port)
        config = folder / "forebay.yaml"
        config.write_bytes(
            msgspec.yaml.encode(
                configuration(settings.stretched, profile, gateway, admin, engines, settings.seed)
            )
        )
        serve = python("forebay.cli.main", "serve", "--config", str(config))
        wait_until_ready(_start(stack, "gateway", serve, folder), admin, "/ready")
        yield Site(f"http://127.0.0.1:{gateway}/v1/chat/completions", tuple(engines))


def _start(stack: contextlib.ExitStack, name: str, command: list[str], folder: Path) -> Process:
    process = Process(name, command, folder)
    stack.callback(process.stop)
    return process


def engine_command(settings: LiveSettings, port: int, device: str, slower: float) -> list[str]:
    """The command line of one engine."""
    options = {
        "port": port,
        "model": MODEL,
        "device": device,
        "shape": settings.scenario.model,
        "family": msgspec.json.encode(FAMILY).decode(),
        "slower": slower,
        "speed": 1 / settings.slowdown,
        "chunk-tokens": settings.chunk_tokens,
        "settings": msgspec.json.encode(engine_settings(settings.scenario)).decode(),
    }
    return python("forebay.testing.modelled", *(f"--{name}={value}" for name, value in options.items()))


def configuration(
    scenario: Scenario, profile: str | dict[str, Any], port: int, admin: int, engines: list[int], seed: int
) -> dict[str, Any]:
    """The gateway's: what the simulator is given, and nothing else that could differ."""
    endpoints = [
        {"url": f"http://127.0.0.1:{engine}", "engine": "vllm", "device": device}
        for engine, device in zip(engines, scenario.devices, strict=True)
    ]
    return {
        "listen": f"127.0.0.1:{port}",
        "admin": f"127.0.0.1:{admin}",
        "seed": seed,
        "access_log": {"path": "off"},
        "drain": {"lag_seconds": 0, "grace_seconds": 1},
        "eyes": {"scrape_seconds": scenario.signals_seconds},
        "pools": [
            {
                "model": MODEL,
                "family": FAMILY,
                "profile": profile,
                "slow_start_seconds": scenario.slow_start_seconds,
                "endpoints": endpoints,
            }
        ],
    }
