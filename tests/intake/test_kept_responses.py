"""Requests that name a kept response in their path."""

from forebay.domain.ability import Ability
from forebay.intake.form import Incoming, Replies, Seat
from forebay.intake.forms import route
from forebay.intake.settings import IntakeSettings


def test_they_are_pinned_and_weigh_next_to_nothing():
    found = route("/v1/responses/resp_1")
    incoming = Incoming(
        b"", IntakeSettings(), "r", lambda _: None, held_id=found.held_id, tenant="t",
        seat_of=lambda held_id, tenant, param: Seat(f"{tenant}-model", 5, held_id.upper()),
    )  # fmt: skip
    understood = found.forms["GET"].understand(incoming)
    request = understood.request
    assert (request.model, request.only_slot, request.max_output_tokens) == ("t-model", 5, 1)
    assert request.needs == Ability.TEXT | Ability.RESPONSES
    assert (understood.held_id, understood.replies, understood.edits.model) == ("RESP_1", Replies.KEPT, None)


def test_every_path_leads_here():
    for path, methods in {
        "/v1/responses/r": {"GET", "DELETE"},
        "/v1/responses/r/cancel": {"POST"},
        "/v1/responses/r/input_items": {"GET"},
    }.items():
        assert set(route(path).forms) == methods
    for path in ("/v1/responses/", "/v1/responses/a/b", "/v1/responses/a%2fb", "/v1/responses/" + "a" * 257):
        assert route(path) is None
