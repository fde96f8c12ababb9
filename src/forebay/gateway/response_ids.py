"""Ids of responses that say where the response is kept, to those who hold the key and to nobody else.

An engine keeps its responses to itself, so that whatever names one must go where it was made: from another process, from
another gateway, after a restart. So the id that a client sees carries its engine, and nothing is remembered here:

    ENGINE'S ID _ base64url(tag of the endpoint (6 bytes), seal (9 bytes))

The tag is a keyed hash of the endpoint's address. The seal is one of the tag, the tenant and the engine's id, so that one
tenant's ids are of no use to another. See decision 14.
"""

import base64
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from forebay.intake.form import Seat
from forebay.intake.refusal import Refusal

# Two of n endpoints share a tag with a chance of n^2 / 2^49: 2e-9 for 1,000.
_TAG_BYTES = 6
# A guess hits with a chance of 2^-72.
_SEAL_BYTES = 9
# What would climb out of the path that it stands in.
_NO_IDS = frozenset(["", ".", ".."])
_SUFFIX_SIGNS = 1 + (_TAG_BYTES + _SEAL_BYTES) * 4 // 3


class Home(NamedTuple):
    """An endpoint that may keep responses: the model of its pool, its slot, its address."""

    model: str
    slot: int
    url: str


class ResponseIds:
    """Seals the ids that go out, and finds the seats of those that come back."""

    def __init__(self, key: bytes, homes: Iterable[Home]) -> None:
        """`key` is the same in every process and gateway that serves these endpoints: up to 64 bytes, secret or empty."""
        self._key = key
        self._homes = {self._tag(home.url): home for home in homes}
        self._tags: Mapping[int, bytes] = {home.slot: tag for tag, home in self._homes.items()}

    def sealed(self, engine_id: str, slot: int, tenant: str) -> str:
        """The id that the client shall see, for a response kept at `slot`. Unknown slots leave it as it is."""
        tag = self._tags.get(slot)
        if tag is None:
            return engine_id
        return engine_id + self._suffix(tag, tenant, engine_id)

    def seat_of(self, sealed_id: str, tenant: str, param: str | None = None) -> Seat:
        """Where the response is kept. Raises a Refusal with 404 for ids that were not sealed here for this tenant."""
        engine_id, suffix = sealed_id[:-_SUFFIX_SIGNS], sealed_id[-_SUFFIX_SIGNS:]
        try:
            told = base64.b64decode(suffix[1:], b"-_", validate=True)
        except ValueError:
            told = b""
        tag = told[:_TAG_BYTES]
        right = self._suffix(tag, tenant, engine_id).encode()
        if not hmac.compare_digest(suffix.encode("utf-8", "replace"), right) or engine_id in _NO_IDS:
            raise Refusal(404, "response_not_found", "there is no response of this id", param)
        home = self._homes.get(tag)
        if home is None:
            message = "the engine that kept this response is no longer part of the fleet"
            raise Refusal(404, "response_not_found", message, param)
        return Seat(home.model, home.slot, engine_id)

    def _suffix(self, tag: bytes, tenant: str, engine_id: str) -> str:
        return "_" + base64.urlsafe_b64encode(tag + self._seal(tag, tenant, engine_id)).decode()

    def _tag(self, url: str) -> bytes:
        return hashlib.blake2b(
            url.encode(), digest_size=_TAG_BYTES, key=self._key, person=b"endpoint"
        ).digest()

    def _seal(self, tag: bytes, tenant: str, engine_id: str) -> bytes:
        told = b"\0".join((tag, tenant.encode(), engine_id.encode("utf-8", "replace")))
        return hashlib.blake2b(told, digest_size=_SEAL_BYTES, key=self._key, person=b"response").digest()
