"""What clients do: one visit is one request, with what is known of it when it arrives and what will truly come of it."""

import msgspec

from forebay.domain.request import InferenceRequest


class Visit(msgspec.Struct, frozen=True, gc=False):
    """One request of a workload.

    `at` is when it arrives, in seconds; in a closed loop clients come when they are done with their last one. `request` is what
    the conductor may know. `prompt_tokens`, `output_tokens` and `patches` (of each media item) are what the engine will find;
    no policy sees them. `blocks` are the chained hashes of what its prefix cache can find again, up to `block_ends` in tokens:
    those that the intake has seen of the prompt, unless given.
    """

    at: float
    request: InferenceRequest
    prompt_tokens: int
    output_tokens: int
    patches: tuple[int, ...] = ()
    blocks: tuple[int, ...] | None = None
    block_ends: tuple[int, ...] = ()


class Story(msgspec.Struct, gc=False):
    """What became of one visit. Times in seconds of virtual time; -1 for what never came.

    `sent` is when its last attempt was dispatched, to `slot`.
    """

    number: int
    arrived: float
    slot: int = -1
    first: float = -1.0
    ended: float = -1.0
    sent: float = -1.0
    tries: int = 0
    refused: str = ""

    @property
    def whole(self) -> bool:
        """Whether the whole answer came."""
        return self.ended >= 0 and not self.refused

    @property
    def ttft(self) -> float:
        """Seconds to the first token."""
        return self.first - self.arrived

    @property
    def e2e(self) -> float:
        """Seconds to the last token."""
        return self.ended - self.arrived
