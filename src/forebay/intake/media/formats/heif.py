"""HEIF, which holds HEIC and AVIF pictures: the properties of the primary item, and the frames of a sequence.

Source: ISO/IEC 23008-12, sections 6.5 and 9.3; ISO/IEC 14496-12, section 8.11. A picture made of tiles is an item of
its own (`grid`), with the size of the whole among its properties.
"""

from collections.abc import Iterator
from struct import Struct

from forebay.domain.ability import Ability
from forebay.intake.media.boxes import Box, Budget, first, walk
from forebay.intake.media.header import Buffer, MalformedMedia, MediaHeader, image, unsized
from forebay.intake.media.mp4_track import read_tracks

MIME, AVIF, HEIC = "image/heif", "image/avif", "image/heic"
AVIF_BRANDS = frozenset([b"avif", b"avis"])
HEIC_BRANDS = frozenset([b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"])
# A burst of a phone has hundreds of items and properties.
MAX_BOXES, MAX_ITEMS, MAX_PROPERTIES = 2_048, 4_096, 64

_U16, _U32 = Struct(">H"), Struct(">I")
_SIZE = Struct(">4xII")
_CLAP = Struct(">IIII")

# Bytes that the payload of each property read here has at least.
_LEAST_BYTES = {b"ispe": 12, b"clap": 16, b"irot": 1, b"imir": 1}
# (quarter turns against the clock, mirror: 0 top to bottom, 1 left to right, None) as EXIF orientation.
_ORIENTATIONS = {
    (0, None): 1, (1, None): 8, (2, None): 3, (3, None): 6,
    (0, 0): 4, (1, 0): 5, (2, 0): 2, (3, 0): 7,
    (0, 1): 2, (1, 1): 7, (2, 1): 4, (3, 1): 5,
}  # fmt: skip


def matches(head: bytes) -> bool:
    """See Format."""
    return head[4:8] == b"ftyp" and not _brands(head).isdisjoint(AVIF_BRANDS | HEIC_BRANDS)


def probe(data: Buffer) -> MediaHeader:
    """Size and frames, at least 1.

    Decoders of HEIC turn and mirror by themselves, so that its size is the upright one. Pillow gives an AVIF as stored,
    with the turn as EXIF orientation.
    """
    mime = AVIF if _brands(bytes(data[:64])) & AVIF_BRANDS else HEIC
    budget = Budget(MAX_BOXES)
    parts = {box.kind: box for box in walk(data, 0, len(data), budget) if box.kind in (b"meta", b"moov")}
    frames, size = _sequence(data, parts.get(b"moov"), budget)
    turns, mirror = 0, None
    if b"meta" in parts:
        size, turns, mirror = _primary(data, parts[b"meta"], budget) or (size, 0, None)
    elif not frames:
        raise MalformedMedia(f"{mime}: no meta box")
    if size == (0, 0):
        return unsized(mime, Ability.IMAGE)
    if mime == HEIC:
        return image(mime, *(size[::-1] if turns % 2 else size), max(1, frames))
    return image(mime, *size, max(1, frames), _ORIENTATIONS[turns, mirror])


def _brands(head: bytes) -> set[bytes]:
    end = min(int.from_bytes(head[:4], "big"), len(head))
    return {head[8:12], *(head[at : at + 4] for at in range(16, end - 3, 4))}


def _sequence(data: Buffer, moov: Box | None, budget: Budget) -> tuple[int, tuple[int, int]]:
    """Frames and size of the first picture track."""
    if moov is not None:
        for track in read_tracks(data, moov, budget):
            if track.handler == b"pict":
                return track.frames, (track.width, track.height)
    return 0, (0, 0)


def _primary(data: Buffer, meta: Box, budget: Budget) -> tuple[tuple[int, int], int, int | None] | None:
    """Size after cropping, quarter turns and mirror of the primary item; None when no size is said."""
    size, turns, mirror = (0, 0), 0, None
    for box in _properties(data, meta, budget):
        if box.end - box.start < _LEAST_BYTES.get(box.kind, 0):
            continue
        if box.kind == b"ispe":
            size = _SIZE.unpack_from(data, box.start)
        elif box.kind == b"clap":
            size = _cropped(size, *_CLAP.unpack_from(data, box.start))
        elif box.kind == b"irot":
            turns = data[box.start] & 3
        elif box.kind == b"imir":
            mirror = data[box.start] & 1
    return (size, turns, mirror) if size != (0, 0) else None


def _cropped(
    size: tuple[int, int], width: int, width_over: int, height: int, height_over: int
) -> tuple[int, int]:
    """The clean aperture, where it is one within `size`."""
    if width_over and height_over:
        inner = width // width_over, height // height_over
        if 1 <= inner[0] <= size[0] and 1 <= inner[1] <= size[1]:
            return inner
    return size


def _properties(data: Buffer, meta: Box, budget: Budget) -> Iterator[Box]:
    """Properties of the primary item, in the order in which they are applied."""
    after_flags = meta.start + 4
    children = {box.kind: box for box in walk(data, after_flags, meta.end, budget)}
    if b"pitm" not in children or b"iprp" not in children:
        return
    container = first(data, children[b"iprp"], b"ipco", budget)
    if container is None:
        return
    known = list(walk(data, container.start, container.end, budget))
    item = _item_id(data, children[b"pitm"].start)
    for box in walk(data, children[b"iprp"].start, children[b"iprp"].end, budget):
        if box.kind == b"ipma":
            yield from (known[index - 1] for index in _associated(data, box, item) if 0 < index <= len(known))


def _item_id(data: Buffer, pitm: int) -> int:
    return int((_U32 if data[pitm] else _U16).unpack_from(data, pitm + 4)[0])


def _associated(data: Buffer, ipma: Box, item: int) -> list[int]:
    """Numbers of the properties of `item`, counted from 1."""
    number = _U32 if data[ipma.start] else _U16
    wide = data[ipma.start + 3] & 1
    (claimed,) = _U32.unpack_from(data, ipma.start + 4)
    at = ipma.start + 8
    for _ in range(min(claimed, MAX_ITEMS)):
        if at >= ipma.end:
            break
        (owner,) = number.unpack_from(data, at)
        count, at = data[at + number.size], at + number.size + 1
        if owner == item:
            count = min(count, MAX_PROPERTIES)
            if wide:
                return [_U16.unpack_from(data, at + 2 * each)[0] & 0x7FFF for each in range(count)]
            return [data[at + each] & 0x7F for each in range(count)]
        at += count * (2 if wide else 1)
    return []
