"""The driver does what the conductor says, in order, and is never re-entered."""

import asyncio

from forebay.conductor.commands import Abort, Dispatch, Hold, Reject
from forebay.conductor.events import Arrived, Cancelled, Failed, Finished
from forebay.domain.outcome import Attempt, FailureKind, Usage
from forebay.runtime.driver import Driver, monotonic_us
from forebay.testing import VirtualClock
from forebay.testing.build import conductor, endpoint, pool, request


class Front:
    def __init__(self):
        self.calls = []
        self.on_dispatch = None

    def dispatch(self, command):
        self.calls.append(command)
        if self.on_dispatch is not None:
            self.on_dispatch(command)

    def hold(self, command):
        self.calls.append(command)

    def reject(self, command):
        self.calls.append(command)

    def abort(self, command):
        self.calls.append(command)


class Ears:
    def __init__(self):
        self.decisions, self.outcomes = [], []

    def decided(self, decision):
        self.decisions.append(decision)

    def ended(self, outcome):
        self.outcomes.append(outcome)


def driver_of(*pools, clock=monotonic_us):
    front, ears = Front(), Ears()
    driver = Driver(conductor(*pools), ears, asyncio.get_running_loop(), clock)
    driver.attach(front)
    return driver, front, ears


async def test_commands_are_carried_out_and_notes_are_told():
    driver, front, ears = driver_of(pool((endpoint(0, max_in_flight=1),)))
    driver.feed(Arrived(0, request()))
    driver.feed(Arrived(1, request("held")))
    driver.feed(Arrived(2, request("nope", model="x")))
    driver.feed(Cancelled(3, "r"))
    assert [type(call) for call in front.calls] == [Dispatch, Hold, Reject, Abort, Dispatch]
    assert len(ears.decisions) == 3
    assert [outcome.request_id for outcome in ears.outcomes] == ["nope", "r"]
    driver.close()


async def test_a_front_that_fails_at_once_does_not_reenter():
    driver, front, ears = driver_of()
    depth = 0

    def refuse(command):
        nonlocal depth
        depth += 1
        assert depth == 1
        driver.feed(Failed(1, command.attempt, FailureKind.CONNECT))
        depth -= 1

    front.on_dispatch = refuse
    driver.feed(Arrived(0, request()))
    assert [type(call) for call in front.calls] == [Dispatch, Dispatch, Reject]
    assert len(ears.outcomes) == 1


async def test_it_wakes_when_asked_to():
    clock = VirtualClock()
    driver, front, ears = driver_of(pool(1), clock=clock)
    driver.feed(Arrived(0, request()))
    driver.feed(Failed(0, Attempt("r"), FailureKind.RATE_LIMITED, 429, retry_after_us=20_000))
    clock.advance(us=30_000)
    await asyncio.sleep(0.1)
    driver.feed(Arrived(clock(), request("later")))
    assert isinstance(front.calls[-1], Dispatch)
    driver.feed(Finished(clock(), Attempt("later"), Usage()))
    assert len(ears.outcomes) == 2
    driver.close()
    driver.close()


async def test_closing_drops_a_pending_wake():
    driver, _, _ = driver_of(pool(1))
    driver.feed(Arrived(0, request()))
    driver.feed(Failed(0, Attempt("r"), FailureKind.RATE_LIMITED, 429, retry_after_us=60_000_000))
    driver.close()


def test_the_clock_never_goes_back():
    assert monotonic_us() <= monotonic_us()


async def test_a_command_that_fails_takes_no_other_with_it(caplog):
    driver, front, ears = driver_of(pool((endpoint(0, max_in_flight=1),)))
    driver.feed(Arrived(0, request()))
    driver.feed(Arrived(1, request("held")))

    def broken(_command):
        raise RuntimeError("no")

    driver._acts[Abort] = broken
    driver.feed(Cancelled(3, "r"))
    assert "a command could not be carried out: Abort" in caplog.text
    assert isinstance(front.calls[-1], Dispatch)
    assert [outcome.request_id for outcome in ears.outcomes] == ["r"]
    driver.close()
