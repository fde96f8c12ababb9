"""From engines' addresses alone to pools: ask each engine what it is and which models it serves."""

import asyncio
import sys
from urllib.parse import urlsplit

import aiohttp
import msgspec

from forebay.config.addresses import checked_url
from forebay.config.errors import ConfigError
from forebay.domain.endpoint import API_BASE, Endpoint
from forebay.fleet.adapters import adapter_of
from forebay.fleet.caller import HttpCaller
from forebay.fleet.detect import detect
from forebay.fleet.session import open_session

# Engines load weights for minutes; a person at a terminal wants to know after a while that an address is wrong.
PATIENCE_SECONDS = 60.0
ASK_SECONDS = 3.0
PAUSE_SECONDS = 1.0


class Found(msgspec.Struct, frozen=True):
    """What answers at an address. `models` are at least one, as the engine lists them."""

    url: str
    engine: str
    models: tuple[str, ...]


async def pools_behind(
    urls: list[str], profile: str, patience_seconds: float = PATIENCE_SECONDS
) -> list[object]:
    """Pools in the configuration's shape, one per model, endpoints in the order given.

    Waits for engines that are still loading, and says so. Raises ConfigError for addresses that cannot be an engine's,
    at once, and for those that never answered. Of an engine's models the first is served, and the others are named.
    """
    urls = [checked_url("command line", url) for url in urls]
    found = await asyncio.gather(*(_patiently(url, patience_seconds) for url in urls))
    pools: dict[str, list[dict[str, str]]] = {}
    for each in found:
        _name_the_rest(each)
        pools.setdefault(each.models[0], []).append({"url": each.url, "engine": each.engine})
    return [
        {"model": model, "profile": profile, "endpoints": endpoints} for model, endpoints in pools.items()
    ]


def _name_the_rest(found: Found) -> None:
    served, *rest = found.models
    if rest:
        print(
            f"forebay: {found.url} also has {', '.join(rest)}, not served here beside {served}: "
            "write a configuration file with aliases, or a pool each",
            file=sys.stderr,
        )


async def _patiently(url: str, patience_seconds: float) -> Found:
    async with open_session(url, lambda _host: ()) as session:
        return await _asked(session, url, patience_seconds)


async def _asked(session: aiohttp.ClientSession, url: str, patience_seconds: float) -> Found:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience_seconds
    told = False
    while (found := await ask(session, url)) is None:
        if loop.time() > deadline:
            cure = (
                "is it running there, and does it speak TLS?"
                if url.startswith("https:")
                else "is it running there?"
            )
            raise ConfigError(url, f"no engine has answered for {patience_seconds:.0f} s", cure)
        if not told:
            print(
                f"forebay: waiting for the engine at {url} ({await _trouble(session, url)}) ...",
                file=sys.stderr,
            )
            told = True
        await asyncio.sleep(PAUSE_SECONDS)
    return found


async def _trouble(session: aiohttp.ClientSession, url: str) -> str:
    call = _caller(session, url)
    await call("/health")
    return call.trouble or "it lists no model yet"


async def ask(session: aiohttp.ClientSession, url: str) -> Found | None:
    """What answers at `url`, None if nothing does (yet). Raises ConfigError for what cannot be served without a file."""
    engine = await detect(_caller(session, url))
    if engine is None:
        return None
    adapter = adapter_of(engine)
    url = _with_base(url, adapter.api_base)
    identity = await adapter.identify(_caller(session, url))
    if identity.refused:
        raise ConfigError(url, "the engine asks for a key", "write a configuration file with api_key_env")
    if identity.advice:
        raise ConfigError(url, f"the engine {identity.advice}")
    if not identity.models:
        return None
    return Found(url, engine, identity.models)


def _caller(session: aiohttp.ClientSession, url: str) -> HttpCaller:
    return HttpCaller(session, Endpoint(0, url, url), ASK_SECONDS, lambda _endpoint: None)


def _with_base(url: str, base: str) -> str:
    """`url` as given when it names a base of its own, or else with the one where this engine has its API."""
    return url if base == API_BASE or urlsplit(url).path else url + base
