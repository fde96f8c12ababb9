"""What a client is told of a failure, when the engine's own reply is not passed on."""

import msgspec

from forebay.domain.ability import ANY_API, ANY_FORMAT, Ability, names
from forebay.domain.outcome import FailureKind


class Answer(msgspec.Struct, frozen=True, gc=False):
    """An HTTP status, a kebab-case code for programs, and a sentence for people."""

    status: int
    code: str
    message: str


# 502: the engine broke its word. 503: it could not be had, try again. 504: it took too long.
_ANSWERS = {
    FailureKind.CONNECT: (503, "the engine could not be reached"),
    FailureKind.RESET: (502, "the engine broke the connection before its reply was whole"),
    FailureKind.PROTOCOL: (502, "the engine's reply was not valid HTTP"),
    FailureKind.FIRST_CONTENT_TIMEOUT: (504, "the engine sent no content in time"),
    FailureKind.IDLE_TIMEOUT: (504, "the engine fell silent in the middle of its reply"),
    FailureKind.TOTAL_TIMEOUT: (504, "the reply took longer than the total timeout"),
    FailureKind.DRAIN_TIMEOUT: (503, "the endpoint or the gateway is being drained, and its time is over"),
    FailureKind.TRUNCATED: (502, "the engine ended its reply early"),
    FailureKind.STREAM_ERROR: (503, "the engine reported an error in its stream"),
    FailureKind.RATE_LIMITED: (429, "the engine is rate limited"),
    FailureKind.SERVER_STATUS: (502, "the engine answered with a server error"),
    FailureKind.CLIENT_STATUS: (400, "the engine refused the request"),
}


def answer_for(kind: FailureKind) -> Answer:
    """The gateway's own words for a failure of this kind. Total over FailureKind."""
    status, message = _ANSWERS[kind]
    return Answer(status=status, code=f"engine-{kind.value}", message=message)


NO_ENDPOINTS = Answer(503, "rejected-no-endpoints", "no endpoint can take this request now")
SATURATED = Answer(503, "rejected-saturated", "every endpoint is full, and so is the queue")
TTL_EXPIRED = Answer(503, "rejected-ttl-expired", "the request waited too long for a place")
UNKNOWN_MODEL = Answer(
    404, "model-not-found", "no pool serves this model; GET /v1/models lists those that are served"
)
NO_ADAPTER = Answer(404, UNKNOWN_MODEL.code, "no endpoint has this adapter now")
NOT_KEPT = Answer(
    404, "response-not-found", "the response to go on from is kept by an engine of another model"
)
KEEPER_AWAY = Answer(
    503, NO_ENDPOINTS.code, "the engine that keeps this response cannot take a request now, and no other can"
)
NOT_CAPABLE = Answer(400, "rejected-not-capable", "no endpoint of this model can take this kind of input")
TOO_LONG = Answer(400, "context-length-exceeded", "the prompt is longer than any endpoint's context")


def too_large_for_encoder(item_tokens: int, budget_tokens: int) -> Answer:
    """What to say when one medium costs `item_tokens`, and the largest encoder budget of any endpoint is less."""
    message = (
        f"one media item costs {item_tokens} tokens, and the largest encoder budget of this model's endpoints is "
        f"{budget_tokens}: send fewer frames, a smaller picture or a shorter sound"
    )
    return Answer(400, "encoder-budget-exceeded", message)


def not_capable(missing: Ability) -> Answer:
    """What to say when no endpoint has every ability that a request needs. `missing` are those that none has at all."""
    formats = missing & ANY_FORMAT
    if formats:
        listed = ", ".join(f"image/{name}" for name in names(formats))
        return Answer(400, "unsupported-image-format", f"no endpoint of this model takes {listed}")
    apis = missing & ANY_API
    if apis:
        return Answer(
            404, "api-not-served", f"no endpoint of this model serves this API: {', '.join(names(apis))}"
        )
    if missing:
        return Answer(
            400, NOT_CAPABLE.code, f"no endpoint of this model takes this: {', '.join(names(missing))}"
        )
    return NOT_CAPABLE
