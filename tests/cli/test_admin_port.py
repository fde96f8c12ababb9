"""The admin port, wherever it listens."""

import asyncio
import tempfile

import pytest

from forebay.cli.admin_port import NoAnswerError, ask
from forebay.testing.live import LiveGateway
from forebay.testing.modelled import ModelledEngine
from forebay.testing.scripted import ScriptedEngine, reply


@pytest.fixture
def folder():
    """A short path: the name of a Unix socket has at most 108 bytes."""
    with tempfile.TemporaryDirectory(prefix="fb-") as path:
        yield path


async def asked(admin, path="/health"):
    return await asyncio.to_thread(ask, admin, path)


async def test_an_address_a_url_and_a_unix_socket_are_asked_alike(folder):
    at_socket = f"unix:{folder}/admin.sock"
    async with ModelledEngine() as engine:
        async with LiveGateway([engine.url]) as gateway:
            for admin in (
                gateway.admin_url,
                f"{gateway.admin_url}/",
                gateway.admin_url.removeprefix("http://"),
            ):
                assert await asked(admin) == (200, {"status": "ok"})
                assert (await asked(admin, "/forebay/decisions/r"))[0] == 404
        async with LiveGateway([engine.url], admin=at_socket):
            assert await asked(at_socket) == (200, {"status": "ok"})
            assert await asked(f"unix://{folder}/admin.sock") == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("admin", "why"),
    [
        ("127.0.0.1:9", "Connection refused"),
        ("unix:/nowhere/admin.sock", "No such file"),
        ("ftp://h", "neither HOST:PORT"),
        ("h:eighty", "nonnumeric port"),
    ],
)
def test_where_nobody_answers_the_error_names_place_and_cure(admin, why):
    with pytest.raises(NoAnswerError, match="no gateway answers at") as raised:
        ask(admin, "/health")
    assert why in str(raised.value)
    assert admin in str(raised.value)
    assert "--admin says where" in str(raised.value)


async def test_what_is_no_json_or_no_tls_is_no_answer():
    async with ScriptedEngine(lambda _: [], pages={"/health": reply(b"<html>")}) as stranger:
        with pytest.raises(NoAnswerError):
            await asked(stranger.url)
        with pytest.raises(NoAnswerError, match="https://"):
            await asked(stranger.url.replace("http", "https"))
