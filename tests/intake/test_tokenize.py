"""Tokens of texts, and texts of tokens."""

import pytest

from forebay.domain.request import Api


@pytest.mark.parametrize("key", ["prompt", "content", "text"])
def test_every_engines_key(read, key):
    assert read({"model": "m", key: "abc"}, Api.TOKENIZE).request.text.ascii_bytes == 3


def test_messages(read):
    assert (
        read(
            {"model": "m", "messages": [{"role": "user", "content": "abc"}]}, Api.TOKENIZE
        ).request.text.messages
        == 1
    )


def test_tokens(read):
    assert read({"model": "m", "tokens": [1, 2, 3]}, Api.DETOKENIZE).request.text.ascii_bytes == 12
