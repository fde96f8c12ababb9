"""How long a step takes: the roofline form, with constants that were fitted to measured kernels.

    step   = 1.14 (t0 + hypot(Wb / (ew BW), (2 Nblock (prefill + b) + 2 Nhead max(b, 1)) / (eg P))
                   + 2 L H d attended / (ea P) + kv KVb / (ek BW) + c1 b)
    encode = 1.14 (tv + sum over items of ((2 Nlinear p + 2 Nmerger p / 4) / (el P) + 4 Lv p^2 width / (eav P)))

`b` sequences decode, `prefill` tokens are computed beside them, each chunk of which attends to all before its end (`attended` is the
sum of chunk x end), and `kv` tokens are read back. 1.14 is the median of measured over modelled time in 42 rows of Llama-3.1-8B on
one H100: what an engine spends beside its kernels. Weights and arithmetic overlap, hence the hypotenuse and not the sum.
"""

import math
from collections.abc import Iterable

from forebay.simulator.engine.device import Device
from forebay.simulator.engine.shape import ModelShape

ENGINE_OVERHEAD = 1.14
MEMORY_SHARE = 0.9
"""vLLM's `gpu_memory_utilization`."""


class StepModel:
    """Seconds of one model on one device. `slowdown` stretches all of them: a device that is ill, or one that is misjudged."""

    def __init__(self, device: Device, model: ModelShape, slowdown: float = 1.0) -> None:
        """Work out the constants once: a step is asked for thousands of times a second."""
        self.device = device
        self.model = model
        fit, over = device.step, ENGINE_OVERHEAD * slowdown
        self._slowdown = slowdown
        self._over = over
        self._fixed = fit.t0_ms * 1e-3
        self._weights = model.weight_bytes / (fit.weight_bandwidth_share * device.bandwidth)
        self._block = 2 * model.block_parameters / (fit.gemm_share * device.flops)
        self._head = 2 * model.head_parameters / (fit.gemm_share * device.flops)
        attention = 2 * model.layers * model.query_heads * model.head_size
        self._attention = attention / (fit.attention_share * device.flops)
        self._kv = model.kv_bytes_per_token / (fit.kv_bandwidth_share * device.bandwidth)
        self._sequence = fit.sequence_us * 1e-6
        self._encode_fixed, self._encode_patch, self._encode_square = _encoder(device, model)

    def slowed(self, factor: float) -> "StepModel":
        """The same, `factor` times as slow."""
        return StepModel(self.device, self.model, self._slowdown * factor)

    @property
    def kv_capacity_tokens(self) -> int:
        """Tokens that its KV cache holds, >= 0."""
        free = MEMORY_SHARE * self.device.memory_bytes - self.model.weight_bytes - self.model.reserved_bytes
        return max(0, int(free / self.model.kv_bytes_per_token))

    def step(self, prefill_tokens: float, attended: float, decoding: float, kv_tokens: float) -> float:
        """Seconds of one step."""
        arithmetic = self._block * (prefill_tokens + decoding) + self._head * max(decoding, 1.0)
        return self._over * (
            self._fixed
            + math.hypot(self._weights, arithmetic)
            + self._attention * attended
            + self._kv * kv_tokens
            + self._sequence * decoding
        )

    def decode(self, decoding: int) -> tuple[float, float]:
        """Seconds of a step that only decodes: a part that stays, and a part for each token in the cache."""
        return self.step(0, 0, decoding, 0), self._over * self._kv

    def encode(self, patches: Iterable[int]) -> float:
        """Seconds to encode items of so many patches in one call; 0 for none."""
        spent = sum(self._encode_patch * count + self._encode_square * count * count for count in patches)
        return self._over * (self._encode_fixed + spent) if spent else 0.0

    def prefill(self, tokens: int, patches: Iterable[int] = ()) -> float:
        """Seconds from nothing to the first token, alone."""
        return self.encode(patches) + self.step(tokens, tokens * tokens, 0, 0)


def _encoder(device: Device, model: ModelShape) -> tuple[float, float, float]:
    """Seconds of a call, of a patch, and of a patch squared."""
    shape, fit = model.encoder, device.encoder
    if shape is None:
        return 0.0, 0.0, 0.0
    parameters = shape.linear_parameters + shape.merger_parameters / shape.patches_per_token
    patch = 2 * parameters / (fit.linear_share * device.flops)
    square = 4 * shape.layers * shape.width / (fit.attention_share * device.flops)
    return fit.t0_ms * 1e-3, patch, square
