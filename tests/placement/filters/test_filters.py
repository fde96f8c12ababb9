"""Each filter over one row, and over two as columns."""

import math

import pytest

from forebay.domain.ability import Ability, Role
from forebay.placement.filters.ability import HasAbility
from forebay.placement.filters.context import FitsContext
from forebay.placement.filters.draining import NotDraining
from forebay.placement.filters.encoder_budget import FitsEncoder
from forebay.placement.filters.health import Usable
from forebay.placement.filters.model import ServesModel
from forebay.placement.filters.role import HasRole
from forebay.placement.filters.saturation import HasRoom
from forebay.placement.filters.untried import Untried

PICTURE_CHAT = Ability.TEXT | Ability.IMAGE | Ability.CHAT

CASES = [
    (ServesModel(), {"serves": 1.0}, True),
    (ServesModel(), {"serves": 0.0}, False),
    (ServesModel(), {"serves": math.nan}, True),
    (HasAbility(), {"abilities": -1}, True),
    (HasAbility(), {"abilities": int(PICTURE_CHAT | Ability.WEBP)}, True),
    (HasAbility(), {"abilities": int(Ability.TEXT | Ability.CHAT)}, False),
    (HasRole(), {"roles": int(Role.ALL)}, True),
    (HasRole(), {"roles": int(Role.PREFILL | Role.DECODE)}, False),
    (HasRole(Role.DECODE), {"roles": int(Role.PREFILL | Role.DECODE)}, True),
    (NotDraining(), {"draining": 0.0}, True),
    (NotDraining(), {"draining": 1.0}, False),
    (Usable(), {"usable": 1.0}, True),
    (Usable(), {"usable": 0.0}, False),
    (HasRoom(), {"in_flight": 3.0}, True),
    (HasRoom(), {"in_flight": 3.0, "max_in_flight": 4.0}, True),
    (HasRoom(), {"in_flight": 4.0, "max_in_flight": 4.0}, False),
    (Untried(), {}, True),
]


@pytest.mark.parametrize(("each", "facts", "kept"), CASES)
def test_a_filter_keeps_or_drops(each, facts, kept, row, columns, ask):
    question = ask(needs=PICTURE_CHAT)
    assert bool(each.keep(question, row(**facts))) is kept
    over_columns = each.keep(question, columns([row(0, **facts), row(1, **facts)]))
    assert over_columns is kept or over_columns.tolist() == [kept, kept]


def test_slots_that_were_tried_are_dropped(row, columns, ask):
    question = ask(tried=(1, 3))
    rows = [row(slot) for slot in range(4)]
    assert [Untried().keep(question, e) for e in rows] == [True, False, True, False]
    assert Untried().keep(question, columns(rows)).tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("demand", "context", "kept"),
    [
        ({"image_tokens": 1000}, 1050.0, True),  # 1000 exact tokens and half of 100
        ({"image_tokens": 1000}, 1049.0, False),
        ({"image_tokens": 1000, "exact": False}, 550.0, True),
        ({"image_tokens": 1000, "exact": False}, 549.0, False),
        ({"text_tokens": 4000}, 2000.0, True),
        ({"image_tokens": 10**9}, math.nan, True),
        (
            {"text_tokens": 64_000, "prompts": 64},
            500.0,
            True,
        ),  # 64 prompts of some 1000 tokens, half of it sure
        ({"text_tokens": 64_000, "prompts": 64}, 499.0, False),
    ],
)
def test_only_what_is_sure_is_held_against_a_context(demand, context, kept, row, ask):
    assert FitsContext(0.5).keep(ask(**demand), row(context_tokens=context)) is kept


@pytest.mark.parametrize(
    ("items", "budget", "kept"),
    [
        ((), 1.0, True),
        ((400,), 400.0, True),
        ((401,), 400.0, False),
        ((400, 400, 400), 400.0, True),  # each is encoded on its own
        ((10, 401, 10), 400.0, False),
        ((10**9,), math.inf, True),
    ],
)
def test_the_largest_medium_decides_whether_an_encoder_takes_it(items, budget, kept, row, columns, ask):
    question = ask(items=items)
    assert FitsEncoder().keep(question, row(encoder_budget_tokens=budget)) is kept
    over_columns = FitsEncoder().keep(question, columns([row(0, encoder_budget_tokens=budget), row(1)]))
    assert over_columns.tolist() == [kept, True]
