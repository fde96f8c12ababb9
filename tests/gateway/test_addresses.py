"""Endpoints in every form of address, found and lost while requests run."""

import asyncio
import contextlib
import re
import socket

import pytest

from forebay.fleet.discovery import resolver
from forebay.testing.live import LiveGateway
from forebay.testing.scripted import ScriptedEngine

from .elsewhere import Authority, Elsewhere
from .test_admin_and_drain import ASK, Streaming, ok
from .words import Client, chat, eventually

QUICK = {"names_seconds": 0.02, "scrape_seconds": 0.02, "health_seconds": 0.05}


@pytest.fixture
def names(monkeypatch):
    """The system's resolver, in memory: addresses by name, an empty answer, or none."""
    table = {}

    async def resolve(host):
        if host not in table:
            raise OSError(f"{host}: no such name")
        return tuple(table[host])

    monkeypatch.setattr(resolver, "resolve", resolve)
    return table


def pool(*endpoints, **more):
    return [
        {
            "model": "m",
            "profile": "round-robin",
            "endpoints": [{"engine": "vllm", **e} for e in endpoints],
            **more,
        }
    ]


def endpoint_names(gateway):
    return [endpoint.name for endpoint in gateway.station.assembly.endpoints()]


class StreamingElsewhere(Elsewhere, Streaming):
    """Streams begin, and end when `go` is set."""

    def __init__(self, *args, **more):
        Elsewhere.__init__(self, ok, *args, **more)
        self.go = asyncio.Event()


class TestP31ANameThatMoves:
    async def test_p31_new_requests_follow_it_and_a_stream_ends_where_it_began(self, names):
        names["eng.test"] = ["127.0.0.1"]
        async with contextlib.AsyncExitStack() as stack:
            old = await stack.enter_async_context(StreamingElsewhere())
            new = await stack.enter_async_context(Elsewhere(ok, "127.0.0.2", old.port))
            pools = pool({"url": f"http://eng.test:{old.port}"})
            gateway = await stack.enter_async_context(LiveGateway(pools=pools, eyes=QUICK))
            client = await stack.enter_async_context(Client.of(gateway.url))
            other = await stack.enter_async_context(Client.of(gateway.url))
            for each in (client, other):
                each.ask(ASK)
                await each.until(b"begun", 30)
            upstreams, url = gateway.station.upstreams, pools[0]["endpoints"][0]["url"]
            names["eng.test"] = ["127.0.0.2"]
            await eventually(lambda: upstreams._ways.addresses["eng.test"] == ("127.0.0.2",), 30)
            for _ in range(4):
                assert (await gateway.post(chat())).status == 200
            assert (len(old.received), len(new.received)) == (2, 4)
            old.go.set()
            for each in (client, other):
                assert b" ended" in await each.until(b"0\r\n\r\n", 30)
            await gateway.settled(30)
            peers = {connection.peer for connection in upstreams._idle[url]}
            assert peers == {"127.0.0.2"}
            metrics = (await gateway.get("/metrics", admin=True)).body.decode()
            assert f'endpoint="eng.test:{old.port}"' in metrics
            assert "127.0.0.2" not in metrics

    async def test_p31_idle_connections_to_the_old_address_are_dropped_and_the_eyes_follow(self, names):
        names["eng.test"] = ["127.0.0.1"]
        async with Elsewhere(ok) as old, Elsewhere(ok, "127.0.0.2", old.port) as new:
            pools = pool({"url": f"http://eng.test:{old.port}"})
            async with LiveGateway(pools=pools, eyes=QUICK) as gateway:
                assert (await gateway.post(chat())).status == 200
                await eventually(lambda: gateway.station.rows()[0].view, 30)
                names["eng.test"] = ["127.0.0.2"]
                # Every connection to it: the one that was kept, and the one of the eyes.
                await eventually(lambda: not old._tasks, 30)
                await eventually(lambda: new.connections, 30)
                assert (await gateway.post(chat())).status == 200
                assert len(new.received) == 1

    async def test_the_last_good_addresses_serve_while_the_directory_is_silent(self, names):
        names["eng.test"] = ["127.0.0.1"]
        async with Elsewhere(ok) as engine:
            pools = pool({"url": f"http://eng.test:{engine.port}"})
            async with LiveGateway(pools=pools, eyes=QUICK) as gateway:
                for silence in ([], None):
                    names.pop("eng.test")
                    if silence is not None:
                        names["eng.test"] = silence
                    seen = gateway.station.plans._discovery.sources()["eng.test"]
                    failures = seen.failures
                    await eventually(lambda seen=seen, failures=failures: seen.failures > failures + 2, 30)
                    assert (await gateway.post(chat())).status == 200
                    names["eng.test"] = ["127.0.0.1"]
                text = (await gateway.get("/metrics", admin=True)).body.decode()
                assert re.search(r'forebay_discovery_failures_total\{source="eng.test"\} [1-9]', text)
                assert 'forebay_discovery_endpoints{source="eng.test"} 1.0' in text

    async def test_the_second_address_is_tried_when_the_first_refuses(self, names):
        names["eng.test"] = ["127.0.0.3", "127.0.0.1"]
        async with contextlib.AsyncExitStack() as stack:
            engine = await stack.enter_async_context(Elsewhere(ok))
            pools = pool({"url": f"http://eng.test:{engine.port}"})
            gateway = await stack.enter_async_context(LiveGateway(pools=pools))
            got = await gateway.post(chat())
            assert (got.status, got.headers["x-forebay-attempts"]) == (200, "1")

    async def test_the_second_address_is_tried_when_the_first_is_silent(self, names, monkeypatch):
        monkeypatch.setattr("forebay.gateway.http1.dialling.NEXT_SECONDS", 0.05)
        names["eng.test"] = ["127.0.0.3", "127.0.0.1"]
        async with contextlib.AsyncExitStack() as stack:
            engine = await stack.enter_async_context(Elsewhere(ok))
            silent = stack.enter_context(socket.create_server(("127.0.0.3", engine.port), backlog=0))
            for _ in range(4):  # its queue is full: it takes no more, and says nothing
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(silent.getsockname())
            pools = pool({"url": f"http://eng.test:{engine.port}"})
            gateway = await stack.enter_async_context(LiveGateway(pools=pools))
            got = await gateway.post(chat())
            assert (got.status, got.headers["x-forebay-attempts"]) == (200, "1")


class TestFoundByName:
    async def test_p31_each_address_is_an_endpoint_that_comes_and_goes_with_its_streams_ending(self, names):
        names["eng.test"] = ["127.0.0.1"]
        async with contextlib.AsyncExitStack() as stack:
            old = await stack.enter_async_context(StreamingElsewhere())
            new = await stack.enter_async_context(Elsewhere(ok, "127.0.0.2", old.port))
            discover = {"dns": "eng.test", "port": old.port, "refresh_seconds": 0.02}
            gateway = await stack.enter_async_context(LiveGateway(pools=pool({"discover": discover})))
            assert endpoint_names(gateway) == [f"127.0.0.1:{old.port}"]
            client = await stack.enter_async_context(Client.of(gateway.url))
            client.ask(ASK)
            await client.until(b"begun", 30)
            names["eng.test"] = ["127.0.0.2"]
            await eventually(lambda: endpoint_names(gateway) == [f"127.0.0.2:{old.port}"], 30)
            for _ in range(3):
                assert (await gateway.post(chat())).status == 200
            assert (len(old.received), len(new.received)) == (1, 3)
            assert new.received[0].headers["host"] == f"eng.test:{old.port}"
            names.clear()  # nobody knows the name any more
            assert (await gateway.post(chat())).status == 200
            old.go.set()
            assert b" ended" in await client.until(b"0\r\n\r\n", 30)
            await gateway.settled(30)

    async def test_a_pool_without_an_endpoint_says_so_and_fills_later(self, names):
        async with Elsewhere(ok) as engine:
            discover = {"dns": "eng.test", "port": engine.port, "refresh_seconds": 0.02}
            async with LiveGateway(pools=pool({"discover": discover})) as gateway:
                got = await gateway.post(chat())
                assert (got.status, got.error()["code"]) == (503, "rejected_no_endpoints")
                assert (await gateway.get("/ready", admin=True)).status == 503
                names["eng.test"] = ["127.0.0.1"]
                await eventually(lambda: endpoint_names(gateway), 30)
                assert (await gateway.post(chat())).status == 200

    async def test_a_reload_to_another_source_never_leaves_the_pool_empty(self, names):
        names |= {"one.test": ["127.0.0.1"], "two.test": ["127.0.0.2"]}
        async with Elsewhere(ok) as one, Elsewhere(ok, "127.0.0.2", one.port) as two:
            first, second = (
                {"discover": {"dns": name, "port": one.port}} for name in ("one.test", "two.test")
            )
            async with LiveGateway(pools=pool(first)) as gateway:
                assert (await gateway.post(chat())).status == 200
                reply = await gateway.reload(pools=pool(second))
                assert reply.json()["added"] == [f"127.0.0.2:{one.port}"]
                assert (await gateway.post(chat())).status == 200
                assert (len(one.received), len(two.received)) == (1, 1)


async def test_a_file_of_endpoints_is_followed_and_a_broken_one_changes_nothing(tmp_path):
    path = tmp_path / "engines.yaml"
    async with ScriptedEngine(ok) as one, ScriptedEngine(ok) as two:
        path.write_text(f"- url: {one.url}\n")
        entry = {"discover": {"file": str(path), "refresh_seconds": 0.02}}
        async with LiveGateway(pools=pool(entry)) as gateway:
            assert (await gateway.post(chat())).status == 200
            path.write_text(f"- url: {two.url}\n  max_in_flight: 7\n- url: unix:///tmp/e.sock\n")
            await eventually(lambda: endpoint_names(gateway) == [two.url[7:], "unix:/tmp/e.sock"], 30)
            path.write_text(f"- url: {two.url}\n  max_in_flight: 7\n")
            await eventually(lambda: endpoint_names(gateway) == [two.url[7:]], 30)
            assert gateway.station.assembly.endpoints()[0].max_in_flight == 7
            path.write_text("- url: [")
            source = gateway.station.plans._discovery.sources()[str(path)]
            await eventually(lambda: source.failures, 30)
            assert (await gateway.post(chat())).status == 200
            assert len(two.received) == 1
            path.unlink()


class TestOtherWays:
    async def test_p31_a_unix_socket_serves_requests_health_and_metrics(self, tmp_path):
        path = str(tmp_path / "e.sock")
        async with (
            Elsewhere(ok, path=path) as engine,
            LiveGateway(pools=pool({"url": engine.url})) as gateway,
        ):
            await eventually(lambda: (v := gateway.station.rows()[0].view) and v.running is not None, 30)
            for _ in range(2):
                assert (await gateway.post(chat())).status == 200
            assert engine.received[0].headers["host"] == "localhost"
            assert (
                gateway.station.upstreams.idle_connections(gateway.station.assembly.endpoints()[0].url) == 1
            )
            (row,) = (await gateway.get("/forebay/endpoints", admin=True)).json()["endpoints"]
            assert row["name"] == f"unix:{path}"
            assert row["seen"]["reachable"] is True
            drained = f"{gateway.admin_url}/forebay/endpoints/unix:{path}/drain"
            async with gateway.session.post(drained) as reply:
                assert reply.status == 200

    @pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
    async def test_p31_an_ipv6_endpoint_and_listener(self):
        with socket.socket(socket.AF_INET6) as probe:
            try:
                probe.bind(("::1", 0))
            except OSError:
                pytest.skip("no IPv6 here")
        async with contextlib.AsyncExitStack() as stack:
            engine = await stack.enter_async_context(Elsewhere(ok, "::1"))
            served = LiveGateway(pools=pool({"url": engine.url}), listen="[::1]:0")
            gateway = await stack.enter_async_context(served)
            await eventually(lambda: (v := gateway.station.rows()[0].view) and v.reachable, 30)
            url = gateway.station.urls()[0]
            assert url == f"http://[::1]:{gateway.station.public_address[1]}"
            async with gateway.session.post(f"{url}/v1/chat/completions", json=chat()) as reply:
                assert reply.status == 200
            assert engine.received[0].headers["host"] == f"[::1]:{engine.port}"
            text = (await gateway.get("/metrics", admin=True)).body.decode()
            assert f'endpoint="[::1]:{engine.port}"' in text


class TestHttps:
    async def test_an_engine_with_a_certificate_of_our_authority(self, tmp_path, names):
        authority = Authority(tmp_path)
        names["eng.test"] = ["127.0.0.1"]
        async with Elsewhere(ok, tls=authority.server("eng.test")) as engine:
            by_name = {"url": f"https://eng.test:{engine.port}"}
            found = {"discover": {"dns": "eng.test", "port": engine.port, "scheme": "https"}}
            for entry in (
                by_name,
                found,
            ):  # the name is what the certificate must have, also when only an address is left
                pools = pool(entry, tls={"ca_file": authority.ca_file})
                async with LiveGateway(pools=pools) as gateway:
                    await eventually(lambda: (v := gateway.station.rows()[0].view) and v.reachable, 30)
                    for _ in range(2):
                        assert (await gateway.post(chat())).status == 200
            assert len(engine.received) == 4

    async def test_a_certificate_of_a_stranger_is_refused_unless_none_is_asked_for(self, tmp_path, caplog):
        async with Elsewhere(ok, tls=Authority(tmp_path).server("127.0.0.1")) as engine:
            async with LiveGateway(pools=pool({"url": engine.url})) as gateway:
                got = await gateway.post(chat())
                assert (got.status, got.error()["code"]) == (503, "engine_connect")
                assert not engine.received
            assert "insecure" not in caplog.text
            async with LiveGateway(pools=pool({"url": engine.url}, tls={"insecure": True})) as gateway:
                assert (await gateway.post(chat())).status == 200
            assert "tls.insecure" in caplog.text

    async def test_engines_and_their_authority_may_change_together(self, tmp_path):
        authority = Authority(tmp_path)
        async with Elsewhere(ok, tls=authority.server("127.0.0.1")) as engine:
            pools = pool({"url": engine.url}, tls={"ca_file": authority.ca_file})
            async with LiveGateway(pools=pools, eyes=QUICK) as gateway:
                assert (await gateway.post(chat())).status == 200
                other = Authority(tmp_path)  # its certificate stands in the same file
                engine.tls.load_cert_chain(*other.pair("127.0.0.1", stem="engine"))
                assert (await gateway.reload()).status == 200
                for task in tuple(engine._tasks):
                    task.cancel()  # every connection must be opened anew
                await eventually(lambda: not gateway.station.upstreams.idle_connections(engine.url), 30)
                assert (await gateway.post(chat())).status == 200
                seen = gateway.station.rows()[0].view
                # A look that began before the reload may still have failed.
                await eventually(lambda: gateway.station.rows()[0].view not in (seen, None), 30)
                await eventually(lambda: gateway.station.rows()[0].view.reachable, 30)

    async def test_a_stream_over_tls_and_a_client_that_leaves(self, tmp_path):
        authority = Authority(tmp_path)
        async with StreamingElsewhere(tls=authority.server("127.0.0.1")) as engine:
            pools = pool({"url": engine.url}, tls={"ca_file": authority.ca_file})
            async with LiveGateway(pools=pools) as gateway, Client.of(gateway.url) as client:
                async with Client.of(gateway.url) as leaver:
                    leaver.ask(ASK)
                    await leaver.until(b"begun", 30)
                    leaver.leave()
                client.ask(ASK)
                await client.until(b"begun", 30)
                engine.go.set()
                assert b" ended" in await client.until(b"0\r\n\r\n", 30)
                await gateway.settled(30)
