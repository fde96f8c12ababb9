"""Error bodies in the shape that each API's clients expect, whole or as an event of a stream."""

from http import HTTPStatus

import msgspec

from forebay.domain.request import Api

_OPENAI_TYPES = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
    HTTPStatus.REQUEST_TIMEOUT: "timeout_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.SERVICE_UNAVAILABLE: "overloaded_error",
    HTTPStatus.GATEWAY_TIMEOUT: "timeout_error",
}
_ANTHROPIC_TYPES = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "request_too_large",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.SERVICE_UNAVAILABLE: "overloaded_error",
    HTTPStatus.GATEWAY_TIMEOUT: "timeout_error",
}
_FIRST_SERVER_STATUS = 500


def error_type(api: Api, status: int) -> str:
    """The `type` word that clients of this API know for an HTTP status."""
    if api.is_anthropic:
        table, server_word = _ANTHROPIC_TYPES, "api_error"
    else:
        table, server_word = _OPENAI_TYPES, "server_error"
    fallback = server_word if status >= _FIRST_SERVER_STATUS else "invalid_request_error"
    return table.get(HTTPStatus(status), fallback) if status in table else fallback


def error_body(
    api: Api,
    status: int,
    code: str,
    message: str,
    *,
    param: str | None = None,
    kind: str | None = None,
) -> bytes:
    """JSON body of an error reply. `kind` replaces the `type` word that the status would give.

    OpenAI's shape has message, type, param and code; Anthropic's has type and message only.
    """
    word = kind or error_type(api, status)
    if api.is_anthropic:
        return msgspec.json.encode({"type": "error", "error": {"type": word, "message": message}})
    return msgspec.json.encode({"error": {"message": message, "type": word, "param": param, "code": code}})


def error_event(api: Api, status: int, code: str, message: str, *, kind: str | None = None) -> bytes:
    """The same error as one server-sent event, for a stream that has already begun.

    One of responses names its type, as all events there do.
    """
    body = error_body(api, status, code, message, kind=kind)
    if api is Api.RESPONSES:
        told = {"type": "error", "code": code, "message": message, "param": None}
        body = msgspec.json.encode({**told, **msgspec.json.decode(body)})
    name = b"event: error\n" if api.is_anthropic or api is Api.RESPONSES else b""
    return name + b"data: " + body + b"\n\n"
