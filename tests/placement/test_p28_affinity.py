"""P28 and its kind, against a conductor: affinity never outweighs load."""

import math
import random
from collections import Counter

import pytest

from forebay.conductor.commands import Dispatch
from forebay.conductor.events import Arrived, DrainAsked, Finished, ViewChanged
from forebay.domain.outcome import Usage
from forebay.domain.request import Api, TextMeasure
from forebay.testing.build import conductor, endpoint, picture, pool, profile, request, view

A, B = 0, 1
LONG = TextMeasure(ascii_bytes=5400, messages=1)
HOT = {
    "prefix_blocks": tuple(range(100, 120)),
    "prefix_tokens": tuple(range(64, 64 * 21, 64)),
    "text": LONG,
}


class Fleet:
    """A conductor over endpoints, fed requests that stay open until `finish`."""

    def __init__(self, endpoints=2, **settings):
        self.conductor = conductor(pool(endpoints, profile=profile("prefix-affinity", **settings)))
        self.decisions = []
        self._count = 0
        self._at = 1_000_000

    def send(self, **fields):
        """One request. Returns the slot that it went to."""
        self._count += 1
        self._at += 10
        commands = self.conductor.handle(Arrived(self._at, request(f"r{self._count}", **fields)))
        self.decisions += [c.subject for c in commands if hasattr(c, "subject")]
        (dispatch,) = (command for command in commands if isinstance(command, Dispatch))
        self.attempt = dispatch.attempt
        return dispatch.endpoint.slot

    def send_to(self, slot, others, times=1, **fields):
        """Requests that can only go there."""
        for other in others:
            self.drain(other, draining=True)
        assert {self.send(**fields) for _ in range(times)} == {slot}
        for other in others:
            self.drain(other, draining=False)

    def drain(self, slot, *, draining):
        self.conductor.handle(DrainAsked(self._at, slot, draining, 10**12))

    def finish(self):
        self.conductor.handle(Finished(self._at, self.attempt, Usage()))


def unseen(number):
    return {"prefix_blocks": (1000 + number,), "prefix_tokens": (64,)}


@pytest.mark.parametrize("api", [Api.CHAT, Api.EMBEDDINGS, Api.COMPLETIONS])
def test_p28_unseen_prompts_go_to_the_idle_endpoint_though_its_tree_is_larger(api):
    fleet = Fleet()
    fleet.send_to(A, [B], times=20, api=api)
    for number in range(50):  # B's index is large, A's is empty
        fleet.send_to(B, [A], **unseen(500 + number))
        fleet.finish()
    assert Counter(fleet.send(**unseen(number)) for number in range(10))[B] >= 8


def test_p28_strangers_who_keep_an_endpoint_busy_are_load_too():
    fleet = Fleet()
    busy, idle = view(A, running=20.0), view(B)
    fleet.conductor.handle(ViewChanged(1_000_000, (busy, idle)))
    assert Counter(fleet.send(**unseen(number)) for number in range(10))[B] >= 8


def test_p28_a_hot_prefix_spills_before_it_crowds_its_endpoint():
    fleet = Fleet()
    fleet.send_to(A, [B], **HOT)
    fleet.finish()
    taken = Counter(fleet.send(**HOT) for _ in range(50))
    assert 18 <= taken[A] <= math.ceil(1.25 * 50 / 2)


@pytest.mark.parametrize("media", [(), (picture(content_hash=9),)])
def test_p28_load_stays_within_the_factor_on_a_large_pool(media):
    fleet = Fleet(endpoints=40, load_factor=1.5)
    taken = Counter(fleet.send(media=media, **HOT) for _ in range(400))
    assert max(taken.values()) <= 1.5 * 400 / 40
    # Filled one after the other, so that as few as can be learn the prefix.
    assert len(taken) <= 400 / 15 + 1


def test_a_lone_prompt_returns_to_where_it_was():
    fleet = Fleet(endpoints=5)
    homes = {}
    for number in range(30):
        homes[number] = fleet.send(**unseen(number))
        fleet.finish()
    assert len(set(homes.values())) > 1
    for number in reversed(range(30)):
        assert fleet.send(**unseen(number)) == homes[number]
        fleet.finish()


def test_workers_and_gateways_agree_without_sharing():
    names = [f"e{n}" for n in range(8)]
    shuffled = names.copy()
    random.Random(4).shuffle(shuffled)
    here, there = (
        Fleet(endpoints=tuple(endpoint(slot, name=name) for slot, name in enumerate(order)))
        for order in (names, shuffled)
    )
    for number in range(60):
        slots = here.send(**unseen(number)), there.send(**unseen(number))
        assert names[slots[0]] == shuffled[slots[1]]
        here.finish()
        there.finish()


def test_the_longest_remembered_beginning_outranks_home():
    fleet = Fleet(endpoints=6)
    home = fleet.send(**HOT)
    fleet.finish()
    other = (home + 1) % 6
    rest = [slot for slot in range(6) if slot != other]
    longer = {
        "prefix_blocks": (*HOT["prefix_blocks"], 7),
        "prefix_tokens": (*HOT["prefix_tokens"], 1344),
        "text": LONG,
    }
    fleet.send_to(other, rest, **longer)
    fleet.finish()
    assert fleet.send(**longer) == other


def test_a_short_common_beginning_does_not():
    fleet = Fleet(endpoints=6)

    def prompt(last):
        return {
            "prefix_blocks": (1, *range(last, last + 19)),
            "prefix_tokens": HOT["prefix_tokens"],
            "text": LONG,
        }

    homes = []
    for number in range(20):
        homes.append(fleet.send(**prompt(1000 * number)))
        fleet.finish()
    assert len(set(homes)) >= 4


def test_p28_pictures_under_one_text_have_homes_of_their_own():
    fleet = Fleet(endpoints=6)
    homes = []
    for number in range(20):
        homes.append(fleet.send(media=(picture(content_hash=number + 1),)))
        fleet.finish()
    assert len(set(homes)) >= 4


def test_short_prompts_without_a_beginning_share_the_load():
    fleet = Fleet(endpoints=4)
    taken = Counter(fleet.send() for _ in range(40))
    assert set(taken.values()) == {10}


def test_what_one_tenant_sent_draws_nothing_of_another():
    fleet = Fleet(endpoints=6)
    first = fleet.send(tenant="one", **HOT)
    fleet.finish()
    others = {fleet.send(tenant=f"tenant-{number}", **HOT) for number in range(12)}
    assert len(others) >= 4
    assert all(trace.values[0] == trace.values[-1] for trace in left_of(fleet)), "no tenant had a match"
    assert Fleet(endpoints=6).send(tenant="one", **HOT) == first


def left_of(fleet):
    return [trace for d in fleet.decisions for trace in d.placement.scorers if trace.name == "left"]


def test_the_decision_keeps_its_three_scores():
    fleet = Fleet()
    fleet.send(**HOT)
    (decision,) = fleet.decisions
    assert [trace.name for trace in decision.placement.scorers] == ["crowding", "left", "home"]
    assert [trace.unit for trace in decision.placement.scorers] == ["requests", "tokens", "share"]
