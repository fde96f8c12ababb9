"""vLLM. Its routes depend on its version and on the model's tasks: its OpenAPI description names them."""

from forebay.domain.ability import ANY_FORMAT, Ability
from forebay.fleet.adapters.base import ANY_MEDIA
from forebay.fleet.adapters.generic import OpenAIAdapter
from forebay.fleet.dialects import vllm

# vLLM decodes with Pillow. A format that an installation lacks is answered with an error, never dropped in silence.
_DEFAULT = ANY_MEDIA | ANY_FORMAT | Ability.CHAT | Ability.COMPLETIONS | Ability.EMBEDDINGS | Ability.MESSAGES

ADAPTER = OpenAIAdapter(vllm.DIALECT, _DEFAULT)
