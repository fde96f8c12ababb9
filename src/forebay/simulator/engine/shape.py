"""What an engine serves: the sizes of a model that decide its costs."""

import msgspec


class EncoderShape(msgspec.Struct, frozen=True):
    """A vision transformer: `linear_flops` and `merger_flops` are parameters that each patch, and each token, passes."""

    layers: int
    width: int
    linear_parameters: float
    merger_parameters: float
    patches_per_token: int


class ModelShape(msgspec.Struct, frozen=True):
    """A transformer decoder in 16 bits."""

    name: str
    layers: int
    query_heads: int
    head_size: int
    block_parameters: float
    head_parameters: float
    weight_bytes: float
    kv_bytes_per_token: float
    # Held back beside the weights: activations, graphs, the encoder.
    reserved_bytes: float
    encoder: EncoderShape | None = None


# Counted from the published configuration; 36 layers x 8 KV heads x 128 x 2 (K and V) x 2 bytes = 147,456 a token.
QWEN3_VL_8B = ModelShape(
    name="Qwen3-VL-8B",
    layers=36,
    query_heads=32,
    head_size=128,
    block_parameters=6_945_767_424,
    head_parameters=622_329_856,
    weight_bytes=15_136_194_560,
    kv_bytes_per_token=147_456,
    reserved_bytes=4.2e9,
    encoder=EncoderShape(
        layers=27, width=1152, linear_parameters=0.411e9, merger_parameters=0.160e9, patches_per_token=4
    ),
)
# 32 layers x 8 KV heads x 128 x 2 x 2 bytes = 131,072 a token.
LLAMA_31_8B = ModelShape(
    name="Llama-3.1-8B",
    layers=32,
    query_heads=32,
    head_size=128,
    block_parameters=6_979_321_856,
    head_parameters=525_336_576,
    weight_bytes=15_009_316_864,
    kv_bytes_per_token=131_072,
    reserved_bytes=3e9,
)
MODELS = {shape.name: shape for shape in (QWEN3_VL_8B, LLAMA_31_8B)}
