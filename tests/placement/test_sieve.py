"""Filters are asked again only when what they read may have changed."""

import math
import random

import pytest

from forebay.domain.ability import Ability
from forebay.placement.catalogue import PROFILES
from forebay.placement.common import CommonSettings, common_filters
from forebay.placement.shares import listed
from forebay.placement.sieve import Sieve

MOVING = ["context", "encoder-budget", "saturation"]


def sieve():
    return Sieve(common_filters(CommonSettings()))


def names(filters):
    return [each.name for each in filters]


@pytest.mark.parametrize("columns", [False, True])
def test_sound_and_able_endpoints_need_only_the_moving_filters(columns, row, pool, ask):
    assert names(sieve().needed(ask(), pool(row(0), row(1), columns=columns))) == MOVING


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("model", {"serves": 0.0}),
        ("draining", {"draining": 1.0}),
        ("health", {"usable": 0.0}),
        ("role", {"roles": 1}),
    ],
)
def test_one_that_is_not_brings_back_its_filter_in_its_place(name, facts, columns, row, pool, ask):
    needed = names(sieve().needed(ask(), pool(row(0), row(1, **facts), columns=columns)))
    assert sorted(needed) == sorted([name, *MOVING])
    assert needed == [each.name for each in common_filters(CommonSettings()) if each.name in needed]


def test_each_set_of_needs_has_its_own_answer(row, pool, ask):
    subject, facts = sieve(), pool(row(0, abilities=int(Ability.TEXT | Ability.CHAT)))
    assert names(subject.needed(ask(), facts)) == MOVING
    picture = ask(needs=Ability.TEXT | Ability.CHAT | Ability.IMAGE)
    assert names(subject.needed(picture, facts)) == ["ability", *MOVING]
    assert names(subject.needed(ask(), facts)) == MOVING


def test_a_retry_is_asked_for_apart(row, pool, ask):
    subject, facts = sieve(), pool(row(0), row(1))
    assert names(subject.needed(ask(), facts)) == MOVING
    assert names(subject.needed(ask(tried=(1,)), facts)) == [
        "context",
        "encoder-budget",
        "tried",
        "saturation",
    ]
    assert names(subject.needed(ask(tried=(7,)), facts)) == MOVING


def test_the_answer_holds_until_the_standing_changes(row, pool, ask):
    subject, facts = sieve(), pool(row(0), row(1))
    assert names(subject.needed(ask(), facts)) == MOVING
    facts.rows[1].usable = 0.0
    facts.standing = object()
    assert names(subject.needed(ask(), facts)) == ["context", "encoder-budget", "health", "saturation"]


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_that_remembers_places_as_one_that_does_not(name, row, pool, ask):
    """Flags change in any order, each with a new standing; what was kept from before never shows."""
    rng = random.Random(5)
    recipe = PROFILES[name]
    remembers = recipe.build(recipe.settings())
    facts = pool(*(row(slot) for slot in range(4)))
    flags = {
        "usable": (0.0, 1.0),
        "draining": (0.0, 1.0),
        "serves": (0.0, 1.0, math.nan),
        "abilities": (-1, 0, 17),
    }
    for _ in range(200):
        if rng.random() < 0.5:
            flag = rng.choice(list(flags))
            setattr(rng.choice(facts.rows), flag, rng.choice(flags[flag]))
            facts.standing = object()
        question = ask(
            needs=rng.choice([Ability.TEXT, Ability.TEXT | Ability.CHAT]), tried=(rng.randrange(6),)
        )
        fresh = recipe.build(recipe.settings())
        fresh.picker.__dict__.update(remembers.picker.__dict__)
        ours, theirs = (listed(one.place(question, facts, random.Random(1))) for one in (remembers, fresh))
        assert ours == theirs
