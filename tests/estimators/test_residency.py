"""Who holds what."""

from forebay.domain.ability import Ability
from forebay.domain.request import MediaItem
from forebay.estimators.residency import Residency


def picture(content_hash, patches=100):
    return MediaItem(Ability.IMAGE, 0, 0, "image/png", content_hash=content_hash, encoder_patches=patches)


def test_nothing_is_held_at_first():
    assert Residency().matched((1, 2)) == {}
    assert Residency().matched(()) == {}
    assert Residency().encoded((picture(7),)) == {}


def test_the_first_blocks_in_a_row_count():
    residency = Residency()
    residency.held(0, (1, 2, 3), ())
    residency.held(1, (1, 2, 9), ())
    residency.held(2, (1,), ())
    assert residency.matched((1, 2, 3, 4)) == {0: 3, 1: 2, 2: 1}
    assert residency.matched((1, 2)) == {0: 2, 1: 2, 2: 1}
    assert residency.matched((8, 2, 3)) == {}


def test_media_are_summed_by_patches():
    residency = Residency()
    residency.held(0, (), (picture(7), picture(8, 50)))
    residency.held(3, (), (picture(8, 50),))
    assert residency.encoded((picture(7), picture(8, 50), picture(9))) == {0: 150, 3: 50}


def test_media_without_a_hash_are_not_remembered():
    residency = Residency()
    residency.held(0, (), (picture(0),))
    assert residency.encoded((picture(0),)) == {}


def test_the_oldest_entry_is_forgotten_first():
    residency = Residency(most_entries=2)
    residency.held(0, (1, 2), ())
    residency.held(1, (1,), ())
    residency.held(0, (3,), ())
    assert residency.matched((1,)) == {0: 1, 1: 1}
    assert residency.matched((2,)) == {}
    assert residency.matched((3,)) == {0: 1}


def test_an_endpoint_that_is_gone_holds_nothing():
    residency = Residency()
    residency.held(0, (1,), (picture(7),))
    residency.held(1, (1,), ())
    residency.forget(0)
    assert residency.matched((1,)) == {1: 1}
    assert residency.encoded((picture(7),)) == {}
