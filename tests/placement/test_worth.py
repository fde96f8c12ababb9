"""What a second of waiting, and the size of a request, are worth."""

import pytest

from forebay.domain.pace import Pace
from forebay.placement.worth import size_worth, wait_worth


@pytest.mark.parametrize(
    ("weight", "answer", "first", "worth"),
    [
        (1.8, 10.0, 0.5, 36.0),
        (1.0, 10.0, 0.5, 20.0),
        (1.8, 0.1, 0.5, 1.0),  # no first token is worth less than what follows
        (1.8, 1000.0, 0.001, 300.0),
    ],
)
def test_a_wait_is_worth_its_share_of_an_answer(weight, answer, first, worth, ask):
    pace = Pace(answer_seconds=answer, first_token_seconds=first)
    assert wait_worth(weight)(ask(pace=pace)) == pytest.approx(worth)


def test_size_counts_by_a_power_of_its_share_of_the_mean(ask):
    pace = Pace(answer_seconds=4.0, prompt_tokens=1000.0)
    assert size_worth(0.5)(ask(text_tokens=250, pace=pace)) == pytest.approx(4.0 * 0.5)
    assert size_worth(0.0)(ask(text_tokens=250, pace=pace)) == pytest.approx(4.0)
    assert size_worth(0.5)(ask(text_tokens=0, pace=pace)) > 0


def test_another_ask_has_a_number_of_its_own(ask):
    worth = size_worth(1.0)
    small, large = ask(text_tokens=100), ask(text_tokens=300)
    assert worth(large) == pytest.approx(3 * worth(small))
    assert worth(small) == worth(small)
