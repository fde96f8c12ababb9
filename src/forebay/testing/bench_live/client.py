"""The clients of a live run: they come when a visit is due, or when they are served, and note what they see."""

import asyncio
import re
from collections.abc import Callable, Sequence

import aiohttp

from forebay.simulator.visits import Story, Visit
from forebay.testing.bench_live.wire import body_of

FIRST = re.compile(rb'"(?:content|text)":"[^"]')
DONE = b"data: [DONE]"
TAIL = 64
LIMIT_SECONDS = 600.0
"""An answer that has not come whole by then counts as refused."""

Tell = Callable[[int], None]


class Clients:
    """Sends every visit of a run once, by the id of its request.

    `began` is when the run did, on the machine's monotonic clock; `lateness` how many seconds a visit left behind its time, at most.
    """

    def __init__(self, url: str, visits: Sequence[Visit], *, clients: int, tell: Tell) -> None:
        """Visits leave at their `at`, in seconds from the start; with `clients`, when one of so many is free."""
        self.began = 0.0
        self.lateness = 0.0
        self.stories: list[Story] = []
        self._url = url
        self._visits = visits
        self._clients = clients
        self._tell = tell
        self._ended = 0

    async def run(self) -> list[Story]:
        """Until every visit has its end."""
        loop = asyncio.get_running_loop()
        self.began = loop.time()
        connector = aiohttp.TCPConnector(limit=0)
        timeout = aiohttp.ClientTimeout(total=LIMIT_SECONDS)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as self._session:
            await (self._closed() if self._clients else self._open())
        return self.stories

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time() - self.began

    async def _open(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number, visit in enumerate(self._visits):
                body = body_of(visit)
                await asyncio.sleep(max(0.0, visit.at - self._now))
                self.lateness = max(self.lateness, self._now - visit.at)
                group.create_task(self._visit(number, body))

    async def _closed(self) -> None:
        coming = iter(enumerate(self._visits))

        async def client() -> None:
            for number, visit in coming:
                await self._visit(number, body_of(visit))

        await asyncio.gather(*(client() for _ in range(self._clients)))

    async def _visit(self, number: int, body: bytes) -> None:
        story = Story(number, self._now)
        self.stories.append(story)
        try:
            await self._ask(story, body)
        except (aiohttp.ClientError, TimeoutError) as error:
            story.refused = type(error).__name__
        story.ended = self._now
        self._ended += 1
        self._tell(self._ended)

    async def _ask(self, story: Story, body: bytes) -> None:
        request_id = self._visits[story.number].request.request_id
        headers = {"content-type": "application/json", "x-request-id": request_id}
        async with self._session.post(self._url, data=body, headers=headers) as response:
            tail = b""
            async for data in response.content.iter_any():
                tail = tail[-TAIL:] + data
                if story.first < 0 and FIRST.search(tail):
                    story.first = self._now
            if response.status != 200 or DONE not in tail:
                story.refused = f"{response.status}"
