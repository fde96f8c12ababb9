"""All sources of a plan together."""

import asyncio

from forebay.config.discover import Discover
from forebay.domain.endpoint import Endpoint
from forebay.fleet.discovery.discovery import Discovery, names_of

ONE = Discover(dns="one.test", port=1, refresh_seconds=0.002)
TWO = Discover(dns="two.test", port=2, refresh_seconds=0.002)


class Ear:
    def __init__(self, names):
        self.changes = asyncio.Queue()
        self.moves = []
        self.discovery = Discovery(
            self.changed, lambda *move: self.moves.append(move), lambda: 0, resolve=names, warn=lambda _: None
        )

    async def changed(self):
        self.changes.put_nowait(found(self.discovery))
        raise ValueError("this plan cannot be")


def found(discovery):
    return {key: [entry.url for entry in entries] for key, entries in discovery.found()}


async def test_what_is_followed_is_looked_at_at_once_and_then_again_and_again(names):
    ear = Ear(names)
    names.table |= {"one.test": ["10.0.0.1"], "two.test": [], "h.test": ["10.0.0.9"]}
    try:
        given = await ear.discovery.follow([ONE, TWO, ONE], ["h.test"], 0.002)
        assert dict(given).keys() == {"one.test:1"}
        assert ear.moves == [("h.test", ("10.0.0.9",))]
        names.table["two.test"] = ["10.0.0.2"]
        change = {"one.test:1": ["http://10.0.0.1:1"], "two.test:2": ["http://10.0.0.2:2"]}
        assert await asyncio.wait_for(ear.changes.get(), 30) == change
        names.table["one.test"] = ["10.0.0.3"]  # though the last plan could not be
        async with asyncio.timeout(30):
            while (await ear.changes.get())["one.test:1"] != ["http://10.0.0.3:1"]:
                pass
    finally:
        await ear.discovery.stop()
    assert len(ear.discovery.sources()) == 3


async def test_one_that_is_followed_on_keeps_what_it_gave_and_one_that_is_not_is_forgotten(names):
    ear = Ear(names)
    names.table |= {"one.test": ["10.0.0.1"], "two.test": ["10.0.0.2"]}
    try:
        await ear.discovery.follow([ONE, TWO], [], 1.0)
        names.table.clear()
        slower = Discover(dns="one.test", port=1, refresh_seconds=9)
        assert dict(await ear.discovery.follow([slower], [], 1.0)).keys() == {"one.test:1"}
        assert ear.discovery.sources()["one.test:1"].seconds == 9
        names.asked.clear()
        await asyncio.sleep(0.02)
        assert "two.test" not in names.asked
        assert await ear.discovery.follow([], [], 1.0) == ()
    finally:
        await ear.discovery.stop()


def test_only_names_are_followed():
    urls = [
        "http://eng.test:1",
        "https://eng.test:2",
        "http://10.0.0.1:1",
        "http://[::1]:1",
        "http+unix://%2Fe",
    ]
    endpoints = [Endpoint(slot, url, url) for slot, url in enumerate(urls)]
    assert names_of(endpoints) == ("eng.test",)
