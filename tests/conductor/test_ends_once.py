"""Every request that arrived ends exactly once, and leaves nothing behind, whatever happens to it in whatever order."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from forebay.admission.breaker import BreakerSettings
from forebay.admission.queue import QueueSettings
from forebay.conductor.commands import Abort, Dispatch, Hold, Note, Reject, WakeAt
from forebay.conductor.events import (
    Arrived,
    Cancelled,
    DrainAsked,
    Failed,
    Finished,
    FirstToken,
    PlanChanged,
    Progress,
    ViewChanged,
    Woke,
)
from forebay.domain.outcome import Attempt, Outcome, Usage
from forebay.testing.build import conductor, endpoint, plan, pool, profile, view
from forebay.testing.strategies import failure_kinds, requests, usages

STEP = st.integers(0, 3_000_000)


def pools(count):
    return pool(
        tuple(endpoint(slot, max_in_flight=2) for slot in range(count)),
        profile=profile("multimodal"),
        queue=QueueSettings(max_requests=3, ttl_seconds=2),
        breaker=BreakerSettings(failures=2, open_seconds=1),
    )


class Life(RuleBasedStateMachine):
    """A driver that does as it is told, and a world that does what it likes."""

    def __init__(self):
        super().__init__()
        self.conductor = conductor(pools(3))
        self.at = 0
        self.count = 0
        self.arrived, self.held = set(), set()
        self.outcomes: dict[str, int] = {}
        self.running: dict[str, Attempt] = {}
        self.begun: set[str] = set()

    def tell(self, event):
        for command in self.conductor.handle(event):
            if isinstance(command, Dispatch):
                request_id = command.attempt.request_id
                assert request_id not in self.running, "two attempts at once"
                assert request_id not in self.outcomes
                assert request_id not in self.begun, "tried again after content"
                self.running[request_id] = command.attempt
                self.held.discard(request_id)
            elif isinstance(command, Hold):
                self.held.add(command.request_id)
            elif isinstance(command, Abort):
                del self.running[command.attempt.request_id]
            elif isinstance(command, Reject):
                self.held.discard(command.request_id)
            elif isinstance(command, Note) and isinstance(command.subject, Outcome):
                request_id = command.subject.request_id
                self.outcomes[request_id] = self.outcomes.get(request_id, 0) + 1
            else:
                assert isinstance(command, Note | WakeAt)

    @rule(data=st.data(), step=STEP)
    def arrive(self, data, step):
        self.at += step
        request_id = f"r{self.count}"
        self.count += 1
        self.arrived.add(request_id)
        self.tell(Arrived(self.at, data.draw(requests(request_id))))

    def some(self, data):
        request_id = data.draw(st.sampled_from(sorted(self.running)))
        return request_id, self.running[request_id]

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def first_token(self, data):
        request_id, attempt = self.some(data)
        self.begun.add(request_id)
        self.tell(FirstToken(self.at, attempt))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), step=STEP)
    def progress(self, data, step):
        self.at += step
        _, attempt = self.some(data)
        self.tell(Progress(self.at, attempt, 3, step))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), usage=usages, step=STEP)
    def finish(self, data, usage, step):
        self.at += step
        request_id, attempt = self.some(data)
        del self.running[request_id]
        self.tell(Finished(self.at, attempt, usage))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), kind=failure_kinds, step=STEP, wait=st.sampled_from([0, 500_000]))
    def fail(self, data, kind, step, wait):
        self.at += step
        request_id, attempt = self.some(data)
        del self.running[request_id]
        self.tell(Failed(self.at, attempt, kind, 0, wait, request_id in self.begun, Usage()))

    @precondition(lambda self: self.running or self.held)
    @rule(data=st.data())
    def cancel(self, data):
        request_id = data.draw(st.sampled_from(sorted({*self.running, *self.held})))
        self.held.discard(request_id)
        self.tell(Cancelled(self.at, request_id))

    @rule(slot=st.integers(0, 4), up=st.sampled_from([True, False, None]))
    def see(self, slot, up):
        self.tell(ViewChanged(self.at, (view(slot, reachable=up),)))

    @rule(slot=st.integers(0, 3), draining=st.booleans())
    def drain(self, slot, draining):
        self.tell(DrainAsked(self.at, slot, draining, 1_000_000))

    @rule(count=st.integers(1, 4))
    def replan(self, count):
        self.tell(PlanChanged(self.at, plan(pools(count))))

    @rule(step=STEP)
    def wake(self, step):
        self.at += step
        self.tell(Woke(self.at))

    @invariant()
    def never_twice(self):
        assert all(count == 1 for count in self.outcomes.values())
        assert self.arrived == {*self.running, *self.held, *self.outcomes}
        assert self.conductor.open_requests == len(self.running) + len(self.held)

    @invariant()
    def the_books_are_right(self):
        rows = [row for pool_ in self.conductor.pools.values() for row in pool_.beliefs.rows]
        assert sum(row.in_flight for row in rows) == len(self.running)
        for row in rows:
            assert row.in_flight >= 0
            assert row.backlog_us >= 0
            assert row.in_flight or (row.backlog_us == 0 and row.kv_tokens == 0 and row.decoding == 0)

    def teardown(self):
        while self.running:
            attempt = self.running.pop(next(iter(self.running)))
            self.tell(Finished(self.at, attempt, Usage()))  # which may place what was held
        self.tell(Woke(self.at + 10_000_000))
        self.never_twice()


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
