"""Answer lengths."""

from forebay.domain.ability import Ability
from forebay.estimators.lengths import Lengths

TEXT = Ability.TEXT | Ability.CHAT
PICTURE = TEXT | Ability.IMAGE


def test_the_prior_stands_in():
    assert Lengths(200).expected(TEXT, 0) == 200
    assert Lengths(0).expected(TEXT, 0) == 1


def test_what_the_client_allows_is_the_most():
    assert Lengths(200).expected(TEXT, 16) == 16
    assert Lengths(200).expected(TEXT, 4000) == 200


def test_kinds_are_learned_apart():
    lengths = Lengths(200)
    for _ in range(2000):
        lengths.learn(PICTURE | Ability.WEBP, 20)
    assert lengths.expected(PICTURE, 0) < 40
    assert lengths.expected(TEXT, 0) == 200


def test_many_media_are_another_kind():
    lengths = Lengths(200)
    for _ in range(2000):
        lengths.learn(PICTURE, 20, media=4)
    assert lengths.expected(PICTURE, 0, media=9) < 40
    assert lengths.expected(PICTURE, 0, media=3) == 200


def test_twenty_answers_weigh_as_much_as_the_prior():
    lengths = Lengths(200)
    for _ in range(20):
        lengths.learn(TEXT, 100)
    assert 148 <= lengths.expected(TEXT, 0) <= 153


def test_an_embedding_has_no_output():
    assert Lengths(200).expected(Ability.TEXT | Ability.EMBEDDINGS, 50) == 0
