"""What is sent to an engine: the client's own bytes, with as few edits as can be."""

from collections.abc import Sequence

import msgspec

from forebay.conductor.commands import Dispatch
from forebay.gateway.http1.headers import request_headers
from forebay.gateway.http1.message import Request
from forebay.gateway.pools import PoolWire
from forebay.intake.form import Understood
from forebay.intake.splice import Edit, model_edits, splice

Buffers = Sequence[bytes | bytearray | memoryview]


def outgoing(
    request: Request,
    understood: Understood,
    body: bytes | bytearray,
    command: Dispatch,
    pool: PoolWire,
) -> tuple[bytes, Buffers]:
    """Head and body of the request to `command.endpoint`. The body's large parts are not copied."""
    edits = _edits(understood, command.model, ask_usage=pool.ask_usage)
    buffers: Buffers = splice(body, edits) if edits else (body,)
    # Unique among open requests, as a client's own id need not be: engines may use it as a key.
    extra = [(b"x-request-id", understood.request.request_id.encode())]
    if pool.api_key is not None:
        extra.append((b"authorization", b"Bearer " + pool.api_key.reveal().encode()))
    head = request_headers(
        _aimed(request, understood),
        url=command.endpoint.url,
        host=command.endpoint.host,
        content_length=sum(map(len, buffers)),
        extra=extra,
        forward_auth=pool.forward_auth and pool.api_key is None,
    )
    return head, buffers


def _aimed(request: Request, understood: Understood) -> Request:
    """The head with the engine's own id in its path, where there is one."""
    if not understood.held_id:
        return request
    path, mark, query = request.target.partition("?")  # first of all: slashes of a query are no path
    collection = f"{understood.request.api.value}/"
    _, slash, behind = path.removeprefix(collection).partition("/")
    aimed = f"{collection}{understood.held_id}{slash}{behind}{mark}{query}"
    return msgspec.structs.replace(request, target=aimed)


def _edits(understood: Understood, model: str, *, ask_usage: bool) -> list[Edit]:
    """The served name in place of an alias, and usage asked for in every stream, so that it can be metered."""
    points = understood.edits
    edits = [] if understood.request.model == model else model_edits(points, model)
    if ask_usage and points.want_usage is not None:
        edits.append(points.want_usage)
    edits += points.always
    return edits
