"""Responses that an engine keeps: to read, to cancel, to delete. They are where they were made, and nowhere else."""

from collections.abc import Sequence
from dataclasses import dataclass

from forebay.domain.request import Api, InferenceRequest, TextMeasure
from forebay.intake.form import Incoming, Replies, Understood
from forebay.intake.json_form import needs_of
from forebay.intake.splice import EditPoints

# What is read or cancelled here was counted as work when it was asked for.
_NEXT_TO_NOTHING = 1


@dataclass(frozen=True, slots=True)
class KeptResponses:
    """Every path with the id of a response in it. Bodies pass as they are."""

    api: Api = Api.RESPONSES

    @property
    def routes(self) -> Sequence[tuple[str, str]]:
        """See Form."""
        one = f"{self.api.value}/{{id}}"
        return (
            ("GET", one),
            ("DELETE", one),
            ("POST", f"{one}/cancel"),
            ("GET", f"{one}/input_items"),
        )

    def understand(self, incoming: Incoming) -> Understood:
        """See Form."""
        seat = incoming.seat_of(incoming.held_id, incoming.tenant, None)
        request = InferenceRequest(
            request_id=incoming.request_id,
            api=self.api,
            model=seat.model,
            needs=needs_of(self.api),
            text=TextMeasure(),
            max_output_tokens=_NEXT_TO_NOTHING,
            body_bytes=len(incoming.body),
            tenant=incoming.tenant,
            only_slot=seat.slot,
        )
        return Understood(request, EditPoints(), Replies.KEPT, seat.engine_id)


FORM = KeptResponses()
