"""The way in: one body becomes one InferenceRequest, or a Refusal that says where and why."""

from collections.abc import Callable
from typing import Any

from forebay.domain.request import Api
from forebay.intake.form import Incoming, Understood
from forebay.intake.forms import FORM_OF
from forebay.intake.refusal import Refusal
from forebay.intake.settings import IntakeSettings
from forebay.intake.tokens.family import Family

__all__ = ["Refusal", "Understood", "understand"]


def understand(
    api: Api,
    body: bytes | bytearray,
    settings: IntakeSettings,
    request_id: str,
    family_of: Callable[[str], Family | None],
    **more: Any,
) -> Understood:
    """Read `body` as `api` has it. `family_of`, and the fields in `more`, are those of Incoming.

    Raises Refusal, and nothing else.
    """
    return FORM_OF[api].understand(Incoming(body, settings, request_id, family_of, **more))
