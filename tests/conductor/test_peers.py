"""Several conductors of one gateway act as one would, within what each can know."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.admission.breaker import BreakerSettings
from forebay.admission.queue import QueueSettings
from forebay.conductor.commands import Abort, Dispatch, Hold, Publish, Reject
from forebay.conductor.events import (
    Arrived,
    Cancelled,
    DrainAsked,
    Failed,
    Finished,
    FirstToken,
    PeersChanged,
    PlanChanged,
    Progress,
    ViewChanged,
    Woke,
)
from forebay.conductor.peers import POLL_US, STAGGER_US
from forebay.domain.ability import Ability
from forebay.domain.load import Load
from forebay.domain.outcome import FailureKind, Usage
from forebay.testing.build import conductor, endpoint, picture, plan, pool, profile, request, view
from forebay.testing.crew import Crew

S = 1_000_000


def of(kind, commands):
    return [command for command in commands if isinstance(command, kind)]


def dispatched(commands):
    return [command.attempt for command in of(Dispatch, commands)]


def crew(workers=4, **changes):
    return Crew(plan(pool(**{"endpoints": 2, **changes})), workers)


def bounded(limit, workers=4, **changes):
    return crew(workers, endpoints=(endpoint(0, max_in_flight=limit),), **changes)


def arrive(crew_, worker, name, at=0, **changes):
    return crew_.tell(worker, Arrived(at, request(name, **changes)))


class TestLoad:
    def test_one_alone_tells_nobody_anything(self):
        alone = conductor()
        commands = alone.handle(Arrived(0, request()))
        commands += alone.handle(Progress(1, dispatched(commands)[0], 3, 5))
        assert not of(Publish, commands)

    def test_what_is_told_comes_before_what_it_brings_about(self):
        first = crew(2).conductors[0]
        kinds = [type(command) for command in first.handle(Arrived(0, request()))]
        assert kinds.index(Publish) < kinds.index(Dispatch)

    def test_every_step_of_an_attempt_is_told(self):
        one = crew(2, endpoints=1).conductors[0]
        commands = one.handle(Arrived(0, request()))
        (attempt,) = dispatched(commands)
        loads = [of(Publish, commands)[-1].load]
        later = (FirstToken(5, attempt), Progress(6, attempt, 7, 5), Finished(9, attempt, Usage()))
        loads += [of(Publish, one.handle(event))[-1].load for event in later]
        sent, begun, going, over = loads
        assert (sent.in_flight, sent.decoding, sent.answered) == (1, 0, 0)
        assert sent.backlog_us == sent.head_us > 0
        assert sent.kv_tokens > 0
        assert (begun.decoding, begun.backlog_us, begun.progressed_at, begun.answered) == (1, 0, 0, 1)
        assert going.kv_tokens == begun.kv_tokens + 7
        assert over == Load(0, answered=1, succeeded=1, sent_us=sent.backlog_us)

    def test_what_has_not_changed_is_not_told_again(self):
        one = crew(2).conductors[0]
        one.handle(ViewChanged(0, (view(0), view(1))))
        assert not of(Publish, one.handle(ViewChanged(1, (view(0), view(1)))))

    @pytest.mark.parametrize("name", ["least-request", "multimodal"])
    def test_four_spread_the_load_as_one_does(self, name):
        several, alone = (
            crew(4, endpoints=3, profile=profile(name)),
            Crew(plan(pool(3, profile=profile(name))), 1),
        )
        spread = []
        for crew_ in (several, alone):
            where = Counter()
            for index in range(30):
                worker = (index * 7) % len(crew_.conductors)
                commands = arrive(crew_, worker, f"r{index}", at=index)
                where[of(Dispatch, commands)[0].endpoint.slot] += 1
            spread.append(sorted(where.values()))
        assert spread[0] == spread[1] == [10, 10, 10]

    def test_beliefs_are_of_all_together(self):
        both = crew(2, endpoints=1)
        arrive(both, 0, "a", at=5)
        (other,) = dispatched(arrive(both, 1, "b", at=10))
        both.hear(0, 10)
        mine, theirs = (each.pools["m"].row(0) for each in both.conductors)
        for name in ("in_flight", "decoding", "backlog_us", "kv_tokens", "head_us", "progressed_at"):
            assert getattr(mine, name) == getattr(theirs, name), name
        assert mine.in_flight == 2
        both.tell(1, FirstToken(20, other))
        both.hear(0, 20)
        assert mine.decoding == 1

    def test_the_share_of_time_spent_on_prompts_is_of_all(self):
        several, alone = crew(4, endpoints=1), Crew(plan(pool(1)), 1)
        rows = []
        for crew_ in (several, alone):
            for index in range(40):
                at = 1 + index * 250_000
                (attempt,) = dispatched(arrive(crew_, index % len(crew_.conductors), f"r{index}", at=at))
                crew_.tell(index % len(crew_.conductors), Finished(at, attempt, Usage()))
                crew_.hear(0, at)
            rows.append(crew_.conductors[0].pools["m"].row(0))
        assert rows[0].work_share == pytest.approx(rows[1].work_share, rel=0.02)
        assert rows[0].worked_at == rows[1].worked_at

    def test_the_oldest_head_ages_wherever_it_is(self):
        both = crew(2, endpoints=1)
        both.tell(0, Woke(7))
        arrive(both, 0, "old", at=10)
        both.hear(1, 10)
        assert both.conductors[1].pools["m"].row(0).progressed_at == 10
        arrive(both, 1, "new", at=50)
        assert both.conductors[1].pools["m"].row(0).progressed_at == 10

    def test_speed_is_learned_only_from_who_had_nobody_before_it(self):
        both = crew(2, endpoints=1)
        arrive(both, 0, "theirs")
        (attempt,) = dispatched(arrive(both, 1, "mine"))
        before = both.conductors[1].pools["m"].row(0).prefill_us_per_token
        both.tell(1, FirstToken(9 * S, attempt))
        assert both.conductors[1].pools["m"].row(0).prefill_us_per_token == before

    def test_strangers_are_those_that_none_of_us_has_sent(self):
        both = crew(2, endpoints=1)
        arrive(both, 0, "a")
        both.tell(1, ViewChanged(5, (view(0, running=3.0),)))
        assert both.conductors[1].pools["m"].row(0).foreign == 2.0

    def test_an_endpoint_that_leaves_is_told_to_be_empty(self):
        both = crew(2)
        (attempt,) = dispatched(arrive(both, 0, "a"))
        slot = next(slot for slot in (0, 1) if both.in_flight(slot))
        staying = endpoint(1 - slot)
        for worker in (0, 1):
            both.tell(worker, PlanChanged(5, plan(pool((staying,)))))
        assert both.conductors[1].pools["m"].slots() == (1 - slot,), (
            "what only a peer has there keeps no endpoint"
        )
        both.tell(0, Cancelled(6, attempt.request_id))
        both.tell(0, Woke(7))
        assert both.in_flight(slot) == 0
        both.hear(1, 8)
        both.tell(1, PlanChanged(9, plan(pool((staying, endpoint(slot))))))
        assert both.conductors[1].pools["m"].row(slot).in_flight == 0

    def test_one_that_joins_late_begins_with_what_is_heard(self):
        both = crew(2, endpoints=1, slow_start_seconds=0)
        both.tell(0, PlanChanged(1, plan(pool(2, slow_start_seconds=0))))
        for name in ("a", "b"):
            arrive(both, 0, name, at=2)
        both.hear(1, 3)
        both.tell(1, PlanChanged(4, plan(pool(2))))
        assert both.conductors[1].pools["m"].row(1).in_flight == 1


class TestBounds:
    def test_the_bound_on_requests_at_an_endpoint_is_of_all(self):
        four = bounded(3)
        commands = [arrive(four, index % 4, f"r{index}") for index in range(12)]
        assert four.in_flight(0) == 3
        assert sum(len(of(Hold, each)) for each in commands) == four.held() == 9

    def test_room_that_a_peer_gives_back_is_found_by_looking(self):
        four = bounded(1)
        (attempt,) = dispatched(arrive(four, 0, "a"))
        assert of(Hold, arrive(four, 1, "b"))
        assert four.conductors[1].holding
        assert not four.conductors[0].holding
        four.tell(0, Finished(10, attempt, Usage()))
        assert [each.request_id for each in dispatched(four.tell(1, Woke(POLL_US)))] == ["b"]
        assert four.held() == 0

    def test_who_waits_is_woken_soon(self):
        four = bounded(1)
        arrive(four, 0, "a")
        commands = arrive(four, 1, "b", at=100)
        assert commands[-1].at == 100 + POLL_US

    def test_the_queue_is_bounded_over_all(self):
        four = bounded(1, queue=QueueSettings(max_requests=2))
        commands = [arrive(four, index % 4, f"r{index}") for index in range(6)]
        assert four.held() == 2
        assert [command.code for each in commands for command in of(Reject, each)] == [
            "rejected-saturated"
        ] * 3

    def test_who_comes_last_does_not_pass_those_who_wait_elsewhere(self):
        both = bounded(4, workers=2)
        running = [dispatched(arrive(both, 0, f"r{index}")) for index in range(4)]
        for index in range(6):
            assert of(Hold, arrive(both, 0, f"w{index}"))
        for index in range(2):
            assert of(Hold, arrive(both, 1, f"v{index}"))
        both.hear(0, 1)
        for index in range(4):
            both.act(0, Cancelled(3, running[index][0].request_id))
        both.tell(1, Woke(4))
        shares = [each.pools["m"].beliefs.open(0) for each in both.conductors]
        assert shares == [3, 1]
        assert both.in_flight(0) == 4

    def test_a_late_comer_without_a_queue_counts_as_one_who_waits(self):
        both = bounded(2, workers=2)
        first, _ = [dispatched(arrive(both, 0, f"r{index}"))[0] for index in range(2)]
        assert of(Hold, arrive(both, 0, "w0"))
        assert of(Hold, arrive(both, 0, "w1"))
        arrive(both, 1, "late")
        assert both.held() == 3
        both.act(0, Cancelled(5, first.request_id))
        assert both.in_flight(0) == 2

    def test_pictures_that_wait_for_one_endpoint_do_not_hold_up_text_at_another(self):
        both = crew(2, endpoints=(endpoint(0, max_in_flight=1), endpoint(1, max_in_flight=1)))
        blind = Ability.TEXT | Ability.CHAT
        sighted = view(0, abilities=blind | Ability.IMAGE)
        for worker in (0, 1):
            both.tell(worker, ViewChanged(0, (sighted, view(1, abilities=blind))))
        look = {"media": (picture(),), "needs": blind | Ability.IMAGE}
        arrive(both, 0, "p0", **look)
        for index in (1, 2, 3):
            assert of(Hold, arrive(both, 0, f"p{index}", **look))
        assert dispatched(arrive(both, 1, "text"))
        assert both.in_flight(1) == 1

    def test_held_requests_that_expire_or_leave_are_told(self):
        both = bounded(1, workers=2, queue=QueueSettings(ttl_seconds=2))
        arrive(both, 0, "a")
        arrive(both, 1, "b")
        arrive(both, 1, "c", at=S)
        assert both.held() == 2
        both.tell(1, Cancelled(S, "c"))
        assert both.held() == 1
        assert of(Reject, both.tell(1, Woke(3 * S)))[0].code == "rejected-ttl-expired"
        assert both.held() == 0

    @given(st.data())
    def test_races_pass_the_bound_by_one_for_each_other_worker_at_most(self, data):
        """Each worker may be anywhere between its look at the peers and its act."""
        workers, limit = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 4))
        several = bounded(limit, workers)
        running = [{} for _ in range(workers)]

        def carry_out(worker, commands):
            running[worker] |= {each.request_id: each for each in dispatched(commands)}

        for at in range(data.draw(st.integers(5, 40))):
            worker = data.draw(st.integers(0, workers - 1))
            step = data.draw(st.sampled_from(["hear", "arrive", "finish"]))
            if step == "hear":
                carry_out(worker, several.hear(worker, at))
            elif step == "arrive":
                # Whoever decides has looked since it decided last; peers may have acted in between.
                late = data.draw(st.integers(0, workers - 1))
                carry_out(worker, several.hear(worker, at))
                if late != worker:
                    carry_out(late, several.tell(late, Arrived(at, request(f"l{at}"))))
                carry_out(worker, several.act(worker, Arrived(at, request(f"r{at}"))))
            elif running[worker]:
                _, attempt = running[worker].popitem()
                carry_out(worker, several.tell(worker, Finished(at, attempt, Usage())))
            assert several.in_flight(0) <= limit + workers - 1

    def test_a_bound_that_is_declared_anew_holds_at_once(self):
        both = bounded(1, workers=2)
        arrive(both, 0, "a")
        for worker in (0, 1):
            both.tell(worker, PlanChanged(1, plan(pool((endpoint(0, max_in_flight=2),)))))
        assert dispatched(arrive(both, 1, "b", at=2))
        assert of(Hold, arrive(both, 1, "c", at=3))

    def test_a_drained_endpoint_is_overdue_by_own_requests_only(self):
        both = crew(2, endpoints=1)
        arrive(both, 0, "a")
        both.hear(1, 1)
        for worker in (0, 1):
            both.tell(worker, DrainAsked(2, 0, draining=True, limit_us=S))
        assert not of(Abort, both.tell(1, Woke(2 * S)))
        assert of(Abort, both.tell(0, Woke(2 * S)))


BREAKER = BreakerSettings(failures=4, open_seconds=1, failed_probes=2)


class TestBreakers:
    def usable(self, crew_):
        return [bool(each.pools["m"].row(0).usable) for each in crew_.conductors]

    def four(self):
        return crew(4, endpoints=1, breaker=BREAKER)

    def fail(self, crew_, worker, name, at, kind=FailureKind.SERVER_STATUS):
        (attempt,) = dispatched(arrive(crew_, worker, name, at=at))[:1]
        return crew_.tell(worker, Failed(at, attempt, kind, content_sent=True))

    def opened(self, at=0, kind=FailureKind.SERVER_STATUS):
        four = self.four()
        for worker in range(4):
            self.fail(four, worker, f"f{worker}", at, kind)
        for worker in range(4):
            four.hear(worker, at)
        return four

    def test_failures_add_up_over_all(self):
        assert self.usable(self.opened()) == [False] * 4

    def test_a_success_anywhere_breaks_the_row(self):
        four = self.four()
        for worker in range(3):
            self.fail(four, worker, f"f{worker}", 0)
        (attempt,) = dispatched(arrive(four, 3, "good"))
        four.tell(3, Finished(1, attempt, Usage()))
        four.hear(0, 1)
        self.fail(four, 0, "again", 2)
        for worker in range(4):
            four.hear(worker, 2)
        assert self.usable(four) == [True] * 4

    def half_open(self):
        four = self.opened()
        later = S + 4 * STAGGER_US
        for worker in range(4):
            four.tell(worker, Woke(later))
        assert self.usable(four) == [True] * 4
        (trial,) = dispatched(arrive(four, 1, "trial", at=later))
        return four, trial, later

    def test_the_trial_is_lent_later_by_each_next_one(self):
        four = self.opened()
        for turn in range(4):
            at = S + turn * STAGGER_US
            for worker in range(4):
                four.tell(worker, Woke(at))
            assert sum(self.usable(four)) == turn + 1

    def test_one_of_them_tries_for_all(self):
        four, _, later = self.half_open()
        for worker in (0, 2, 3):
            assert of(Reject, arrive(four, worker, f"no{worker}", at=later))
        assert four.in_flight(0) == 1

    @pytest.mark.parametrize("how", ["answers", "refuses"])
    def test_a_trial_that_passes_closes_all(self, how):
        four, trial, later = self.half_open()
        kind = FailureKind.CLIENT_STATUS
        event = (
            FirstToken(later, trial) if how == "answers" else Failed(later, trial, kind, content_sent=True)
        )
        four.tell(1, event)
        for worker in range(4):
            four.hear(worker, later)
        assert self.usable(four) == [True] * 4
        self.fail(four, 2, "straw", later)
        for worker in range(4):
            four.hear(worker, later)
        assert self.usable(four) == [False] * 4

    def test_a_whole_reply_passes_the_trial_too(self):
        four, trial, later = self.half_open()
        four.tell(1, Finished(later, trial, Usage()))
        four.hear(0, later)
        assert self.usable(four)[:2] == [True, True]

    def test_a_trial_that_fails_opens_all_for_twice_as_long(self):
        four, trial, later = self.half_open()
        four.tell(1, Failed(later, trial, FailureKind.SERVER_STATUS, content_sent=True))
        for worker in range(4):
            four.hear(worker, later)
            four.tell(worker, Woke(later + S + 4 * STAGGER_US))
        assert self.usable(four) == [False] * 4
        for worker in range(4):
            four.tell(worker, Woke(later + 2 * S + 4 * STAGGER_US))
        assert self.usable(four) == [True] * 4

    def test_a_trial_that_its_client_left_or_whose_worker_died_frees_the_endpoint(self):
        four, trial, later = self.half_open()
        four.hear(0, later)
        assert not self.usable(four)[0]
        four.tell(1, Cancelled(later, trial.request_id))
        four.hear(0, later)
        assert self.usable(four)[0]

    def test_two_trials_at_once_do_not_confuse_each_other(self):
        four, first, later = self.half_open()
        (second,) = dispatched(four.act(0, Arrived(later, request("second"))))
        four.tell(1, Failed(later, first, FailureKind.SERVER_STATUS, content_sent=True))
        four.hear(0, later)
        four.tell(0, FirstToken(later + 1, second))
        assert self.usable(four)[0], "its own trial has the last word"

    def test_news_of_an_absent_one_lets_a_probe_end_the_wait_everywhere(self):
        four = self.opened(kind=FailureKind.CONNECT)
        for worker in range(4):
            four.tell(worker, ViewChanged(5, (view(0, reachable=True),)))
        for worker in range(4):
            four.tell(worker, Woke(5 + 4 * STAGGER_US))
        assert self.usable(four) == [True] * 4

    def test_a_rate_limit_cools_it_for_all(self):
        four = self.four()
        (attempt,) = dispatched(arrive(four, 0, "limited"))
        limited = Failed(0, attempt, FailureKind.RATE_LIMITED, retry_after_us=5 * S, content_sent=True)
        four.tell(0, limited)
        assert of(Reject, arrive(four, 1, "no", at=S))
        four.tell(1, Woke(6 * S))
        assert dispatched(arrive(four, 1, "yes", at=6 * S))

    def test_probes_never_overrule_what_a_peer_was_answered(self):
        four = self.four()
        (attempt,) = dispatched(arrive(four, 0, "long"))
        four.tell(1, ViewChanged(1, (view(0, reachable=False),)))
        four.tell(0, FirstToken(2, attempt))
        four.tell(1, ViewChanged(3, (view(0, reachable=False),)))
        assert self.usable(four)[1]

    def test_who_comes_later_knows_what_is_shut(self):
        both = crew(2, endpoints=1, breaker=BREAKER)
        for index in range(4):
            self.fail(both, 0, f"f{index}", 5)
        assert of(Reject, arrive(both, 1, "no", at=6)), "though it has seen no failure"
        for worker in (0, 1):
            both.tell(worker, Woke(5 + S + 2 * STAGGER_US))
        assert self.usable(both) == [True, True]
        assert dispatched(arrive(both, 1, "yes", at=6 + S + 2 * STAGGER_US))

    def test_what_was_shut_long_ago_is_no_news(self):
        one = crew(2, endpoints=1).conductors[0]
        one.handle(PeersChanged(S, (Load(0, shut_until=S),)))
        assert one.pools["m"].row(0).usable

    def test_retries_are_shared_out(self):
        four = crew(4, endpoints=2)
        assert four.conductors[0].pools["m"].retries._share == 0.25


def test_slots_that_no_plan_names_are_remembered_for_whoever_gets_them():
    both = crew(2, endpoints=1)
    both.act(0, PeersChanged(0, (Load(7, in_flight=2),)))
    both.act(0, PlanChanged(1, plan(pool((endpoint(0), endpoint(7))))))
    assert both.conductors[0].pools["m"].row(7).in_flight == 2
