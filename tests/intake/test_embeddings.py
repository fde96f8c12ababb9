import pytest

from forebay.domain.ability import Ability
from forebay.domain.request import Api


@pytest.mark.parametrize(
    ("given", "ascii_bytes", "prompts"),
    [("abc", 3, 1), (["a", "b"], 2, 2), ([1, 2], 8, 1), ([[1], [2, 3]], 12, 2), (None, 0, 1)],
)
def test_inputs(read, given, ascii_bytes, prompts):
    understood = read({"model": "m", "input": given, "max_tokens": 5}, Api.EMBEDDINGS)
    assert understood.request.text.ascii_bytes == ascii_bytes
    assert understood.request.needs == Ability.TEXT | Ability.EMBEDDINGS
    assert understood.request.max_output_tokens == 0
    assert understood.edits.want_usage is None
    assert (understood.request.prompts, understood.request.choices) == (prompts, 1)


def test_messages_with_parts(read):
    parts = [
        {"type": "text", "text": "ab"},
        {"type": "image_url", "image_url": {"url": "https://a.example/x"}},
    ]
    request = read({"model": "m", "messages": [{"role": "user", "content": parts}]}, Api.EMBEDDINGS).request
    assert request.text.ascii_bytes == 2
    assert Ability.IMAGE in request.needs
