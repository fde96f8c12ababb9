"""Several conductors, whatever happens to whom in whatever order: every request ends once, and what is told is true."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from forebay.admission.breaker import BreakerSettings
from forebay.admission.queue import QueueSettings
from forebay.conductor.commands import Abort, Dispatch, Hold, Note, Reject
from forebay.conductor.events import (
    Arrived,
    Cancelled,
    DrainAsked,
    Failed,
    Finished,
    FirstToken,
    PlanChanged,
    ViewChanged,
    Woke,
)
from forebay.domain.load import Load
from forebay.domain.outcome import Outcome, Usage
from forebay.testing.build import endpoint, plan, pool, profile, view
from forebay.testing.crew import Crew
from forebay.testing.strategies import failure_kinds, requests

WORKERS = 3
LIMIT = 2
STEP = st.sampled_from([0, 1, 5_000, 60_000, 1_500_000])
WORKER = st.integers(0, WORKERS - 1)


def of(count):
    endpoints = tuple(endpoint(slot, max_in_flight=LIMIT) for slot in range(count))
    return plan(
        pool(
            endpoints,
            profile=profile("least-request"),
            queue=QueueSettings(max_requests=4, ttl_seconds=2),
            breaker=BreakerSettings(failures=2, open_seconds=1),
        )
    )


class Lives(RuleBasedStateMachine):
    """Drivers that look at their peers before they place, and a world that does what it likes."""

    def __init__(self):
        super().__init__()
        self.crew = Crew(of(3), WORKERS)
        self.at = 1
        self.count = 0
        self.running = [{} for _ in range(WORKERS)]
        self.held = [set() for _ in range(WORKERS)]
        self.ended = {}

    def carry_out(self, worker, commands):
        for command in commands:
            if isinstance(command, Dispatch):
                self.running[worker][command.attempt.request_id] = (command.attempt, command.endpoint.slot)
                self.held[worker].discard(command.attempt.request_id)
            elif isinstance(command, Hold):
                self.held[worker].add(command.request_id)
            elif isinstance(command, Abort):
                self.running[worker].pop(command.attempt.request_id)
            elif isinstance(command, Reject):
                self.held[worker].discard(command.request_id)
            elif isinstance(command, Note) and isinstance(command.subject, Outcome):
                self.ended[command.subject.request_id] = self.ended.get(command.subject.request_id, 0) + 1

    def tell(self, worker, event):
        self.carry_out(worker, self.crew.hear(worker, event.at))
        self.carry_out(worker, self.crew.act(worker, event))

    @rule(worker=WORKER, data=st.data(), step=STEP)
    def arrive(self, worker, data, step):
        self.at += step
        self.count += 1
        self.tell(worker, Arrived(self.at, data.draw(requests(f"r{self.count}"))))

    @rule(
        worker=WORKER,
        how=st.sampled_from(["begin", "finish", "fail", "leave"]),
        kind=failure_kinds,
        step=STEP,
    )
    def go_on(self, worker, how, kind, step):
        self.at += step
        self.carry_out(worker, self.crew.hear(worker, self.at))
        if not self.running[worker]:
            return
        name, (attempt, _) = next(iter(self.running[worker].items()))
        if how == "begin":
            event = FirstToken(self.at, attempt)
        elif how == "leave":
            event = Cancelled(self.at, name)
        else:
            del self.running[worker][name]
            event = (
                Finished(self.at, attempt, Usage(5, 5)) if how == "finish" else Failed(self.at, attempt, kind)
            )
        self.carry_out(worker, self.crew.act(worker, event))

    @rule(worker=WORKER)
    def leave_the_queue(self, worker):
        if self.held[worker]:
            name = min(self.held[worker])
            self.held[worker].discard(name)
            self.tell(worker, Cancelled(self.at, name))

    @rule(worker=WORKER)
    def hear(self, worker):
        self.carry_out(worker, self.crew.hear(worker, self.at))

    @rule(worker=WORKER, step=STEP)
    def wake(self, worker, step):
        self.at += step
        self.tell(worker, Woke(self.at))

    @rule(slot=st.integers(0, 3), up=st.sampled_from([True, False]))
    def see(self, slot, up):
        for worker in range(WORKERS):
            self.tell(worker, ViewChanged(self.at, (view(slot, reachable=up),)))

    @rule(slot=st.integers(0, 2), draining=st.booleans())
    def drain(self, slot, draining):
        for worker in range(WORKERS):
            self.tell(worker, DrainAsked(self.at, slot, draining, 1_000_000))

    @rule(count=st.integers(1, 4))
    def replan(self, count):
        for worker in range(WORKERS):
            self.tell(worker, PlanChanged(self.at, of(count)))

    @invariant()
    def each_ends_once(self):
        assert all(count == 1 for count in self.ended.values())
        open_ones = sum(each.open_requests for each in self.crew.conductors)
        assert open_ones == sum(map(len, self.running)) + sum(map(len, self.held))

    @invariant()
    def what_is_told_is_true(self):
        for worker, told in enumerate(self.crew.told):
            for slot, load in told.items():
                at_it = [where for _, where in self.running[worker].values() if where == slot]
                assert load.in_flight == len(at_it)
                assert (load.wanting > 0) <= bool(self.held[worker])
                assert load.in_flight or load.backlog_us == load.kv_tokens == load.decoding == 0
            assert sum(load.held for load in told.values()) == len(self.held[worker])
            assert self.crew.conductors[worker].holding == bool(self.held[worker])

    @invariant()
    def bounds_hold_over_all(self):
        for slot in range(4):
            assert self.crew.in_flight(slot) <= LIMIT + WORKERS - 1
        assert self.crew.held() <= 4 + WORKERS - 1

    def teardown(self):
        """Let everything end: nothing is left, and nothing waits for ever."""
        for _ in range(50):
            self.at += 3_000_000
            for worker in range(WORKERS):
                for attempt, _ in list(self.running[worker].values()):
                    self.running[worker].pop(attempt.request_id)
                    self.tell(worker, Finished(self.at, attempt, Usage()))
                self.tell(worker, Woke(self.at))
            if not any(self.running) and not any(self.held):
                break
        self.each_ends_once()
        assert not any(self.running)
        assert not any(self.held)
        for told in self.crew.told:
            for slot, load in told.items():
                assert (load.in_flight, load.held, load.wanting, load.trials) == (0, 0, 0, 0), (slot, load)
        assert isinstance(self.crew.told[0].get(0, Load(0)), Load)


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
