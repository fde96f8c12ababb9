"""Tests of the runtime run on the loop that is served in production."""

import uvloop


def pytest_asyncio_loop_factories(config, item):
    """The loop that is served in production."""
    return {"uvloop": uvloop.new_event_loop}
