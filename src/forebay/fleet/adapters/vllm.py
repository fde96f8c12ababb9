"""vLLM. Its routes depend on its version and on the model's tasks: its OpenAPI description names them."""

from forebay.domain.ability import ANY_API, ANY_FORMAT
from forebay.fleet.adapters.base import ANY_MEDIA
from forebay.fleet.adapters.generic import OpenAIAdapter
from forebay.fleet.dialects import vllm

# vLLM decodes with Pillow. A format that an installation lacks is answered with an error, never dropped in silence.
# Where it describes nothing, its own 404 says best what it lacks.
_DEFAULT = ANY_MEDIA | ANY_FORMAT | ANY_API

ADAPTER = OpenAIAdapter(vllm.DIALECT, _DEFAULT)
