"""What a new plan does to endpoints that stay, leave, come back, or are declared anew."""

from forebay.admission.breaker import BreakerSettings
from forebay.admission.queue import QueueSettings
from forebay.admission.retry import RetrySettings
from forebay.conductor.commands import Abort, Dispatch, Hold, Note, Reject, WakeAt
from forebay.conductor.events import Arrived, DrainAsked, Failed, Finished, PlanChanged, Woke
from forebay.domain.outcome import Attempt, FailureKind, Usage
from forebay.testing.build import conductor, endpoint, plan, pool, request

S = 1_000_000


def told(heart, event, *kinds):
    """Commands of these kinds that came of `event`."""
    return [command for command in heart.handle(event) if isinstance(command, kinds)]


def sent(heart, name, at=0):
    """Where a request goes, None if nowhere."""
    dispatches = told(heart, Arrived(at, request(name)), Dispatch)
    return dispatches[0].endpoint.name if dispatches else None


def test_one_that_comes_back_before_it_is_empty_goes_on():
    heart = conductor(pool((endpoint(0),)))
    assert sent(heart, "r") == "e0"
    heart.handle(PlanChanged(1, plan(pool((endpoint(1),)))))
    assert heart.pools["m"].row(0).draining
    heart.handle(PlanChanged(2, plan(pool((endpoint(0), endpoint(1))))))
    assert not heart.pools["m"].row(0).draining
    assert heart.pools["m"].row(0).in_flight == 1
    assert "e0" in {sent(heart, f"r{number}", 3) for number in range(4)}


def test_what_an_operator_drained_stays_drained_through_plans():
    heart = conductor(pool((endpoint(0), endpoint(1))))
    heart.handle(DrainAsked(0, 0, draining=True, limit_us=S))
    heart.handle(PlanChanged(1, plan(pool((endpoint(1), endpoint(0))))))
    assert {sent(heart, f"r{number}", 2) for number in range(4)} == {"e1"}


def test_one_that_left_is_forgotten_with_its_last_request():
    heart = conductor(pool((endpoint(0),)))
    sent(heart, "r")
    heart.handle(PlanChanged(1, plan(pool((endpoint(1),)))))
    heart.handle(Finished(2, Attempt("r"), Usage()))
    assert heart.pools["m"].slots() == (1,)


def test_a_slot_that_is_given_on_keeps_the_names_of_the_past():
    heart = conductor(pool((endpoint(0),)))
    (note,) = told(heart, Arrived(0, request("r")), Note)
    heart.handle(Finished(1, Attempt("r"), Usage()))
    heart.handle(PlanChanged(2, plan(pool((endpoint(1),)))))
    heart.handle(PlanChanged(3, plan(pool((endpoint(0, name="new"), endpoint(1))))))
    assert note.subject.endpoints[0] == "e0"
    assert heart.pools["m"].endpoint_name(0) == "new"


def test_a_new_bound_on_requests_holds_at_once():
    heart = conductor(pool((endpoint(0),)))
    sent(heart, "r")
    heart.handle(PlanChanged(1, plan(pool((endpoint(0, max_in_flight=1),)))))
    assert told(heart, Arrived(2, request("held")), Hold)
    (dispatch,) = told(heart, PlanChanged(3, plan(pool((endpoint(0, max_in_flight=2),)))), Dispatch)
    assert dispatch.attempt.request_id == "held"


def test_another_device_has_another_price():
    for more in (0, 40):  # few as rows, many as columns
        others = tuple(endpoint(slot) for slot in range(1, 1 + more))
        heart = conductor(pool((endpoint(0, device="a100-80gb"), *others)))
        before = heart.pools["m"].row(0).prefill_us_per_token
        heart.handle(PlanChanged(1, plan(pool((endpoint(0, device="h100-sxm"), *others)))))
        beliefs = heart.pools["m"].beliefs
        assert beliefs.row(0).prefill_us_per_token < before
        if beliefs.columns is not None:
            assert beliefs.columns.prefill_us_per_token[0] == beliefs.row(0).prefill_us_per_token


def test_policies_change_with_the_plan():
    heart = conductor(pool(1))
    strict = {
        "retry": RetrySettings(max_retries=0),
        "breaker": BreakerSettings(failures=1, open_seconds=1.0),
        "queue": QueueSettings(max_requests=0),
        "slow_start_seconds": 1.0,
        "expected_output_tokens": 7,
    }
    heart.handle(PlanChanged(0, plan(pool((endpoint(0, max_in_flight=1),), **strict))))
    assert heart.pools["m"].demand(request()).expected_output_tokens == 7
    assert sent(heart, "r") == "e0"
    assert told(heart, Arrived(1, request("full")), Reject)
    failed = Failed(2, Attempt("r"), FailureKind.CONNECT, content_sent=False)
    assert not told(heart, failed, Dispatch)
    assert not heart.pools["m"].row(0).usable
    assert heart.pools["m"].retries.withdraw(3)
    heart.handle(Woke(2 + S))
    assert sent(heart, "later", 2 + S) == "e0"


def test_the_budget_for_retries_follows_the_plan():
    heart = conductor(pool(1))
    heart.handle(PlanChanged(0, plan(pool(1, retry=RetrySettings(ratio=0, minimum_per_second=0)))))
    assert not heart.pools["m"].retries.withdraw(1)


def test_a_request_held_in_a_pool_that_is_gone_is_answered_in_its_time():
    heart = conductor(pool((endpoint(0, max_in_flight=1),), queue=QueueSettings(ttl_seconds=5)))
    sent(heart, "r")
    assert told(heart, Arrived(0, request("held")), Hold)
    heart.handle(PlanChanged(1, plan(pool((endpoint(7),), model="other"))))
    wakes = told(heart, Finished(2, Attempt("r"), Usage()), WakeAt)
    (reject,) = told(heart, Woke(5 * S), Reject)
    assert (reject.request_id, reject.status) == ("held", 503)
    assert all(wake.at <= 5 * S for wake in wakes)
    assert heart.open_requests == 0
    assert set(heart.pools) == {"other"}


def test_what_waits_by_an_alias_keeps_its_meaning_when_the_alias_goes():
    heart = conductor(pool((endpoint(0, max_in_flight=1),), aliases=("a",)))
    sent(heart, "r")
    assert told(heart, Arrived(0, request("held", model="a")), Hold)
    other = pool((endpoint(7),), model="other", aliases=("a",))
    heart.handle(PlanChanged(1, plan(pool((endpoint(0, max_in_flight=1),)), other)))
    (dispatch,) = told(heart, Finished(2, Attempt("r"), Usage()), Dispatch)
    assert (dispatch.attempt.request_id, dispatch.endpoint.name, dispatch.model) == ("held", "e0", "m")


def test_the_drain_limit_of_one_that_left_ends_with_it():
    heart = conductor(pool((endpoint(0), endpoint(1))))
    first = sent(heart, "r")
    slot = int(first[1])
    heart.handle(DrainAsked(0, slot, draining=True, limit_us=S))
    heart.handle(PlanChanged(1, plan(pool((endpoint(1 - slot),)))))
    aborts = told(heart, Woke(2 * S), Abort)
    assert [abort.attempt.request_id for abort in aborts] == ["r"]


def test_rows_and_columns_are_of_the_same_endpoints_after_an_exchange():
    heart = conductor(pool(40))
    heart.handle(PlanChanged(1, plan(pool(tuple(endpoint(slot) for slot in range(20, 70))))))
    beliefs = heart.pools["m"].beliefs
    assert [row.slot for row in beliefs.rows] == list(range(20, 70))
    assert list(beliefs.columns.slot) == list(range(20, 70))
    assert sent(heart, "r", 2) is not None
    busy = [position for position, row in enumerate(beliefs.rows) if row.in_flight]
    assert [position for position, count in enumerate(beliefs.columns.in_flight) if count] == busy
    heart.handle(PlanChanged(3, plan(pool(2))))
    assert len(beliefs.rows) == 3  # one still runs something
    assert beliefs.columns is None
