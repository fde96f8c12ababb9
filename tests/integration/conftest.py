"""Real engines, started once, and a gateway before them for each test."""

import base64
import json
import urllib.request

import pytest

from forebay.testing import showcase
from forebay.testing.engines import launch
from forebay.testing.live import LiveGateway


@pytest.fixture(scope="session")
def engines(tmp_path_factory):
    """Two that see, one that hears, one that embeds."""
    why_not = launch.engines_available()
    if why_not is not None:
        pytest.skip(f"REAL ENGINES NOT TESTED: {why_not}")
    running = showcase.fleet(tmp_path_factory.mktemp("engines"), 0, 0).engines
    launch.start_all(running)
    yield running
    launch.stop_all(running)


@pytest.fixture
async def gateway(engines):
    async with LiveGateway(pools=showcase.pools(engines)) as running:
        yield running


@pytest.fixture(scope="session")
def data_url():
    return lambda png: "data:image/png;base64," + base64.b64encode(png).decode()


@pytest.fixture(scope="session")
def ask():
    """Post JSON and read JSON, from a thread: `ask(url, body)`."""

    def post(url, body):
        request = urllib.request.Request(
            url, json.dumps(body).encode(), {"content-type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)

    return post
