"""How long a modelled engine takes: continuous batching in its simplest form. Pure."""

import msgspec


class EngineModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A modelled engine: encoder and prefill run one request after the other, decodes step together.

    `encode_us_per_patch`, `prefill_us_per_token`: work of a request before its first token. `step_us` is one decode step of
    one sequence, `step_us_per_sequence` what each further one adds. While an encode or a prefill runs, nobody decodes:
    that is the interference that a router must price. `slots` bounds running requests; the rest wait.
    The defaults are of the order of an 8B vision model on an A100, and modelled, not measured.
    """

    encode_us_per_patch: float = 12.0
    prefill_us_per_token: float = 60.0
    step_us: float = 12_000.0
    step_us_per_sequence: float = 120.0
    slots: int = 64
    kv_tokens: int = 400_000
    context_tokens: int = 32_768

    def prompt_us(self, patches: int, tokens: int) -> float:
        """Encoder and prefill time of one request, in microseconds."""
        return patches * self.encode_us_per_patch + tokens * self.prefill_us_per_token

    def decode_step_us(self, sequences: int) -> float:
        """One step for `sequences` >= 1 that decode together, in microseconds."""
        return self.step_us + self.step_us_per_sequence * (sequences - 1)
