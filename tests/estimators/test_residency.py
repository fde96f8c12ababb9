"""Who holds what."""

from forebay.domain.ability import Ability
from forebay.domain.request import MediaItem
from forebay.estimators.residency import ENTRY_BYTES, Residency, ResidencySettings


def picture(content_hash, patches=100):
    return MediaItem(Ability.IMAGE, 0, 0, "image/png", content_hash=content_hash, encoder_patches=patches)


def test_nothing_is_held_at_first():
    assert Residency().matched("t", (1, 2)) == {}
    assert Residency().matched("t", ()) == {}
    assert Residency().encoded("t", (picture(7),)) == {}


def test_the_first_blocks_in_a_row_count():
    residency = Residency()
    residency.held("t", 0, (1, 2, 3), ())
    residency.held("t", 1, (1, 2, 9), ())
    residency.held("t", 2, (1,), ())
    assert residency.matched("t", (1, 2, 3, 4)) == {0: 3, 1: 2, 2: 1}
    assert residency.matched("t", (1, 2)) == {0: 2, 1: 2, 2: 1}
    assert residency.matched("t", (8, 2, 3)) == {}


def test_media_are_summed_by_patches():
    residency = Residency()
    residency.held("t", 0, (), (picture(7), picture(8, 50)))
    residency.held("t", 3, (), (picture(8, 50),))
    assert residency.encoded("t", (picture(7), picture(8, 50), picture(9))) == {0: 150, 3: 50}


def test_media_without_a_hash_are_not_remembered():
    residency = Residency()
    residency.held("t", 0, (), (picture(0),))
    assert residency.encoded("t", (picture(0),)) == {}


def entries(count):
    """Bytes for so many entries, of slots under 8."""
    return ENTRY_BYTES * count


def test_what_was_sent_longest_ago_is_forgotten_first_and_ends_before_beginnings():
    residency = Residency(ResidencySettings(tenant_bytes=entries(3)))
    residency.held("t", 0, (1, 2, 3), ())
    residency.held("t", 1, (1, 4), ())
    assert residency.matched("t", (1, 2, 3)) == {0: 2, 1: 1}
    residency.held("t", 0, (8,), ())
    assert residency.matched("t", (1, 2, 3)) == {0: 1, 1: 1}
    assert residency.matched("t", (1, 4)) == {0: 1, 1: 2}
    assert residency.matched("t", (8,)) == {0: 1}


def test_a_busy_tenant_pushes_out_nothing_of_another():
    residency = Residency(ResidencySettings(tenant_bytes=entries(4)))
    residency.held("quiet", 0, (1, 2), (picture(7),))
    for number in range(100):
        residency.held("busy", 1, (100 + number,), ())
    assert residency.matched("quiet", (1, 2)) == {0: 2}
    assert residency.encoded("quiet", (picture(7),)) == {0: 100}
    assert len([n for n in range(100) if residency.matched("busy", (100 + n,))]) == 4


def test_tenants_do_not_see_each_other():
    residency = Residency()
    residency.held("one", 0, (1,), (picture(7),))
    assert residency.matched("two", (1,)) == {}
    assert residency.encoded("two", (picture(7),)) == {}


def test_past_the_bound_of_all_the_tenant_silent_for_longest_goes():
    residency = Residency(ResidencySettings(tenant_bytes=entries(4), total_bytes=entries(6)))
    for tenant in ("one", "two"):
        residency.held(tenant, 0, (1, 2, 3), ())
    residency.held("one", 1, (1,), ())
    residency.held("three", 0, (1,), ())
    assert residency.matched("two", (1,)) == {}
    assert residency.matched("one", (1,)) == {0: 1, 1: 1}
    assert residency.matched("three", (1,)) == {0: 1}


def test_one_tenant_alone_is_bound_by_its_own_share_only():
    residency = Residency(ResidencySettings(tenant_bytes=entries(4), total_bytes=1))
    residency.held("t", 0, (1, 2), ())
    assert residency.matched("t", (1, 2)) == {0: 2}


def test_a_large_pool_needs_more_bytes_for_each_entry():
    residency = Residency(ResidencySettings(tenant_bytes=entries(2)))
    residency.held("t", 0, (1, 2), ())
    residency.held("t", 1023, (1,), ())
    assert residency.matched("t", (1, 2)) == {0: 1, 1023: 1}


def test_new_settings_hold_from_the_next_dispatch_on():
    residency = Residency(ResidencySettings(tenant_bytes=entries(4)))
    residency.held("t", 0, (1, 2, 3), ())
    residency.adopt(ResidencySettings(tenant_bytes=entries(1)))
    residency.held("t", 0, (9,), ())
    assert residency.matched("t", (9,)) == {0: 1}
    assert residency.matched("t", (1,)) == {}


def test_nothing_sent_is_nothing_remembered():
    residency = Residency()
    residency.held("t", 0, (), ())
    residency.held("t", 0, (), (picture(0),))
    assert residency.matched("t", (1,)) == {}


def test_an_endpoint_that_is_gone_holds_nothing():
    residency = Residency()
    residency.held("t", 0, (1,), (picture(7),))
    residency.held("t", 1, (1,), ())
    residency.forget(0)
    assert residency.matched("t", (1,)) == {1: 1}
    assert residency.encoded("t", (picture(7),)) == {}
    residency.held("t", 0, (2, 3), ())
    residency.forget(1)
    assert residency.matched("t", (2, 3)) == {0: 2}
