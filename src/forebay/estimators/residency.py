"""Which endpoints hold which prefixes and which encoded media, as far as our own dispatches tell."""

import functools
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import msgspec

from forebay.domain.bounds import AtLeastOne
from forebay.domain.request import MediaItem

# A hash, its bit set and their place in an ordered dict: 124 to 184 bytes measured on CPython 3.13, as its table fills
# and doubles. The bit set takes a bit more for each slot.
ENTRY_BYTES = 192


class ResidencySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How much memory a pool may spend on knowing what its endpoints hold, in bytes, about."""

    # Of one tenant, so that none pushes out what is known of the others: 16 MiB are 87,000 blocks of 64 tokens, more
    # than the KV caches of a dozen large devices hold.
    tenant_bytes: AtLeastOne = 16 * 1024 * 1024
    # Of all tenants. Past it, the tenant that was silent for longest is forgotten.
    total_bytes: AtLeastOne = 64 * 1024 * 1024


DEFAULTS = ResidencySettings()


class Residency:
    """For each tenant, an index of hash -> bit set of slots.

    Hashes of blocks are chained, so that a flat table is a radix tree: a block is found only under its own beginning.
    A dispatch is taken to fill the engine's caches; what an engine evicts by itself is not known. A full index forgets
    what was sent longest ago, and of one prompt its end before its beginning.
    """

    def __init__(self, settings: ResidencySettings = DEFAULTS) -> None:
        self._settings = settings
        self._tenants: OrderedDict[str, _Index] = OrderedDict()
        self._entries = 0
        self._entry_bytes = ENTRY_BYTES

    def adopt(self, settings: ResidencySettings) -> None:
        """Live by new settings, from the next dispatch on."""
        self._settings = settings

    def held(self, tenant: str, slot: int, blocks: Sequence[int], media: Sequence[MediaItem]) -> None:
        """A request with these went to `slot`. Media without a hash is not remembered."""
        hashes = [item.content_hash for item in media if item.content_hash] if media else []
        if not blocks and not hashes:
            return
        index = self._tenants.get(tenant)
        if index is None:
            index = self._tenants[tenant] = _Index()
        else:
            self._tenants.move_to_end(tenant)
        self._entry_bytes = max(self._entry_bytes, ENTRY_BYTES + slot // 8)
        before = len(index.bits)
        index.add(hashes, slot)
        index.add(reversed(blocks), slot)
        index.shrink(self._settings.tenant_bytes // self._entry_bytes)
        self._entries += len(index.bits) - before
        self._shrink()

    def matched(self, tenant: str, blocks: Sequence[int]) -> dict[int, int]:
        """How many of the first blocks each endpoint holds, those that hold none left out."""
        depth: dict[int, int] = {}
        index = self._tenants.get(tenant)
        if index is None:
            return depth
        holders = 0
        for count, block in enumerate(blocks):
            here = index.bits.get(block, 0)
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

    def encoded(self, tenant: str, media: Iterable[MediaItem]) -> dict[int, int]:
        """Encoder patches of these media that each endpoint has encoded before, those with none left out."""
        patches: dict[int, int] = {}
        index = self._tenants.get(tenant)
        if index is None:
            return patches
        for item in media:
            if item.content_hash:
                for slot in _slots(index.bits.get(item.content_hash, 0)):
                    patches[slot] = patches.get(slot, 0) + item.encoder_patches
        return patches

    def forget(self, *slots: int) -> None:
        """These endpoints are gone, or have restarted with empty caches."""
        mask = sum(1 << slot for slot in set(slots))
        for index in self._tenants.values():
            index.clear(mask)
        self._entries = sum(len(index.bits) for index in self._tenants.values())

    def _shrink(self) -> None:
        most = self._settings.total_bytes // self._entry_bytes
        while self._entries > most and len(self._tenants) > 1:
            _, silent = self._tenants.popitem(last=False)
            self._entries -= len(silent.bits)


class _Index:
    """Hash -> bit set of slots, oldest entry first."""

    def __init__(self) -> None:
        # A plain dict finds its oldest entry by walking over the gaps of those deleted before: 3 to 60 us when full.
        self.bits: OrderedDict[int, int] = OrderedDict()

    def add(self, keys: Iterable[int], slot: int) -> None:
        bits, here = self.bits, 1 << slot
        for key in keys:
            if key in bits:
                bits[key] |= here
                bits.move_to_end(key)
            else:
                bits[key] = here

    def shrink(self, most: int) -> None:
        while len(self.bits) > most:
            self.bits.popitem(last=False)

    def clear(self, mask: int) -> None:
        # Of 85,000 entries this touches those that are held there: 12 ms, where a new table took 115.
        for key in [key for key, bits in self.bits.items() if bits & mask]:
            rest = self.bits[key] & ~mask
            if rest:
                self.bits[key] = rest
            else:
                del self.bits[key]


@functools.lru_cache(maxsize=256)
def _slots(bits: int) -> tuple[int, ...]:
    # Few sets are there at a time: those who have served a common beginning, and single ones.
    slots = []
    while bits:
        lowest = bits & -bits
        slots.append(lowest.bit_length() - 1)
        bits ^= lowest
    return tuple(slots)
