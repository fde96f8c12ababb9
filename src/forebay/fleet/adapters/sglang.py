"""SGLang: the common questions, its own metrics. Old versions serve no /v1/messages; the OpenAPI description tells."""

from forebay.domain.ability import Ability
from forebay.fleet.adapters.base import ANY_FORMAT, ANY_MEDIA
from forebay.fleet.adapters.generic import OpenAIAdapter
from forebay.fleet.dialects import sglang

_DEFAULT = ANY_MEDIA | ANY_FORMAT | Ability.CHAT | Ability.COMPLETIONS | Ability.EMBEDDINGS

ADAPTER = OpenAIAdapter(sglang.DIALECT, _DEFAULT)
