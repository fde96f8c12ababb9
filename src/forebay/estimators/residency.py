"""Which endpoints hold which prefixes and which encoded media, as far as our own dispatches tell."""

from collections.abc import Iterable, Iterator, Sequence

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

    def held(self, slot: int, blocks: Sequence[int], media: Iterable[MediaItem]) -> None:
        """A request with these went to `slot`. Media without a hash is not remembered."""
        for block in blocks:
            self._blocks.add(block, slot)
        for item in media:
            if item.content_hash:
                self._media.add(item.content_hash, slot)

    def matched(self, blocks: Sequence[int]) -> dict[int, int]:
        """How many of the first blocks each endpoint holds, those that hold none left out."""
        depth: dict[int, int] = {}
        holders = -1
        for count, block in enumerate(blocks):
            here = holders & self._blocks.get(block)
            if count and here != holders:
                depth.update(dict.fromkeys(_slots(holders ^ here), count))
            holders = here
            if not holders:
                return depth
        if blocks:
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
        self._bits: dict[int, int] = {}

    def get(self, key: int) -> int:
        return self._bits.get(key, 0)

    def add(self, key: int, slot: int) -> None:
        self._bits[key] = self._bits.pop(key, 0) | 1 << slot
        if len(self._bits) > self._most_entries:
            del self._bits[next(iter(self._bits))]

    def clear(self, slot: int) -> None:
        others = ~(1 << slot)
        self._bits = {key: rest for key, bits in self._bits.items() if (rest := bits & others)}


def _slots(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
