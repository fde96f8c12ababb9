"""Words for clients."""

import pytest

from forebay.admission import status
from forebay.domain.ability import Ability
from forebay.domain.outcome import FailureKind


@pytest.mark.parametrize("kind", FailureKind)
def test_every_kind_of_failure_has_an_answer(kind):
    answer = status.answer_for(kind)
    assert 400 <= answer.status < 600
    assert answer.code == f"engine-{kind.value}"
    assert answer.message


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (FailureKind.CONNECT, 503),
        (FailureKind.RESET, 502),
        (FailureKind.FIRST_CONTENT_TIMEOUT, 504),
        (FailureKind.IDLE_TIMEOUT, 504),
        (FailureKind.RATE_LIMITED, 429),
        (FailureKind.STREAM_ERROR, 503),  # P20: an error as a 200 stream, with nowhere else to go, is a 503
    ],
)
def test_p20_p26_statuses(kind, expected):
    assert status.answer_for(kind).status == expected


def test_p10_a_format_that_no_endpoint_takes_is_named():
    answer = status.not_capable(Ability.WEBP | Ability.AUDIO)
    assert (answer.status, answer.code) == (400, "unsupported-image-format")
    assert "image/webp" in answer.message


def test_p13_a_modality_that_no_endpoint_takes_is_named():
    answer = status.not_capable(Ability.AUDIO)
    assert (answer.status, answer.code) == (400, "rejected-not-capable")
    assert "audio" in answer.message


def test_abilities_that_no_endpoint_has_together():
    assert status.not_capable(Ability(0)) is status.NOT_CAPABLE


def test_an_api_that_nobody_serves_is_named():
    answer = status.not_capable(Ability.RERANK | Ability.AUDIO)
    assert (answer.status, answer.code) == (404, "api-not-served")
    assert answer.message.endswith("API: rerank")


def test_an_encoder_budget_is_told_with_its_numbers():
    answer = status.too_large_for_encoder(35_880, 16_384)
    assert (answer.status, answer.code) == (400, "encoder-budget-exceeded")
    assert "35880 tokens" in answer.message
    assert "16384" in answer.message
