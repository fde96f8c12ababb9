"""A stub of the system's resolver, and ears for what discovery tells."""

import asyncio

import pytest


class Names:
    """Answers as a DNS server would, in memory: a name's addresses, none for an empty answer, or an error to raise."""

    def __init__(self):
        self.table = {}
        self.asked = []

    async def __call__(self, host):
        self.asked.append(host)
        await asyncio.sleep(0)
        answer = self.table.get(host, OSError(f"{host}: unknown name"))
        if isinstance(answer, Exception):
            raise answer
        return tuple(answer)


@pytest.fixture
def names():
    return Names()


@pytest.fixture
def warned():
    """Sentences for the operator."""
    return []
