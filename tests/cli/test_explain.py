"""`forebay explain` against a running gateway."""

import asyncio
import json

from forebay.cli.main import main
from forebay.testing.live import LiveGateway
from forebay.testing.modelled import ModelledEngine

HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 2}


async def test_a_request_is_explained_by_its_id(capsys):
    async with (
        ModelledEngine(speed=100) as one,
        ModelledEngine(speed=100) as two,
        LiveGateway([one.url, two.url]) as gateway,
    ):
        await gateway.post(HELLO, headers={"x-request-id": "my-1"})
        admin = gateway.admin_url.removeprefix("http://")
        assert await asyncio.to_thread(main, ["explain", "my-1", "--admin", admin]) == 0
        assert await asyncio.to_thread(main, ["explain", "my-1", "--admin", admin, "--json"]) == 0
        shown = capsys.readouterr().out
        assert await asyncio.to_thread(main, ["explain", "nosuch", "--admin", admin]) == 1
        assert await asyncio.to_thread(main, ["explain", "my-1", "--admin", gateway.url]) == 1
    assert "request my-1  model m  pool m" in shown
    assert one.url.removeprefix("http://") in shown
    assert two.url.removeprefix("http://") in shown
    story = json.loads(shown.splitlines()[-1])
    assert story["request_id"] == "my-1"
    assert story["outcome"]["ending"] == "finished"
    told = capsys.readouterr().err
    assert "no decision is kept for nosuch" in told
    assert "is this the admin port, and not the public one?" in told
