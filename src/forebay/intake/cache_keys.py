"""Keys that clients give for an engine's caches, made their tenant's own.

vLLM and SGLang look states up by a `cache_salt` that the client sends, and vLLM looks media up by a `uuid` beside them, and believes
both. A client that knows or guesses another's could see by the time it takes what the other has asked, or put a picture
of its own in place of the other's. So a salt becomes a digest of itself and of the tenant, and a `uuid` becomes null: the
engine then names the medium by its content. Nothing is read or changed in bodies without such keys.
"""

import hashlib
from collections.abc import Iterator

import msgspec

from forebay.intake.members import Members, Span, items_of, layout_of
from forebay.intake.refusal import bad_request
from forebay.intake.skeleton import Skeleton
from forebay.intake.splice import Edit

SALTS = ("cache_salt", "extra_key")
# Members that hold content parts, and what in a message is a model's own words.
_WITH_PARTS = frozenset(
    [
        *("messages", "input", "prompt", "content", "text", "data", "query", "documents", "texts"),
        *("text_1", "text_2", "queries", "data_1", "data_2", "items"),
    ]
)
_WORDS = frozenset(["tool_calls", "function_call", "arguments"])
_UUID = b"uuid"
_ESCAPED = b"\\u00"
_SALT = msgspec.json.Decoder(str | list[str])
# vLLM knows a part by its type, and without one by its medium.
_MARKS = frozenset(
    ["type", "image_url", "audio_url", "video_url", "input_audio", "image_embeds", "audio_embeds"]
)


def salt_edits(members: Members, skeleton: Skeleton, tenant: str) -> list[Edit]:
    """Every salt, replaced by the tenant's. Raises a Refusal for one that is no text."""
    edits = []
    for key in SALTS:
        salt = members.get(key, _SALT)
        if salt is not None:
            own = (
                [_salted(each, tenant) for each in salt] if isinstance(salt, list) else _salted(salt, tenant)
            )
            edits.append(_edit(skeleton, members.span(key), msgspec.json.encode(own)))
    return edits


def uuid_edits(skeleton: Skeleton, expected: int) -> list[Edit]:
    """The `uuid` of each content part, replaced by null. Raises a Refusal when not all of the `expected` ones are found."""
    found: list[Span] = []
    for key, span in layout_of(skeleton.text).spans.items():
        if key in _WITH_PARTS:
            inner = skeleton.text[span.start : span.stop]
            found += [Span(span.start + at.start, span.start + at.stop) for at in _uuids(inner)]
    if len(found) < expected:
        raise bad_request("cache_key_not_trusted", "a `uuid` stands where it cannot be replaced")
    return [_edit(skeleton, span, b"null") for span in found]


def _salted(salt: str, tenant: str) -> str:
    key = tenant.encode()[: hashlib.blake2b.MAX_KEY_SIZE]
    return hashlib.blake2b(salt.encode(), digest_size=16, key=key, person=b"cache salt").hexdigest()


def _uuids(text: bytes) -> Iterator[Span]:
    """Where the values of `uuid` lie in content parts at any depth of a JSON value."""
    if _UUID not in text and _ESCAPED not in text:
        return
    if text.startswith(b"["):
        spans = list(items_of(text))
    elif text.startswith(b"{"):
        layout = layout_of(text)
        if "uuid" in layout.spans and not _MARKS.isdisjoint(layout.spans):
            if "uuid" in layout.hidden:
                raise bad_request("duplicate_key", "the key comes more than once", "uuid")
            yield layout.spans["uuid"]
        spans = [span for key, span in layout.spans.items() if key not in _WORDS and key != "uuid"]
    else:
        return
    for start, stop in spans:
        for span in _uuids(text[start:stop]):
            yield Span(start + span.start, start + span.stop)


def _edit(skeleton: Skeleton, span: Span, text: bytes) -> Edit:
    return Edit(skeleton.place(span.start), skeleton.place(span.stop), text)
