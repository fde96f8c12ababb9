"""Was this the right answer? Compared byte for byte first, and by meaning when the bytes differ."""

import json
import re
from typing import Any, Literal, NamedTuple

from forebay.testing.bench import wire

Finding = Literal["exact", "request-rewritten", "answer-rewritten", "wrong"]

_ID = re.compile(rb'"id":\s*"chatcmpl-([0-9a-f]{32})"')


class Verdict(NamedTuple):
    """A finding, whether the engine saw other request bytes than were sent, and what was wrong (empty when right)."""

    finding: Finding
    request_rewritten: bool = False
    why: str = ""


class Want:
    """The right answer to one request body."""

    def __init__(self, body: bytes, *, chunks: int = 0) -> None:
        """`chunks` is the number of content chunks of a streamed answer with usage; 0 means not streamed."""
        self._chunks = chunks
        self._digest = wire.body_digest(body)
        self._content = wire.content_digest(body)
        self.whole = self._answer(self._digest)

    def _answer(self, digest: bytes) -> bytes:
        if self._chunks:
            return wire.StreamText(digest, self._content, self._chunks, usage=True).whole()
        return wire.reply(digest, self._content)

    def judge(self, status: int, answer: bytes) -> Verdict:
        """Compare an answer with the right one."""
        if status != 200:
            return Verdict("wrong", why=f"status {status}: {answer[:200]!r}")
        if answer == self.whole:
            return Verdict("exact")
        found = _ID.search(answer)
        if found is None:
            return Verdict("wrong", why=f"no request digest in {answer[:200]!r}")
        rewritten = found[1] != self._digest
        expected = self._answer(found[1])
        if answer == expected:
            return Verdict("request-rewritten", rewritten)
        if meaning(answer) == meaning(expected) or essence(answer) == essence(expected):
            return Verdict("answer-rewritten", rewritten)
        return Verdict(
            "wrong",
            rewritten,
            f"{len(answer)} bytes where {len(expected)} were due, ending {answer[-120:]!r}",
        )


def meaning(answer: bytes) -> list[Any]:
    """The JSON values of an answer in order, with None for anything unreadable; a stream gives one value for each event."""
    if not answer.startswith((b"data:", b":", b"event:")):
        return [_value(answer)]
    events = (line[5:].strip() for line in answer.splitlines() if line.startswith(b"data:"))
    return ["[DONE]" if event == b"[DONE]" else _value(event) for event in events]


def essence(answer: bytes) -> tuple[str, str, int, bool]:
    """What a client shows or counts of an answer: its text, why it ended, its total tokens, and whether it says it is whole.

    A router may drop fields that mean nothing, or tell why a stream ended in a chunk of its own.
    """
    text, reason, tokens, done = "", "", 0, False
    for value in meaning(answer):
        done = done or value == "[DONE]"
        if not isinstance(value, dict):
            continue
        for choice in value.get("choices", ()):
            text += choice.get("message", choice.get("delta", {})).get("content") or ""
            reason = choice.get("finish_reason") or reason
        tokens = (value.get("usage") or {}).get("total_tokens", tokens)
    return text, reason, tokens, done


def _value(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
