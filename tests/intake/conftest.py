"""Helpers to understand bodies with a known family."""

import json
from pathlib import Path

import pytest

from forebay.domain.request import Api
from forebay.intake.refusal import Refusal
from forebay.intake.settings import IntakeSettings
from forebay.intake.tokens.registry import build
from forebay.intake.understand import understand

CASES = Path(__file__).parents[1] / "cases"
FAMILY = build("qwen2.5-vl")


@pytest.fixture
def case():
    """Bytes of a case file."""
    return lambda name: (CASES / name).read_bytes()


@pytest.fixture
def read():
    """Understand a body, given as bytes or as a value."""

    def read_body(body, api=Api.CHAT, family=FAMILY, incoming=(), **settings):
        data = body if isinstance(body, bytes | bytearray) else json.dumps(body).encode()
        return understand(api, data, IntakeSettings(**settings), "r1", lambda _: family, **dict(incoming))

    return read_body


@pytest.fixture
def refused(read):
    """The refusal of a body."""

    def read_refusal(body, api=Api.CHAT, **settings):
        with pytest.raises(Refusal) as caught:
            read(body, api, **settings)
        return caught.value

    return read_refusal


@pytest.fixture
def chat():
    """A chat body with these content parts."""

    def body(*parts, **more):
        return {"model": "m", "messages": [{"role": "user", "content": list(parts)}], **more}

    return body
