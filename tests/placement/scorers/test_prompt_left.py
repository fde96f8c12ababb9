"""What is left to compute."""

import pytest

from forebay.placement.scorers.prompt_left import PromptLeft


@pytest.mark.parametrize(
    ("held", "left"), [(0.0, 200.0), (59.0, 200.0), (60.0, 140.0), (150.0, 50.0), (999.0, 0.0)]
)
def test_a_match_counts_from_a_share_of_the_prompt_on(held, left, row, columns, ask):
    question = ask(text_tokens=200, cached={1: held})
    scorer = PromptLeft(0.3)
    assert [scorer.score(question, row(slot)) for slot in range(2)] == [200.0, left]
    assert scorer.score(question, columns([row(0), row(1)])).tolist() == [200.0, left]


def test_nothing_held_leaves_all(row, ask):
    assert PromptLeft(0.3).score(ask(text_tokens=200), row()) == 200.0
