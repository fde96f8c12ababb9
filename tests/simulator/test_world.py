"""The driver in virtual time: every visit ends once, signals age as they do live, and nothing is left to chance."""

import itertools

import msgspec
import pytest

from forebay.admission.queue import QueueSettings
from forebay.conductor.events import Arrived, FirstToken, PeersChanged, Progress, ViewChanged
from forebay.simulator.engine.device import load_device
from forebay.simulator.engine.shape import QWEN3_VL_8B
from forebay.simulator.engine.steps import StepModel
from forebay.simulator.world import NO_OVERHEADS, Overheads

from .loads import visit, visits

STEPS = StepModel(load_device("a100-sxm"), QWEN3_VL_8B)


class Heard:
    """Stands before a world's conductor and remembers what it is told."""

    def __init__(self, conductor):
        self.conductor = conductor
        self.events = []

    def handle(self, event):
        self.events.append(event)
        return self.conductor.handle(event)

    def of(self, kind):
        return [event for event in self.events if type(event) is kind]


def tapped(made, gateway=0):
    made._conductors = list(made._conductors)
    made._conductors[gateway] = Heard(made._conductors[gateway])
    return made._conductors[gateway]


def test_a_visit_alone_takes_what_its_engine_takes_and_the_overheads(world):
    made = world([visit(0, 1.0, text=1000, output=3)], overheads=Overheads(0.1, 0.01, 0.5))
    (story,) = made.run()
    assert story.ttft == pytest.approx(STEPS.step(1000, 1e6, 0, 0) + 0.1)
    decode = sum(STEPS.decode(1)[0] + STEPS.decode(1)[1] * kv for kv in (1001, 1002))
    assert story.e2e == pytest.approx(STEPS.step(1000, 1e6, 0, 0) + decode + 0.1 + 0.03 + 0.5)
    assert (story.whole, story.tries, story.refused) == (True, 1, "")


@pytest.mark.parametrize("profile", ["round-robin", "least-request", "queue-kv", "multimodal"])
def test_every_visit_ends_once_under_every_profile(world, profile):
    made = world(visits(150), replicas=3, profile=profile)
    heard = tapped(made)
    stories = made.run()
    assert len(stories) == 150
    assert all(story.whole and 0 < story.ttft <= story.e2e for story in stories)
    assert len(heard.of(Arrived)) == len(heard.of(FirstToken)) == 150
    assert made._conductors[0].conductor.open_requests == 0
    assert [one.engine.kv_tokens(made.now) for one in made.replicas.values()] == [0, 0, 0]


def test_the_same_seeds_tell_the_same_stories_to_the_last_bit(world):
    runs = [world(visits(120), replicas=4, profile="power-of-two", seed=5).run() for _ in range(2)]
    assert msgspec.json.encode(runs[0]) == msgspec.json.encode(runs[1])
    other = world(visits(120), replicas=4, profile="power-of-two", seed=6).run()
    assert msgspec.json.encode(other) != msgspec.json.encode(runs[0])


def test_events_come_in_the_order_of_time(world):
    made = world(visits(80))
    heard = tapped(made)
    made.run()
    moments = [event.at for event in heard.events]
    assert moments == sorted(moments)


def test_signals_are_refreshed_as_often_as_asked_and_no_oftener(world):
    made = world(visits(60, rate=10), replicas=1, signals_seconds=0.25)
    heard = tapped(made)
    made.run()
    seen = [event.at / 1e6 for event in heard.of(ViewChanged)]
    gaps = [later - earlier for earlier, later in itertools.pairwise(seen)]
    assert gaps == pytest.approx([0.25] * len(gaps), abs=1e-5)


def test_a_scrape_tells_what_the_engine_holds(world):
    made = world([visit(number, 0.0, text=4000, output=400) for number in range(6)], replicas=1)
    heard = tapped(made)
    made.run()
    views = [view for event in heard.of(ViewChanged) for view in event.views]
    assert max(view.running for view in views) == 6
    assert max(view.kv_usage for view in views) > 0.05
    assert any(view.gap_p95_us and view.gap_p95_us > 5_000 for view in views)
    assert views[0].gap_p95_us is None


def test_progress_tells_tokens_as_they_are_written(world):
    made = world([visit(0, 0.0, output=400)], replicas=1, overheads=NO_OVERHEADS)
    heard = tapped(made)
    made.run()
    tokens = [event.output_tokens for event in heard.of(Progress)]
    assert tokens == sorted(tokens)
    assert 0 < tokens[0] < tokens[-1] <= 400


def test_clients_of_a_closed_loop_come_again_when_they_are_served(world):
    made = world(visits(50), clients=4)
    stories = made.run()
    assert len(stories) == 50
    for moment in [story.arrived + 1e-9 for story in stories]:
        assert sum(story.arrived <= moment < story.ended for story in stories) <= 4
    assert all(story.arrived == 0.0 for story in stories[:4])


def test_a_full_pool_refuses_and_the_client_comes_again(world):
    pool = {"queue": QueueSettings(max_requests=0)}
    stories = world(
        [visit(n, 0.0, output=50) for n in range(8)], replicas=1, most=2, pool=pool, clients=3
    ).run()
    assert len(stories) == 8
    assert {story.refused for story in stories} == {"", "rejected-saturated"}
    assert sum(story.whole for story in stories) >= 2


def test_what_is_held_goes_on_when_there_is_room(world):
    stories = world([visit(n, 0.0, output=50) for n in range(8)], replicas=1, most=2).run()
    assert all(story.whole for story in stories)
    assert stories[7].ttft > stories[0].e2e


def test_a_replica_that_is_lost_gives_its_visits_to_the_others(world):
    made = world(visits(200, rate=60), replicas=3)
    made.at(1.0, lambda: made.lose(1))
    stories = made.run()
    ended = [story for story in stories if story.ended >= 0]
    assert len(ended) == len(stories) == 200
    retried = [story for story in stories if story.tries > 1]
    broken = [story for story in stories if story.refused]
    assert retried, "those without content go elsewhere"
    assert broken, "those with content are over"
    assert all(story.first >= 0 for story in broken)
    late = [story for story in stories if story.arrived > 2.0]
    assert late
    assert all(story.whole and story.slot != 1 for story in late)


def test_a_first_token_that_was_on_its_way_dies_with_the_connection(world):
    computed = STEPS.step(1000, 1e6, 0, 0)
    made = world([visit(0, 0.0, text=1000, output=50)], replicas=2, overheads=Overheads(0.1, 0.0, 0.0))
    made.at(computed + 0.05, lambda: made.lose(made.stories[0].slot))
    (story,) = made.run()
    assert (story.whole, story.tries) == (True, 2)
    assert story.ttft >= 2 * computed + 0.05 + 0.1


def test_an_engine_that_becomes_slow_takes_as_much_longer(world):
    quick = world([visit(0, 0.0, output=200)], replicas=1, overheads=NO_OVERHEADS).run()[0]
    made = world([visit(0, 0.0, output=200)], replicas=1, overheads=NO_OVERHEADS)
    made.at(0.5, lambda: made.slow_down(0, 3.0))
    slow = made.run()[0]
    step = quick.e2e / 200
    assert slow.e2e == pytest.approx(0.5 + 3 * (quick.e2e - 0.5), abs=4 * step)


def test_gateways_share_the_visits_and_hear_of_each_other_late(world):
    made = world(visits(90), gateways=3, peers_seconds=0.2)
    heard = tapped(made, gateway=2)
    stories = made.run()
    assert all(story.whole for story in stories)
    assert len(heard.of(Arrived)) == 30
    told = [event for event in heard.of(PeersChanged) if any(load.in_flight for load in event.loads)]
    assert told
    assert told[0].at >= round(stories[0].arrived * 1e6) + 200_000


def test_how_far_it_is_can_be_heard(world):
    told = []
    world(visits(2100, rate=400), replicas=8).run(lambda done, total: told.append((done, total)))
    assert told
    assert all(total == 2100 for _, total in told)


def test_the_report_has_its_looks_at_caches_and_requests(world):
    made = world(visits(100, rate=10), occupancy_seconds=0.5)
    made.run()
    assert len(made.occupancy) == len(made.in_flight) == int(made.now / 0.5)
    assert all(0 <= share <= 1 for _, shares in made.occupancy for share in shares)
    assert max(max(counts) for _, counts in made.in_flight) > 0
