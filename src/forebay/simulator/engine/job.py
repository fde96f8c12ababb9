"""A request as an engine sees it: true sizes, and how far it has come."""

from collections.abc import Sequence


class Job:
    """One attempt at one engine. Times are seconds of virtual time.

    `prompt_tokens` and `output_tokens` are what they will truly be; `patches` lists those of each media item, `media` their hashes.
    """

    __slots__ = (
        "computed", "encoded", "ends", "gone", "joined_step", "key", "last_step", "media", "needed", "output_tokens",
        "patches", "preemptions", "prefix", "prompt_tokens", "written",
    )  # fmt: skip

    def __init__(
        self,
        key: object,
        prompt_tokens: int,
        output_tokens: int,
        patches: Sequence[int] = (),
        media: Sequence[int] = (),
        prefix: Sequence[int] = (),
        ends: Sequence[int] = (),
    ) -> None:
        """`key` is the driver's own; `prefix` and `ends` are the prompt's chained block hashes and their ends in tokens."""
        self.key = key
        self.prompt_tokens = prompt_tokens
        self.output_tokens = max(1, output_tokens)
        self.patches = patches
        self.media = media
        self.prefix = prefix
        self.ends = ends
        self.encoded = not patches
        self.needed = prompt_tokens  # tokens to compute before the next one is written; grows by a preemption
        self.computed = 0
        self.written = 0  # output tokens before `joined_step`
        self.joined_step = -1  # the step that it decodes in from; -1 while it does not
        self.last_step = -1  # the step that writes its last token
        self.preemptions = 0
        self.gone = False  # its client has left

    @property
    def decodes(self) -> bool:
        """Whether its prompt is computed, and its output runs."""
        return self.joined_step >= 0
