"""OpenVINO Model Server. Its OpenAI API stands below /v3, as its /v1 is TensorFlow Serving's; new versions answer at both.

Its image decoder knows JPEG, PNG, BMP and GIF: none of the further formats is claimed.
"""

import msgspec

from forebay.domain.ability import Ability
from forebay.fleet.adapters.base import STB_FORMATS, Identity
from forebay.fleet.adapters.generic import OpenAIAdapter
from forebay.fleet.caller import Caller
from forebay.fleet.dialects import openvino

_DEFAULT = (
    Ability.TEXT | Ability.IMAGE | STB_FORMATS | Ability.CHAT | Ability.COMPLETIONS | Ability.EMBEDDINGS
)

BASE = "/v3"
ELSEWHERE = (
    f"has its OpenAI API below {BASE}, so that it is sent no request: write its url as http://HOST:PORT{BASE}"
)


class OpenVINOAdapter(OpenAIAdapter):
    """Notices an address without the base of the API."""

    async def identify(self, call: Caller) -> Identity:
        """List the models."""
        found = await super().identify(call)
        if found.models is None and not found.refused:
            below = await call(f"{BASE}/models")
            if below is not None and below.good:
                return msgspec.structs.replace(found, models=(), advice=ELSEWHERE)
        return found


ADAPTER = OpenVINOAdapter(openvino.DIALECT, _DEFAULT, ("/v2/health/ready",), BASE)
