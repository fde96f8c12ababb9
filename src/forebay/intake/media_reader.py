"""Turns one media part into a priced MediaItem: decode, probe, limits, price. Nothing of the medium is kept."""

from typing import NamedTuple

import msgspec
import xxhash

from forebay.domain.ability import IMAGE_FORMATS, Ability
from forebay.domain.request import MediaItem
from forebay.intake.document import malformed
from forebay.intake.media.dataurl import DataURL, DataURLError, decode_data_url, decode_media, is_data_url
from forebay.intake.media.header import MalformedMedia, MediaHeader
from forebay.intake.media.limits import MediaRefusal, check, check_count
from forebay.intake.media.probe import probe
from forebay.intake.media_urls import check_url
from forebay.intake.refusal import Refusal, bad_request
from forebay.intake.settings import IntakeSettings
from forebay.intake.skeleton import Skeleton
from forebay.intake.tokens.family import Family, MediaCost
from forebay.intake.tokens.generic import Generic
from forebay.intake.tokens.price import price

_NAMES = {Ability.IMAGE: "image", Ability.AUDIO: "audio", Ability.VIDEO: "video"}
_UNKNOWN_FAMILY = Generic()
_VISION = Ability.IMAGE | Ability.VIDEO


class Place(NamedTuple):
    """Where a part stands: indices for the trace, and the path for messages."""

    message_index: int
    part_index: int
    path: str


class MediaReader:
    """Reads the media of one request, in order. `items` and `needs` grow with each."""

    __slots__ = ("_family", "_is_usual", "_settings", "_skeleton", "items", "needs")

    def __init__(
        self, family: Family | None, settings: IntakeSettings, skeleton: Skeleton, *, overridden: bool = False
    ) -> None:
        """Prices are approximate without a family, and when the client has `overridden` how media are processed."""
        self._is_usual = not overridden
        self._family = family or _UNKNOWN_FAMILY
        self._settings = settings
        self._skeleton = skeleton
        self.items: list[MediaItem] = []
        self.needs = Ability(0)

    def url(self, modality: Ability, url: str, place: Place, detail: str = "") -> int:
        """Read a data URL, or accept a remote one. Returns a hash that stands for the medium. Raises a Refusal.

        `detail` is OpenAI's, as the part states it.
        """
        if is_data_url(url):
            return self._decoded(modality, self._decode(url, "", modality, place), place, detail)
        check_url(url, self._settings.media_urls, place.path)
        self.unseen(modality, place, detail)
        return xxhash.xxh3_128_intdigest(url.encode())

    def data(self, modality: Ability, data: str, declared_mime: str, place: Place) -> int:
        """Read bare base64, or the data URL that stands there by mistake. Returns its hash. Raises a Refusal."""
        return self._decoded(modality, self._decode(data, declared_mime, modality, place), place)

    def file(self, modality: Ability, data: memoryview, declared_mime: str, place: Place) -> None:
        """Read a medium that stands in a form as it is. Raises a Refusal."""
        media = DataURL(declared_mime.lower(), data, xxhash.xxh3_128_intdigest(data))
        self._decoded(modality, media, place)

    def unseen(self, modality: Ability, place: Place, detail: str = "") -> None:
        """Take in a medium whose bytes are not in the request, at the family's fallback price."""
        header = MediaHeader("", modality, frames=0 if modality is Ability.VIDEO else 1, sized=False)
        self._add(header, self._price(header, detail), 0, 0, place, exact=False)

    def check_budget(self) -> None:
        """Raise a Refusal when all pictures and clips together cost more than one request may."""
        budget = self._settings.max_vision_tokens
        spent = sum(item.tokens for item in self.items if item.modality in _VISION)
        if budget and spent > budget:
            message = f"the request's {len(self.items)} media items cost {spent} > {budget} vision tokens"
            raise bad_request("too_many_vision_tokens", message)

    def _decode(self, string: str, declared_mime: str, modality: Ability, place: Place) -> DataURL:
        head, payload = self._skeleton.claim(string)
        try:
            if payload is None:
                return decode_media(string, declared_mime)
            if not head:
                return _checked(decode_media(payload, declared_mime), payload)
            declared = decode_data_url(f"{head}AAAA").declared_mime
            return _checked(decode_media(payload, declared), payload)
        except DataURLError as fault:
            raise bad_request(f"invalid_{_NAMES[modality]}", str(fault), place.path) from None

    def _decoded(self, modality: Ability, media: DataURL, place: Place, detail: str = "") -> int:
        header = self._probed(modality, media, place)
        refusal = check(header, self._settings.media, len(media.data))
        if refusal is not None:
            raise _refused(refusal, place)
        if header.modality is not modality:
            # Priced as what the part says it is, since that is what the engine will make of it.
            header = MediaHeader(header.mime, modality, duration_us=header.duration_us, sized=False)
        if header.mime in IMAGE_FORMATS:
            self.needs |= IMAGE_FORMATS[header.mime]
        cost = self._price(header, detail)
        self._add(header, cost, len(media.data), media.content_hash, place, exact=cost.exact and header.sized)
        return media.content_hash

    def _probed(self, modality: Ability, media: DataURL, place: Place) -> MediaHeader:
        try:
            header = probe(media.data)
        except MalformedMedia as fault:
            raise bad_request(f"invalid_{_NAMES[modality]}", str(fault), place.path) from None
        if header is None:
            if modality is Ability.IMAGE and _is_markup(media):
                raise bad_request("unsupported_image_format", "image/svg+xml is not taken", place.path)
            mime = media.declared_mime[:64]
            return MediaHeader(mime, modality, frames=0 if modality is Ability.VIDEO else 1, sized=False)
        if modality is Ability.IMAGE and header.modality is not Ability.IMAGE:
            raise bad_request("unsupported_image_format", f"{header.mime} is no image", place.path)
        return header

    def _price(self, header: MediaHeader, detail: str) -> MediaCost:
        cost = price(self._family.detailed(detail) if detail else self._family, header)
        return cost if cost is not None else _generic(header)

    def _add(
        self,
        header: MediaHeader,
        cost: MediaCost,
        size_bytes: int,
        content_hash: int,
        place: Place,
        *,
        exact: bool,
    ) -> None:
        self.items.append(
            MediaItem(
                modality=header.modality,
                message_index=place.message_index,
                part_index=place.part_index,
                mime=header.mime,
                width=header.width,
                height=header.height,
                frames=header.frames,
                duration_us=header.duration_us,
                orientation=header.orientation,
                size_bytes=size_bytes,
                content_hash=content_hash,
                tokens=0 if cost.cross_attended else cost.tokens,
                wrapper_tokens=cost.wrapper_tokens,
                encoder_patches=cost.encoder_patches,
                exact=exact and self._is_usual,
            )
        )
        self.needs |= header.modality
        refusal = check_count(len(self.items), self._settings.media)
        if refusal is not None:
            raise _refused(refusal, place)


def _generic(header: MediaHeader) -> MediaCost:
    cost = price(_UNKNOWN_FAMILY, header)
    assert cost is not None
    return cost


def _checked(media: DataURL, payload: memoryview) -> DataURL:
    """The payload was taken out of its JSON string unread. A strict decode proves it clean; else the string is parsed."""
    padding = bytes(payload[-2:]).count(b"=")
    if len(payload) // 4 * 3 - padding != len(media.data) or len(payload) % 4:
        try:
            msgspec.json.decode(b"".join((b'"', payload, b'"')), type=str)
        except msgspec.DecodeError:
            raise malformed() from None
    return media


def _is_markup(media: DataURL) -> bool:
    return "svg" in media.declared_mime or bytes(media.data[:256]).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(
        b"<"
    )


def _refused(refusal: MediaRefusal, place: Place) -> Refusal:
    return bad_request(refusal.code, refusal.message, place.path)
