"""The admin port: metrics, readiness, endpoints, decisions, and draining an endpoint. Never public."""

import urllib.parse
from collections.abc import Callable
from typing import Protocol

import msgspec

from forebay.domain.request import Api
from forebay.gateway.answers import send_error, send_json
from forebay.gateway.http1.message import ReplyWriter, Request

ENDPOINTS = "/forebay/endpoints"
DECISIONS = "/forebay/decisions/"
MAX_BODY_BYTES = 4096


class Desk(Protocol):
    """What operators can ask, as telemetry answers it."""

    def metrics(self, accept: str) -> tuple[str, bytes]:
        """Content type and body of `/metrics`."""
        ...

    def endpoints(self) -> dict[str, object]:
        """The fleet as believed now."""
        ...

    def decision(self, request_id: str) -> dict[str, object] | None:
        """One request's decisions, None when they are not known."""
        ...


class Operations(Protocol):
    """What operators can do."""

    @property
    def ready(self) -> bool:
        """Whether new requests should be sent here."""
        ...

    def drain_endpoint(self, name: str, *, draining: bool) -> bool:
        """Empty an endpoint by name, or take it back. False when there is none of that name."""
        ...


class Admin:
    """Handler of the admin listener."""

    def __init__(self, desk: Desk, operations: Operations) -> None:
        """Answer from `desk`, act through `operations`."""
        self._desk = desk
        self._operations = operations
        self._pages: dict[str, Callable[[Request, ReplyWriter], None]] = {
            "/metrics": self._metrics,
            "/ready": self._ready,
            "/health": lambda _request, reply: send_json(reply, {"status": "ok"}),
            ENDPOINTS: lambda _request, reply: send_json(reply, self._desk.endpoints()),
        }

    def on_head(self, request: Request, reply: ReplyWriter) -> int:
        """Answer questions at once; take a small body of what is posted."""
        if request.method == "POST":
            return MAX_BODY_BYTES
        if request.method not in {"GET", "HEAD"}:
            send_error(reply, Api.CHAT, 405, "method-not-allowed", "this port takes GET, and POST to drain")
        elif request.path in self._pages:
            self._pages[request.path](request, reply)
        elif request.path.startswith(DECISIONS):
            self._decision(urllib.parse.unquote(request.path.removeprefix(DECISIONS)), reply)
        else:
            pages = ", ".join([*self._pages, DECISIONS + "<request-id>"])
            send_error(reply, Api.CHAT, 404, "unknown-path", f"no such page; there are: {pages}")
        return 0

    def on_body(self, request: Request, body: bytes | bytearray, reply: ReplyWriter) -> None:  # noqa: ARG002 - the path says all
        """`POST /forebay/endpoints/<name>/drain` or `.../undrain`."""
        name, _, verb = urllib.parse.unquote(request.path.removeprefix(ENDPOINTS + "/")).rpartition("/")
        if not request.path.startswith(ENDPOINTS + "/") or verb not in {"drain", "undrain"}:
            send_error(reply, Api.CHAT, 404, "unknown-path", f"POST {ENDPOINTS}/<name>/drain or .../undrain")
        elif self._operations.drain_endpoint(name, draining=verb == "drain"):
            send_json(reply, {"endpoint": name, "draining": verb == "drain"})
        else:
            send_error(
                reply, Api.CHAT, 404, "unknown-endpoint", f"no endpoint is named {name}; see {ENDPOINTS}"
            )

    def on_gone(self, reply: ReplyWriter) -> None:
        """Nothing is pending here, ever."""

    def on_bad(self, status: int, code: str, message: str, reply: ReplyWriter) -> None:
        """A rule of the HTTP floor was broken."""
        send_error(reply, Api.CHAT, status, code, message)

    def _metrics(self, request: Request, reply: ReplyWriter) -> None:
        accept = (request.header(b"accept") or b"").decode("latin-1")
        content_type, body = self._desk.metrics(accept)
        reply.respond(200, [(b"content-type", content_type.encode())], body)

    def _ready(self, request: Request, reply: ReplyWriter) -> None:  # noqa: ARG002 - the shape of a page
        ready = self._operations.ready
        send_json(reply, {"ready": ready}, 200 if ready else 503)

    def _decision(self, request_id: str, reply: ReplyWriter) -> None:
        found = self._desk.decision(request_id)
        if found is None:
            message = f"no decision is kept for {request_id[:128]}; only the latest ones are"
            send_error(reply, Api.CHAT, 404, "unknown-request", message)
        else:
            reply.respond(200, [(b"content-type", b"application/json")], msgspec.json.encode(found))
