"""Text Generation Inference's metric names. A gauge appears with the first request that moves it, so that none is expected."""

from forebay.fleet.dialects.base import Dialect

DIALECT = Dialect(engine="tgi", running=("tgi_batch_current_size",), waiting=("tgi_queue_size",))
