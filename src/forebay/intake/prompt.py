"""Collects a prompt in the order in which an engine reads it: what to measure, what to hash, what to price."""

import msgspec
import xxhash

from forebay.domain.ability import Ability
from forebay.domain.request import TextMeasure
from forebay.intake.document import malformed
from forebay.intake.media_reader import MediaReader, Place
from forebay.intake.prefix import Medium, Prefix, prefix_of
from forebay.intake.settings import IntakeSettings
from forebay.intake.skeleton import Skeleton
from forebay.intake.text import measure

# Byte-level tokenizers make some four bytes of English one token.
_BYTES_PER_TOKEN = 4


def turn_mark(role: str) -> str:
    """What stands between two messages of a prompt, for telling prompts apart."""
    return f"\n{role}\n"


class Prompt:
    """Grows part by part. Every method that takes media may raise a Refusal.

    `keys_read` counts the keys of contents and media addresses that were read, for `check_hidden_media`.
    `uuids` counts the parts that name themselves for an engine's caches.
    `holds_parts` tells whether some content was a list, `holds_unseen` whether a medium was read without its address.
    """

    __slots__ = (
        "_segments",
        "_settings",
        "_skeleton",
        "_texts",
        "_unread_bytes",
        "holds_parts",
        "holds_unseen",
        "keys_read",
        "media",
        "trusts_cache_keys",
        "turns",
        "url_settings",
        "uuids",
    )

    def __init__(self, media: MediaReader, skeleton: Skeleton, settings: IntakeSettings) -> None:
        self.media = media
        self.turns = 0
        self.keys_read = 0
        self.uuids = 0
        self.holds_parts = False
        self.holds_unseen = False
        self.url_settings = settings.media_urls
        self.trusts_cache_keys = settings.trust_cache_keys
        self._skeleton = skeleton
        self._settings = settings
        self._texts: list[str] = []
        self._segments: list[str | Medium] = []
        self._unread_bytes = 0

    def turn(self, role: str) -> None:
        """Begin a message. Its role tells prompts apart, and is no text of the client's."""
        self.turns += 1
        self._segments.append(turn_mark(role))

    def text(self, text: str | None) -> None:
        """Add text as parsed."""
        if not text:
            return
        self._add(self._whole(text) if self._skeleton.payloads else text)

    def tokens(self, ids: list[int]) -> None:
        """Add text given as token ids."""
        self._unread_bytes += _BYTES_PER_TOKEN * len(ids)
        self._segments.append(Medium(xxhash.xxh3_128_intdigest(msgspec.json.encode(ids)), len(ids)))

    def json(self, raw: bytes) -> None:
        """Add JSON that the engine will write into its prompt, such as tool schemas."""
        if raw and raw != b"null":
            self._add(_decoded(self._skeleton.restored(raw)))

    def url(self, modality: Ability, url: str, place: Place, detail: str = "") -> None:
        """Add a medium given by a data URL or a remote one. `detail` is OpenAI's, as the part states it."""
        self._medium(self.media.url(modality, url, place, detail))

    def data(self, modality: Ability, data: str, declared_mime: str, place: Place) -> None:
        """Add a medium given as base64."""
        self._medium(self.media.data(modality, data, declared_mime, place))

    def unseen(self, modality: Ability, place: Place) -> None:
        """Add a medium whose bytes are not in the request."""
        self.media.unseen(modality, place)
        self.holds_unseen = True
        self._medium(0)

    def document(self, data: str) -> None:
        """Add a document that is not read. It counts as a few pages of text."""
        self._skeleton.claim(data)
        self.unread(self._settings.document_bytes)

    def unread(self, size_bytes: int) -> None:
        """Add so much text that is not at hand, or stands elsewhere already."""
        self._unread_bytes += max(0, size_bytes)

    def measure(self) -> TextMeasure:
        """All text by script."""
        return measure(self._texts, self.turns, self._unread_bytes)

    def prefix(self) -> Prefix:
        """Chained hashes of its beginning."""
        return prefix_of(self._segments)

    def _medium(self, content_hash: int) -> None:
        """The medium that was read last takes its place in the prompt."""
        item = self.media.items[-1]
        self._segments.append(Medium(content_hash, item.tokens + item.wrapper_tokens))

    def _add(self, text: str) -> None:
        self._texts.append(text)
        self._segments.append(text)

    def _whole(self, text: str) -> str:
        try:
            return self._skeleton.whole(text)
        except msgspec.DecodeError:
            raise malformed() from None


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise malformed() from None
