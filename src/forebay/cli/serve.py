"""`forebay serve`: run the gateway, from a file or from engines' addresses alone."""

import argparse
import asyncio
import contextlib
import functools
import logging
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from forebay import __version__
from forebay.cli.discover import pools_behind
from forebay.cli.reloading import ignore_signal, reloading
from forebay.cli.sd_notify import READY, STOPPING, sd_notify
from forebay.config.assemble import Assembly, assemble
from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.gateway.station import Station
from forebay.gateway.supervisor import Supervisor
from forebay.runtime.allocator import keep_freed_memory
from forebay.runtime.descriptors import allow_many_files
from forebay.telemetry.access_log import AccessLog, open_stream

log = logging.getLogger(__name__)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `serve` to the command line."""
    parser = subparsers.add_parser("serve", help="run the gateway", description=__doc__)
    parser.add_argument(
        "urls", nargs="*", metavar="URL", help="engines, as http://HOST:PORT; models are asked of them"
    )
    parser.add_argument(
        "--config", metavar="FILE", type=Path, help="configuration file; see docs/reference/configuration.md"
    )
    parser.add_argument("--listen", metavar="ADDRESS", help="public address, default 127.0.0.1:8080")
    parser.add_argument("--admin", metavar="ADDRESS", help="admin address, default 127.0.0.1:8081")
    parser.add_argument(
        "--profile",
        metavar="NAME",
        default="least-request",
        help="placement profile for URLs, default %(default)s",
    )
    parser.add_argument("--access-log", metavar="FILE", help="stderr, stdout, off, or a file's path")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes that serve, instead of the file's number or 1"
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="reload when the configuration file, or a file that it names, changes",
    )


def run(options: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT. 0 after a graceful end."""
    import uvloop

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if bool(options.urls) == (options.config is not None):
        print("forebay: give engine URLs, or --config FILE, one of the two", file=sys.stderr)
        return 2
    if options.watch and not options.config:
        print("forebay: --watch goes with --config FILE", file=sys.stderr)
        return 2
    if options.config and (options.listen or options.admin or options.access_log):
        print(
            "forebay: --listen, --admin and --access-log go with URLs; write them into the file",
            file=sys.stderr,
        )
        return 2
    keep_freed_memory()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(options))


async def _serve(options: argparse.Namespace) -> int:
    read = functools.partial(_read, options) if options.config else None
    assembly = assemble(read()) if read is not None else await _from_urls(options)
    _warn_of_few_files(allow_many_files(), assembly)
    with contextlib.ExitStack() as stack:
        station = _station(assembly, stack, read)
        stopping = _on_signals()
        try:
            await station.start()
        except TimeoutError as error:
            await station.stop()
            raise ConfigError("workers", str(error), "the log above tells why") from None
        except OSError as error:
            await station.stop()
            raise ConfigError("listen/admin", str(error), "choose another address") from None
        _greet(station)
        with reloading(station, options.config if options.watch else None):
            sd_notify(READY)
            await stopping.wait()
        sd_notify(STOPPING)
        print("forebay: draining", file=sys.stderr)
        await station.drain()
        await station.stop()
    return 0


def _read(options: argparse.Namespace) -> Document:
    document = Document.read(options.config)
    if options.workers is not None and isinstance(document.data, dict):
        document.data["workers"] = options.workers
    return document


async def _from_urls(options: argparse.Namespace) -> Assembly:
    pools = await pools_behind(options.urls, options.profile)
    data: dict[str, object] = {"pools": pools}
    for name in ("listen", "admin"):
        if getattr(options, name):
            data[name] = getattr(options, name)
    if options.access_log:
        data["access_log"] = {"path": options.access_log}
    if options.workers is not None:
        data["workers"] = options.workers
    return assemble(Document.of(data, "command line"))


def _station(
    assembly: Assembly, stack: contextlib.ExitStack, read: Callable[[], Document] | None
) -> Station | Supervisor:
    # Workers open it for themselves; one that cannot be written is told here all the same.
    stream = open_stream(assembly.file.access_log.path, stack)
    if assembly.file.workers > 1:
        return Supervisor(assembly, read)
    return Station(assembly, AccessLog(stream) if stream is not None else None, read=read)


def _warn_of_few_files(allowed: int, assembly: Assembly) -> None:
    """Each connection of a client is one, and so is each to an engine."""
    connections = -(-assembly.file.inbound.max_connections // assembly.file.workers)
    if 0 <= allowed < connections:
        log.warning(
            "%d open files are allowed to a process (ulimit -Hn), fewer than its %d client connections of "
            "inbound.max_connections: idle clients could leave none for engines. Raise the one or lower the other",
            allowed,
            connections,
        )


def _on_signals() -> asyncio.Event:
    """Set by SIGTERM and SIGINT."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, ignore_signal)  # there is nothing to reload yet
    return stopping


def _greet(station: Station | Supervisor) -> None:
    public, admin = station.urls()
    print(f"forebay {__version__}: {public}  admin {admin}", file=sys.stderr)
    for pool in station.assembly.pools:
        endpoints = ", ".join(endpoint.name for endpoint in pool.plan.endpoints)
        print(
            f"  {', '.join(pool.plan.names)} (family {pool.family.name}, profile {pool.plan.profile.name}): "
            f"{endpoints}",
            file=sys.stderr,
        )
    sys.stderr.flush()
