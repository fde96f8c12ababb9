"""The admin port: metrics, readiness, endpoints, decisions, and draining an endpoint. Never public."""

import asyncio
import logging
import urllib.parse
from collections.abc import Callable, Coroutine
from typing import Protocol

import msgspec

from forebay.domain.request import Api
from forebay.gateway.answers import send_error, send_json
from forebay.gateway.http1.message import ReplyWriter, Request
from forebay.gateway.plans import Reload

log = logging.getLogger(__name__)

ENDPOINTS = "/forebay/endpoints"
RELOAD = "/forebay/reload"
DECISIONS = "/forebay/decisions/"
LATEST = "/forebay/decisions"
MAX_BODY_BYTES = 4096
# One answer holds up to 16 candidates of each: 100 are some 500 KB.
MAX_LATEST = 100


class Operations(Protocol):
    """What operators can ask and do, of one worker or of several."""

    async def is_ready(self) -> bool:
        """Whether new requests should be sent here."""
        ...

    async def metrics(self, accept: str) -> tuple[str, bytes]:
        """Content type and body of `/metrics`."""
        ...

    async def fleet(self) -> dict[str, object]:
        """The fleet as believed now."""
        ...

    async def decision(self, request_id: str) -> dict[str, object] | None:
        """One request's decisions, None when they are not known."""
        ...

    async def latest(self, limit: int) -> dict[str, object]:
        """The last requests' decisions, newest first."""
        ...

    async def drain_endpoint(self, name: str, *, draining: bool) -> bool:
        """Empty an endpoint by name, or take it back; done when every worker knows. False when there is none of that name."""
        ...

    async def reload(self) -> Reload:
        """Live by the configuration as it stands now, or say why not."""
        ...


Page = Callable[[Request, ReplyWriter], Coroutine[None, None, None]]


class Admin:
    """Handler of the admin listener."""

    def __init__(self, operations: Operations) -> None:
        """Ask and act through `operations`."""
        self._operations = operations
        self._answering: set[asyncio.Task[None]] = set()
        self._pages: dict[str, Page] = {
            "/metrics": self._metrics,
            "/ready": self._ready,
            "/health": self._health,
            ENDPOINTS: self._fleet,
            LATEST: self._latest,
        }

    def on_head(self, request: Request, reply: ReplyWriter) -> int:
        """Refuse what has no place here; take a small body of what is posted."""
        if request.method == "POST":
            if request.header(b"origin") is None:
                return MAX_BODY_BYTES
            # Any page that an operator looks at can have the browser post here, where this port is reached.
            send_error(reply, Api.CHAT, 403, "browser-refused", "this port takes no orders from web pages")
            return 0
        if request.method not in {"GET", "HEAD"}:
            send_error(reply, Api.CHAT, 405, "method-not-allowed", "this port takes GET, and POST to drain")
        elif self._page(request.path) is None:
            pages = ", ".join([*self._pages, DECISIONS + "<request-id>"])
            send_error(reply, Api.CHAT, 404, "unknown-path", f"no such page; there are: {pages}")
        return 0

    def on_body(self, request: Request, body: bytes | bytearray, reply: ReplyWriter) -> None:  # noqa: ARG002 - the path says all
        """Answer a page, as soon as those who know have told; or `POST /forebay/endpoints/<name>/drain` or `.../undrain`."""
        page = self._reload if request.path == RELOAD else self._page(request.path)
        if (request.method == "POST") != (request.path == RELOAD) or page is None:
            page = self._post
        task = asyncio.get_running_loop().create_task(self._answer(page, request, reply))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, page: Page, request: Request, reply: ReplyWriter) -> None:
        try:
            await page(request, reply)
        except Exception:
            log.exception("the admin port could not answer %s", request.path)
            send_error(reply, Api.CHAT, 500, "internal-error", "a fault of the gateway; see its log")

    def _page(self, path: str) -> Page | None:
        return self._decision if path.startswith(DECISIONS) else self._pages.get(path)

    async def _post(self, request: Request, reply: ReplyWriter) -> None:
        name, _, verb = urllib.parse.unquote(request.path.removeprefix(ENDPOINTS + "/")).rpartition("/")
        if not request.path.startswith(ENDPOINTS + "/") or verb not in {"drain", "undrain"}:
            known = f"POST {ENDPOINTS}/<name>/drain or .../undrain, or {RELOAD}"
            send_error(reply, Api.CHAT, 404, "unknown-path", known)
        elif await self._operations.drain_endpoint(name, draining=verb == "drain"):
            send_json(reply, {"endpoint": name, "draining": verb == "drain"})
        else:
            send_error(
                reply, Api.CHAT, 404, "unknown-endpoint", f"no endpoint is named {name}; see {ENDPOINTS}"
            )

    def on_gone(self, reply: ReplyWriter) -> None:
        """What is still being asked for is answered to nobody."""

    def on_bad(self, status: int, code: str, message: str, reply: ReplyWriter) -> None:
        """A rule of the HTTP floor was broken."""
        send_error(reply, Api.CHAT, status, code, message)

    async def _metrics(self, request: Request, reply: ReplyWriter) -> None:
        accept = (request.header(b"accept") or b"").decode("latin-1")
        content_type, body = await self._operations.metrics(accept)
        reply.respond(200, [(b"content-type", content_type.encode())], body)

    async def _reload(self, request: Request, reply: ReplyWriter) -> None:  # noqa: ARG002 - the shape of a page
        done = await self._operations.reload()
        if done.error:
            send_error(reply, Api.CHAT, 422, "configuration-refused", done.error)
        else:
            send_json(reply, msgspec.to_builtins(done))

    async def _ready(self, request: Request, reply: ReplyWriter) -> None:  # noqa: ARG002 - the shape of a page
        ready = await self._operations.is_ready()
        send_json(reply, {"ready": ready}, 200 if ready else 503)

    async def _health(self, request: Request, reply: ReplyWriter) -> None:  # noqa: ARG002 - the shape of a page
        send_json(reply, {"status": "ok"})

    async def _fleet(self, request: Request, reply: ReplyWriter) -> None:  # noqa: ARG002 - the shape of a page
        send_json(reply, await self._operations.fleet())

    async def _latest(self, request: Request, reply: ReplyWriter) -> None:
        """`?limit=N`, 20 when left out."""
        given = urllib.parse.parse_qs(request.target.partition("?")[2]).get("limit", ["20"])[0]
        if given.isascii() and given.isdigit() and 1 <= int(given[:9]) <= MAX_LATEST:
            send_json(reply, await self._operations.latest(int(given)))
        else:
            message = f"`limit` is a whole number from 1 to {MAX_LATEST}"
            send_error(reply, Api.CHAT, 400, "invalid-limit", message)

    async def _decision(self, request: Request, reply: ReplyWriter) -> None:
        request_id = urllib.parse.unquote(request.path.removeprefix(DECISIONS))
        found = await self._operations.decision(request_id)
        if found is None:
            message = f"no decision is kept for {request_id[:128]}; only the latest ones are"
            send_error(reply, Api.CHAT, 404, "unknown-request", message)
        else:
            send_json(reply, found)
