import pytest

from forebay.domain.ability import Ability
from forebay.domain.request import Api


@pytest.mark.parametrize(
    ("prompt", "ascii_bytes", "answers"),
    [
        ("abc", 3, 2),
        (["abc", "de"], 5, 4),
        ([1, 2, 3], 12, 2),
        ([[1, 2], [3]], 12, 4),
        ([], 0, 2),
        (None, 0, 2),
    ],
)
def test_prompts(read, prompt, ascii_bytes, answers):
    body = {"model": "m", "prompt": prompt, "n": 2, "stream": True, "max_tokens": 7, "suffix": None}
    understood = read(body, Api.COMPLETIONS)
    assert understood.request.text.ascii_bytes == ascii_bytes
    assert understood.request.needs == Ability.TEXT | Ability.COMPLETIONS
    assert understood.request.max_output_tokens == 7
    assert understood.edits.choices == answers
    assert (understood.request.prompts, understood.request.choices) == (answers // 2, 2)


def test_token_prompts_have_prefixes(read):
    blocks = [
        read({"model": "m", "prompt": ids}, Api.COMPLETIONS).request.prefix_blocks for ids in ([1, 2], [1, 3])
    ]
    assert blocks[0] != blocks[1]


def test_a_wrong_prompt_is_refused(refused):
    assert refused({"model": "m", "prompt": {"a": 1}}, Api.COMPLETIONS).param == "prompt"
