"""Which endpoints hold which prefixes and which encoded media, as far as our own dispatches tell."""

import functools
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from forebay.domain.request import MediaItem

# 65,536 blocks of hash and bit set are about 10 MB, and cover the prompts of thousands of conversations.
MOST_ENTRIES = 65_536


class Residency:
    """Two bounded tables of hash -> bit set of slots. When full, the entry dispatched longest ago is forgotten.

    A dispatch is taken to fill the engine's caches; what an engine evicts by itself is not known.
    """

    def __init__(self, most_entries: int = MOST_ENTRIES) -> None:
        self._blocks = _Holders(most_entries)
        self._media = _Holders(most_entries)

    def held(self, slot: int, blocks: Sequence[int], media: Sequence[MediaItem]) -> None:
        """A request with these went to `slot`. Media without a hash is not remembered."""
        self._blocks.add(blocks, slot)
        if media:
            self._media.add([item.content_hash for item in media if item.content_hash], slot)

    def matched(self, blocks: Sequence[int]) -> dict[int, int]:
        """How many of the first blocks each endpoint holds, those that hold none left out."""
        depth: dict[int, int] = {}
        holders = 0
        for count, block in enumerate(blocks):
            here = self._blocks.get(block)
            if count:
                here &= holders
                if here != holders:
                    depth.update(dict.fromkeys(_slots(holders ^ here), count))
            holders = here
            if not holders:
                return depth
        if holders:
            depth.update(dict.fromkeys(_slots(holders), len(blocks)))
        return depth

    def encoded(self, media: Iterable[MediaItem]) -> dict[int, int]:
        """Encoder patches of these media that each endpoint has encoded before, those with none left out."""
        patches: dict[int, int] = {}
        for item in media:
            if item.content_hash:
                for slot in _slots(self._media.get(item.content_hash)):
                    patches[slot] = patches.get(slot, 0) + item.encoder_patches
        return patches

    def forget(self, slot: int) -> None:
        """The endpoint is gone, or has restarted with empty caches."""
        self._blocks.clear(slot)
        self._media.clear(slot)


class _Holders:
    """Hash -> bit set of slots, oldest entry first."""

    def __init__(self, most_entries: int) -> None:
        self._most_entries = most_entries
        # A plain dict finds its oldest entry by walking over the gaps of those deleted before: 3 to 60 us when full.
        self._bits: OrderedDict[int, int] = OrderedDict()

    def get(self, key: int) -> int:
        return self._bits.get(key, 0)

    def add(self, keys: Iterable[int], slot: int) -> None:
        bits, here = self._bits, 1 << slot
        for key in keys:
            if key in bits:
                bits[key] |= here
                bits.move_to_end(key)
            else:
                bits[key] = here
        while len(bits) > self._most_entries:
            bits.popitem(last=False)

    def clear(self, slot: int) -> None:
        others = ~(1 << slot)
        kept = ((key, rest) for key, bits in self._bits.items() if (rest := bits & others))
        self._bits = OrderedDict(kept)


@functools.lru_cache(maxsize=256)
def _slots(bits: int) -> tuple[int, ...]:
    # Few sets are there at a time: those who have served a common beginning, and single ones.
    slots = []
    while bits:
        lowest = bits & -bits
        slots.append(lowest.bit_length() - 1)
        bits ^= lowest
    return tuple(slots)
