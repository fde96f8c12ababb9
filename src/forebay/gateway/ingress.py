"""The public port: which paths there are, who may use them, and the way from a body to an exchange."""

import logging
from collections.abc import Callable, Sequence

from forebay.conductor.events import Arrived
from forebay.config.secret import KeyRing
from forebay.domain.request import Api
from forebay.gateway.answers import models_listing, send_error, send_json
from forebay.gateway.exchange import Exchange
from forebay.gateway.front import Gateway
from forebay.gateway.http1.coding import CodingError, decode_body
from forebay.gateway.http1.message import ReplyWriter, Request
from forebay.gateway.request_ids import RequestIds
from forebay.intake.form import Form, Incoming
from forebay.intake.forms import PATHS, Route, route
from forebay.intake.refusal import Refusal
from forebay.intake.settings import IntakeSettings
from forebay.telemetry.observer import Passage

log = logging.getLogger(__name__)

# Routes that answer at once, and the method they take.
PLAIN = ("/health", "/v1/models")
# Spoken over other protocols than HTTP requests and replies, so that there is nothing to balance here.
NOT_SPOKEN = ("/v1/realtime",)


class Ingress:
    """Handler of the public listener."""

    def __init__(
        self, gateway: Gateway, intake: IntakeSettings, max_body_bytes: int, keys: KeyRing, mark: str = ""
    ) -> None:
        """`keys` is empty when no key is asked for. `mark` is for RequestIds."""
        self._max_body_bytes = max_body_bytes
        self._gateway = gateway
        self._intake = intake
        self._keys = keys
        self._ids = RequestIds(mark)
        self._plain: dict[str, Callable[[ReplyWriter], None]] = {
            "/health": lambda reply: send_json(reply, {"status": "ok"}),
            "/v1/models": lambda reply: send_json(reply, models_listing(gateway.directory)),
        }

    def adopt(self, intake: IntakeSettings, max_body_bytes: int, keys: KeyRing) -> None:
        """Live by these from the next request on."""
        self._intake, self._max_body_bytes, self._keys = intake, max_body_bytes, keys

    def on_head(self, request: Request, reply: ReplyWriter) -> int:
        """Refuse what has no place here before its body is read."""
        found = route(request.path)
        if found is None and request.path not in self._plain:
            self._refuse_path(request, reply)
        elif not self._admitted(request):
            message = "no known key in Authorization or x-api-key"
            self._refuse(request, reply, 401, "invalid-api-key", message)
        elif found is None:
            self._answer_plain(request, reply)
        elif request.method not in found.forms:
            self._wrong_method(request, reply, ", ".join(found.forms))
        else:
            return self._max_body_bytes
        return 0

    def on_body(self, request: Request, body: bytes | bytearray, reply: ReplyWriter) -> None:
        """Understand the request, and let the conductor decide."""
        gateway = self._gateway
        found = route(request.path)
        assert found is not None, "its head was let in"
        form = found.forms[request.method]
        shown = self._ids.shown(request.header(b"x-request-id"))
        request_id = self._ids.unique(shown, gateway.exchanges)
        arrived_at = gateway.clock()
        try:
            body = self._decoded(request, body, reply)
            incoming = self._incoming(request, found, body, request_id)
            understood = form.understand(incoming)
        except (Refusal, CodingError) as refusal:
            echo = [(b"x-request-id", shown.encode())]
            send_error(
                reply,
                form.api,
                refusal.status,
                refusal.code,
                refusal.message,
                param=getattr(refusal, "param", None),
                headers=echo,
            )
            took_us = gateway.clock() - arrived_at
            self._tell(form.api.value, refusal.status, refusal.code, request_id, len(body), took_us)
            return
        exchange = Exchange(gateway, request, understood, body, reply, shown, arrived_at)
        gateway.exchanges[request_id] = exchange
        gateway.driver.feed(Arrived(gateway.clock(), understood.request))

    def _incoming(self, request: Request, found: Route, body: bytes | bytearray, request_id: str) -> Incoming:
        return Incoming(
            body,
            self._intake,
            request_id,
            self._gateway.directory.family_of,
            (request.header(b"content-type") or b"").decode("latin-1"),
            found.held_id,
            self._tenant(request) if self._keys else "",
            self._gateway.directory.response_ids.seat_of,
        )

    def _decoded(self, request: Request, body: bytes | bytearray, reply: ReplyWriter) -> bytes | bytearray:
        """The body without its content coding, counted as held if that made it another. Raises CodingError."""
        decoded = decode_body(request.header(b"content-encoding"), body, self._max_body_bytes)
        if decoded is not body:
            budget = self._gateway.budget
            if budget.used_bytes + len(decoded) > budget.max_bytes:
                message = "too many request bodies are being held; try again later"
                raise CodingError(503, "buffers-full", message)
            reply.hold(len(decoded))
        return decoded

    def on_gone(self, reply: ReplyWriter) -> None:
        """The client left."""
        exchange = reply.owner
        if isinstance(exchange, Exchange):
            exchange.gone()

    def on_bad(self, status: int, code: str, message: str, reply: ReplyWriter) -> None:
        """A rule of the HTTP floor was broken, or a request could not be served for a fault of ours."""
        send_error(reply, Api.CHAT, status, code, message)
        exchange = reply.owner
        if isinstance(exchange, Exchange):
            exchange.status, exchange.refused = status, code
            exchange.gone()
        else:
            self._tell("", status, code)

    def _tell(
        self, path: str, status: int, reason: str, request_id: str = "", body_bytes: int = 0, took_us: int = 0
    ) -> None:
        """Telemetry also hears of what never became an exchange."""
        self._gateway.served(
            Passage(
                request_id=request_id,
                api=path,
                model="",
                status=status,
                body_bytes=body_bytes,
                reply_bytes=0,
                duration_us=took_us,
                reason=reason,
            )
        )

    def _admitted(self, request: Request) -> bool:
        if not self._keys or request.path == "/health":
            return True
        return bool(self._tenant(request))

    def _tenant(self, request: Request) -> str:
        return self._keys.tenant_of(request.header(b"authorization"), request.header(b"x-api-key"))

    def _answer_plain(self, request: Request, reply: ReplyWriter) -> None:
        if request.method in {"GET", "HEAD"}:
            self._plain[request.path](reply)
        else:
            self._wrong_method(request, reply, "GET")

    def _refuse_path(self, request: Request, reply: ReplyWriter) -> None:
        if request.path in NOT_SPOKEN:
            message = "WebSockets are not spoken here: connect to an engine for realtime sessions"
            self._refuse(request, reply, 501, "not-implemented", message)
        else:
            known = ", ".join([*PATHS, *self._plain])
            self._refuse(request, reply, 404, "unknown-path", f"no such path here; there are: {known}")

    def _wrong_method(self, request: Request, reply: ReplyWriter, allowed: str) -> None:
        allow = (b"allow", allowed.encode())
        self._refuse(request, reply, 405, "method-not-allowed", f"this path takes {allowed}", allow)

    def _refuse(
        self,
        request: Request,
        reply: ReplyWriter,
        status: int,
        code: str,
        message: str,
        *headers: tuple[bytes, bytes],
    ) -> None:
        """Answer before the body is read."""
        shown = self._ids.shown(request.header(b"x-request-id"))
        echo = [(b"x-request-id", shown.encode()), *headers]
        send_error(reply, _api_of(request.path), status, code, message, headers=echo)
        self._tell(request.path, status, code, self._ids.unique(shown, self._gateway.exchanges))


def _api_of(path: str) -> Api:
    """Whose clients a path has, for the shape of an error."""
    found = route(path)
    forms: Sequence[Form] = tuple(found.forms.values()) if found is not None else ()
    return forms[0].api if forms else Api.CHAT
