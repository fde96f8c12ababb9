"""What a declared device can do, before anything was learned of it.

Sources: peak rates from the makers' data sheets; efficiencies of A100, H100, H200, L40S and B200 fitted to the measured
kernel tables of NVIDIA's aiconfigurator (Apache-2.0); datasheet peaks as in inference-sim's hardware table (Apache-2.0).
The reference model is Qwen3-VL-8B, in the middle of what is served. Another model or a wrong declaration is put right
by `speed`, which learns one factor per endpoint.
"""

from dataclasses import dataclass

import msgspec

# Qwen3-VL-8B's text tower: parameters of its blocks, and bytes of its weights in bfloat16.
BLOCK_PARAMETERS = 6_945_767_424
WEIGHT_BYTES = 15_136_194_560

# Its vision tower: 27 blocks of width 1152 with an MLP of 4304. Per patch, 2 FLOPs per parameter of the linear layers:
# 27 * (4 * 1152^2 + 2 * 1152 * 4304) = 411 M parameters; and attention over the patches of one image, 4 * 27 * 1152 * n.
VISION_PARAMETERS = 27 * (4 * 1152**2 + 2 * 1152 * 4304)
VISION_ATTENTION_FLOPS = 4 * 27 * 1152
# Its KV cache: 36 layers x 8 heads x 128 x 2 (K and V) x 2 bytes; and the share of the peak bandwidth at which attention
# reads it, the median of the five devices that were fitted (0.75 to 0.94).
KV_BYTES_PER_TOKEN = 147_456
KV_BANDWIDTH_SHARE = 0.90

# A 1024 x 1024 picture in patches of 16.
TYPICAL_PATCHES = (1024 // 16) ** 2

# Median of actual over predicted time of 42 rows of aiconfigurator's silicon samples: sampling, scheduling, Python.
ENGINE_OVERHEAD = 1.14

# One TCP flow between cloud hosts is held to 5 Gbit/s (AWS EC2, "single-flow traffic outside a placement group").
PATH_BYTES_PER_US = 5e9 / 8 / 1e6


class Capacity(msgspec.Struct, frozen=True, gc=False):
    """Rates of an endpoint, all > 0.

    Microseconds per encoder patch, per prompt token, per decode step, and per token in the KV cache in such a step; bytes per
    microsecond of the path to it.
    """

    encode_us_per_patch: float
    prefill_us_per_token: float
    decode_us_per_token: float
    # 147,456 bytes at 0.9 of an A100's bandwidth.
    decode_us_per_kv_token: float = 0.092
    bytes_per_us: float = PATH_BYTES_PER_US


@dataclass(frozen=True, slots=True)
class _Hardware:
    """Peak dense bfloat16 TFLOP/s, peak memory TB/s, fixed milliseconds per step, and the shares of peak reached."""

    tflops: float
    terabytes: float
    step_ms: float
    of_bandwidth: float
    of_flops: float
    of_flops_vision: float

    def capacity(self) -> Capacity:
        """Roofline of one step: t0 + weights / bandwidth for a decode, 2 N / FLOP/s for each prompt token."""
        vision_flops = 2 * VISION_PARAMETERS + VISION_ATTENTION_FLOPS * TYPICAL_PATCHES
        flops_per_us = self.tflops * 1e6
        bytes_per_us = self.terabytes * 1e6
        return Capacity(
            encode_us_per_patch=ENGINE_OVERHEAD * vision_flops / (self.of_flops_vision * flops_per_us),
            prefill_us_per_token=ENGINE_OVERHEAD * 2 * BLOCK_PARAMETERS / (self.of_flops * flops_per_us),
            decode_us_per_token=ENGINE_OVERHEAD
            * (self.step_ms * 1e3 + WEIGHT_BYTES / (self.of_bandwidth * bytes_per_us)),
            decode_us_per_kv_token=ENGINE_OVERHEAD * KV_BYTES_PER_TOKEN / (KV_BANDWIDTH_SHARE * bytes_per_us),
        )


_HARDWARE = {
    # No vision table was measured on the A100: the mean share of the four that were (0.48, 0.53, 0.37, 0.44).
    "a100": _Hardware(312.0, 2.039, 3.914, 0.920, 0.776, 0.455),
    "h100": _Hardware(989.0, 3.35, 0.615, 0.739, 0.709, 0.476),
    "h200": _Hardware(989.0, 4.8, 1.762, 0.920, 0.759, 0.533),
    "l40s": _Hardware(362.0, 0.864, 0.0, 0.758, 0.569, 0.371),
    "b200": _Hardware(2250.0, 8.0, 1.541, 0.920, 0.593, 0.443),
    # Data sheets only, with the median shares of the five above.
    "mi300x": _Hardware(1307.4, 5.3, 1.541, 0.920, 0.709, 0.455),
    "l40": _Hardware(181.05, 0.864, 1.541, 0.920, 0.709, 0.455),
    "a10": _Hardware(125.0, 0.600, 1.541, 0.920, 0.709, 0.455),
    "l4": _Hardware(121.0, 0.300, 1.541, 0.920, 0.709, 0.455),
    # 16 cores with AVX-512: 16 x 2.5 GHz x 32 single-precision multiply-adds = 2.56 TFLOP/s; 8 channels of DDR4-3200.
    "cpu": _Hardware(2.56, 0.205, 1.541, 0.5, 0.5, 0.5),
}

# Undeclared devices are priced as one from the middle of the table until they have shown what they can do.
_UNDECLARED = "a100"


def capacity_of(device: str) -> Capacity:
    """Capacity of a device by its declared name: any spelling that has the model's name in it.

    `a100-80gb`, `NVIDIA H100 80GB HBM3`, `cpu` ... Unknown names and "" are priced as an A100.
    """
    spelled = device.lower()
    # Longer names first, so that an `l40s` is not taken for an `l4`.
    for name in sorted(_HARDWARE, key=len, reverse=True):
        if name in spelled:
            return _HARDWARE[name].capacity()
    return _HARDWARE[_UNDECLARED].capacity()
