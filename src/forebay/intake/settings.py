"""Bounds on what one request may hold, each with its unit and the reason for its default."""

import msgspec

from forebay.domain.bounds import AtLeastOne, Count
from forebay.intake.media.limits import MediaLimits


class MediaUrlSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which remote media URLs are passed on for the engine to fetch. The gateway itself fetches nothing.

    `allow` lists hosts, exact (`media.example.com`) or with all below them (`.example.com`), for https, or with
    `http://` before them for both schemes. Empty, the default: any https URL whose host is a dotted name.
    """

    allow: tuple[str, ...] = ()


class IntakeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds on one body. All are inclusive.

    `max_depth`: levels of nesting. Python's parser, which engines use, fails near 1,000; the deepest tool schemas in
    use are some 30 deep.
    `max_elements`: values in all arrays and objects. A body of 32 MiB could hold 16 million, which would take gigabytes
    once read; the longest tool-using conversations have some 20,000, and a prompt as token ids up to 200,000.
    `max_vision_tokens`: tokens of all pictures and clips of a request, 0 for no bound. It depends on the engines, so
    that there is no good default.
    `trust_cache_keys`: whether the keys that clients give for an engine's caches (`cache_salt`, `extra_key`, the `uuid` of media)
    reach it as they are. Off, they are made the tenant's own, so that no client can probe or poison another's.
    `trust_engine_keys`: whether keys that steer an engine (`kv_transfer_params`, `rid`, `session_params`, `bootstrap_*`, ranks)
    may come from clients. Off, they are refused: by them a client could read what is another's, or send an engine to a host of its own.
    `document_bytes`: text that a file is counted as when its pages are not read (PDF): about ten pages.
    """

    max_depth: AtLeastOne = 128
    max_elements: AtLeastOne = 250_000
    max_vision_tokens: Count = 0
    document_bytes: Count = 20_000
    trust_cache_keys: bool = False
    trust_engine_keys: bool = False
    media: MediaLimits = MediaLimits()
    media_urls: MediaUrlSettings = MediaUrlSettings()
