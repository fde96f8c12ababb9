"""Replies that the gateway gives by itself."""

import msgspec

from forebay.domain.request import Api
from forebay.gateway.http1.message import HeaderList, ReplyWriter
from forebay.gateway.pools import PoolDirectory
from forebay.gateway.streams.errors import error_body

JSON: HeaderList = [(b"content-type", b"application/json")]


def send_error(
    reply: ReplyWriter,
    api: Api,
    status: int,
    code: str,
    message: str,
    *,
    param: str | None = None,
    headers: HeaderList | None = None,
) -> None:
    """An error in the shape that the API's clients know. `code` becomes snake_case, as OpenAI's codes are."""
    body = error_body(api, status, code.replace("-", "_"), message, param=param)
    reply.respond(status, JSON + (headers or []), body)


def send_json(reply: ReplyWriter, data: object, status: int = 200) -> None:
    """`data` as JSON."""
    reply.respond(status, JSON, msgspec.json.encode(data))


def models_listing(directory: PoolDirectory) -> dict[str, object]:
    """`/v1/models`: every name that a client may use, once. An alias names its model as `root`, an adapter as `parent`."""
    data = []
    for name, model in directory.names().items():
        pool = directory.find(name)
        is_adapter = pool is not None and name not in pool.names
        kin = {"root": name, "parent": model} if is_adapter else {"root": model}
        data.append({"id": name, "object": "model", "created": 0, "owned_by": "forebay", **kin})
    return {"object": "list", "data": data}
