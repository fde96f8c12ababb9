"""Short visits for small worlds."""

import random

from forebay.domain.ability import Ability
from forebay.domain.request import TextMeasure
from forebay.simulator.visits import Visit
from forebay.simulator.world import request_id
from forebay.testing import build


def visit(number, at=0.0, text=200, output=20, patches=(), **changes):
    media = tuple(
        build.picture(tokens=count // 4, part_index=place, content_hash=1000 * number + place + 1)
        for place, count in enumerate(patches)
    )
    request = build.request(
        request_id(number),
        text=TextMeasure(ascii_bytes=4 * text, messages=1),
        media=media,
        needs=Ability.TEXT | Ability.CHAT | (Ability.IMAGE if media else Ability(0)),
        **changes,
    )
    return Visit(at, request, text + sum(patches) // 4, output, tuple(patches))


def visits(count, rate=20.0, seed=1):
    rng = random.Random(seed)
    made, at = [], 0.0
    for number in range(count):
        at += rng.expovariate(rate)
        patches = (1600,) * rng.choice((0, 0, 1, 3))
        made.append(visit(number, at, rng.randrange(20, 800), rng.randrange(2, 120), patches))
    return made
