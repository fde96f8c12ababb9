"""What an engine keeps to spare work: encoded media, and the KV blocks of prompts that it has seen."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence


class LeastRecent:
    """A cache of sized entries that drops the least recently used ones. A capacity of 0 keeps nothing."""

    def __init__(self, capacity: int) -> None:
        """`capacity` is in whatever unit the sizes are."""
        self.capacity = capacity
        self.used = 0
        self._entries: OrderedDict[Hashable, int] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def touch(self, key: Hashable) -> None:
        """It was used now."""
        self._entries.move_to_end(key)

    def put(self, key: Hashable, size: int) -> None:
        """Keep it as the most recent, and make room; what is larger than the whole is not kept."""
        if key in self._entries:
            self.touch(key)
        elif size <= self.capacity:
            self._entries[key] = size
            self.used += size
            self.shrink_to(self.capacity)

    def shrink_to(self, size: int) -> None:
        """Drop the oldest until no more than `size` is used."""
        while self.used > max(0, size) and self._entries:
            self.used -= self._entries.popitem(last=False)[1]


class PrefixCache:
    """KV blocks by the chained hash of the prompt up to their end: a block is worth its tokens only behind all before it."""

    def __init__(self, capacity_tokens: int) -> None:
        """Room in tokens, over all prompts."""
        self._blocks = LeastRecent(capacity_tokens)

    def match(self, blocks: Sequence[int], ends: Sequence[int]) -> int:
        """Tokens of the longest kept prefix. `ends` gives the prompt's tokens up to the end of each block."""
        matched = 0
        for block, end in zip(blocks, ends, strict=True):
            if block not in self._blocks:
                break
            self._blocks.touch(block)
            matched = end
        return matched

    def keep(self, blocks: Sequence[int], ends: Sequence[int]) -> None:
        """The prompt has been computed. Its last blocks go in first, so that a prefix outlives what hangs on it."""
        starts = (0, *ends)
        for at in range(len(blocks) - 1, -1, -1):
            self._blocks.put(blocks[at], ends[at] - starts[at])

    def yield_room(self, free_tokens: int) -> None:
        """Running requests need the memory: keep no more than `free_tokens`."""
        if self._blocks.used > free_tokens:
            self._blocks.shrink_to(free_tokens)
