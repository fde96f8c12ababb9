"""How long each prompt was worked on, where several may be done by one step."""

from forebay.estimators.turns import Turns


def test_a_prompt_is_told_once_another_has_come_by_itself():
    turns = Turns()
    assert turns.add(300, 100, last=False) is None
    assert turns.add(200, 100, last=False) == (300, 100)


def test_prompts_of_one_step_are_one():
    turns = Turns()
    turns.add(300, 100, last=False)
    assert turns.add(0, 100, last=False) is None
    assert turns.add(4, 100, last=False) is None
    assert turns.add(90, 100, last=False) == (304, 300)


def test_the_last_one_is_told_at_once_with_those_before():
    turns = Turns()
    assert turns.add(300, 100, last=True) == (300, 100)
    turns.add(300, 100, last=False)
    assert turns.add(200, 100, last=True) == (500, 200)
    assert turns.add(10, 100, last=True) == (10, 100)
