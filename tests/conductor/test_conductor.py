"""The conductor by transcripts."""

import pytest

from forebay.admission.breaker import BreakerSettings
from forebay.admission.queue import QueueSettings
from forebay.admission.retry import RetrySettings
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
from forebay.domain.ability import Ability
from forebay.domain.outcome import Attempt, Ending, FailureKind, Outcome, Usage
from forebay.domain.request import Api
from forebay.testing import play
from forebay.testing.build import conductor, endpoint, picture, plan, pool, profile, request, view

S = 1_000_000
R0 = Attempt("r", 0, 0)
R1 = Attempt("r", 0, 1)


def failed(kind=FailureKind.RESET, at=10, attempt=R0, **changes):
    return Failed(at, attempt, kind, **changes)


def test_a_stream_from_arrival_to_its_end():
    book = play(conductor())
    book >> Arrived(0, request()) << Dispatch << None
    slot = book.last.endpoint.slot
    assert book.last.model == "m"
    pool_ = book.conductor.pools["m"]
    assert pool_.row(slot).in_flight == 1
    book >> FirstToken(5, R0) << None
    book >> Progress(6, R0, 3, 1000) << None
    book >> Finished(9, R0, Usage(20, 5, 0, reported=True)) << None
    (outcome,) = book.outcomes
    assert (outcome.ending, outcome.ttft_us, outcome.e2e_us, outcome.tries) == (Ending.FINISHED, 5, 9, 1)
    assert outcome.endpoint == f"e{slot}"
    assert pool_.row(slot).in_flight == 0
    assert book.conductor.open_requests == 0


def test_an_unknown_model_touches_no_endpoint():
    book = play(conductor())
    book >> Arrived(0, request(model="nope")) << Reject
    assert book.last.status == 404
    assert book.outcomes[0].ending is Ending.REJECTED
    assert book.decisions == []


def test_an_alias_is_asked_for_by_its_served_name():
    book = play(conductor(pool(aliases=("fast",))))
    book >> Arrived(0, request(model="fast")) << Dispatch
    assert book.last.model == "m"


def test_late_news_of_what_is_over_is_ignored():
    book = play(conductor())
    book >> Arrived(0, request()) << Dispatch
    book >> Finished(1, R0, Usage()) << None
    for event in (
        FirstToken(2, R0),
        Progress(2, R0, 1, 1),
        Finished(2, R0, Usage()),
        failed(),
        Cancelled(2, "r"),
    ):
        book >> event << None
    assert len(book.outcomes) == 1


def test_first_token_counts_once():
    book = play(conductor())
    book >> Arrived(0, request()) << Dispatch
    book >> FirstToken(5, R0) >> FirstToken(7, R0) >> Finished(9, R0, Usage())
    assert book.outcomes[0].ttft_us == 5


def test_p20_a_failure_before_content_is_tried_elsewhere_once():
    book = play(conductor())
    book >> Arrived(0, request()) << Dispatch
    first = book.last.endpoint.slot
    book >> failed() << Dispatch << None
    assert book.last.endpoint.slot != first
    assert book.last.attempt == R1
    book >> failed() << None  # news of the first try, again
    book >> failed(attempt=R1) << Reject << None
    assert book.last.status == 502
    assert book.outcomes[0].tries == 2


def test_p20_after_content_nothing_is_tried_again():
    book = play(conductor())
    book >> Arrived(0, request()) << Dispatch
    book >> FirstToken(5, R0) >> failed(content_sent=True, usage=Usage(completion_tokens=2)) << Reject << None
    assert book.last.retry_after_seconds == 0
    assert book.outcomes[0].usage.completion_tokens == 2


def test_a_single_endpoint_is_tried_again():
    book = play(conductor(pool(1)))
    book >> Arrived(0, request()) << Dispatch
    book >> failed(FailureKind.CONNECT) << Dispatch
    assert book.last.attempt == R1


def test_the_retry_budget_is_the_pools():
    book = play(conductor(pool(retry=RetrySettings(ratio=0.0, minimum_per_second=0.0))))
    book >> Arrived(0, request()) << Dispatch
    book >> failed() << Reject << None
    assert book.outcomes[0].ending is Ending.FAILED


def test_p29_the_requests_own_fault_is_relayed_and_never_held_against_the_endpoint():
    book = play(conductor(pool(1)))
    for number in range(20):
        attempt = Attempt(f"r{number}")
        book >> Arrived(number, request(f"r{number}")) << Dispatch
        book >> failed(FailureKind.CLIENT_STATUS, number, attempt, status=400) << Reject << None
        assert book.last.relay
        assert book.last.retry_after_seconds == 0
    book >> Arrived(30, request()) << Dispatch


def test_p29_server_errors_open_the_breaker():
    retry = RetrySettings(max_retries=0)
    book = play(conductor(pool(1, retry=retry, breaker=BreakerSettings(failures=5, open_seconds=10))))
    for number in range(5):
        attempt = Attempt(f"r{number}")
        book >> Arrived(number, request(f"r{number}")) << Dispatch
        book >> failed(FailureKind.SERVER_STATUS, number, attempt, status=502) << Reject << None
    book >> Arrived(S, request()) << Reject
    assert (book.last.status, book.last.retry_after_seconds) == (503, 10)
    assert book.wake_at is not None
    book >> Woke(11 * S) << None
    book >> Arrived(11 * S, request("probe")) << Dispatch
    book >> Arrived(11 * S, request("other")) << Reject  # one trial at a time
    book >> Finished(12 * S, Attempt("probe"), Usage()) << None
    book >> Arrived(12 * S, request("later")) << Dispatch


def test_p26a_all_cooling_says_when_the_first_is_back():
    book = play(conductor(pool(1)))
    book >> Arrived(0, request()) << Dispatch
    book >> failed(FailureKind.RATE_LIMITED, 0, status=429, retry_after_us=7_200_000) << Reject
    book >> Arrived(0, request("next")) << Reject
    assert (book.last.status, book.last.retry_after_seconds) == (503, 8)


def test_p26b_a_retry_after_is_passed_on_and_cools_the_endpoint():
    book = play(conductor(pool(1)))
    book >> Arrived(0, request()) << Dispatch
    book >> failed(FailureKind.RATE_LIMITED, 0, status=429, retry_after_us=12 * S) << Reject << None
    assert (book.last.status, book.last.retry_after_seconds, book.last.relay) == (429, 12, True)
    book >> Arrived(11 * S, request("early")) << Reject
    book >> Woke(12 * S) << None
    book >> Arrived(12 * S, request("late")) << Dispatch


def test_p26d_a_429_is_tried_on_another_endpoint_at_once():
    book = play(conductor())
    book >> Arrived(0, request()) << Dispatch
    first = book.last.endpoint.slot
    book >> failed(FailureKind.RATE_LIMITED, 0, status=429, retry_after_us=S) << Dispatch
    assert book.last.endpoint.slot != first


def test_p27_choosing_and_counting_are_one_step():
    book = play(conductor())
    book >> ViewChanged(0, (view(0), view(1, running=1.0)))
    slots = []
    for number in range(8):
        book >> Arrived(number, request(f"r{number}")) << Dispatch
        slots.append(book.last.endpoint.slot)
    assert sorted((slots.count(0), slots.count(1))) in ([3, 5], [4, 4])


@pytest.mark.parametrize("name", ["multimodal", "least-request", "round-robin", "queue-kv"])
def test_p27_two_hundred_at_once_are_split_evenly(name):
    book = play(conductor(pool(profile=profile(name))))
    slots = []
    for number in range(200):
        book >> Arrived(number, request(f"r{number}")) << Dispatch
        slots.append(book.last.endpoint.slot)
    assert abs(slots.count(0) - slots.count(1)) <= 20


def test_p13_no_endpoint_with_the_ability_is_the_requests_fault():
    book = play(conductor())
    deaf = Ability.TEXT | Ability.CHAT
    book >> ViewChanged(0, (view(0, abilities=deaf), view(1, abilities=deaf)))
    book >> Arrived(1, request(needs=deaf | Ability.AUDIO)) << Reject
    assert book.last.status == 400
    assert book.outcomes[0].ending is Ending.REJECTED


def test_a_full_pool_holds_and_places_when_there_is_room():
    book = play(conductor(pool((endpoint(0, max_in_flight=1),))))
    book >> Arrived(0, request()) << Dispatch
    book >> Arrived(1, request("held")) << Hold << None
    book >> Arrived(2, request("held2")) << Hold << None
    book >> Finished(5, R0, Usage()) << Dispatch << None
    assert book.last.attempt.request_id == "held"


def test_p18_what_leaves_the_queue_is_never_dispatched():
    book = play(conductor(pool((endpoint(0, max_in_flight=1),))))
    book >> Arrived(0, request()) << Dispatch
    book >> Arrived(1, request("held")) << Hold
    book >> Cancelled(2, "held") << None
    book >> Finished(5, R0, Usage()) << None
    assert [outcome.ending for outcome in book.outcomes] == [Ending.CANCELLED, Ending.FINISHED]
    assert book.outcomes[0].endpoint == ""


def test_p18_cancelling_aborts_the_attempt_and_frees_its_place():
    book = play(conductor())
    book >> Arrived(0, request()) << Dispatch
    slot = book.last.endpoint.slot
    book >> Cancelled(2, "r", Usage(completion_tokens=3)) << Abort(R0) << None
    assert book.outcomes[0].usage.completion_tokens == 3
    assert book.conductor.pools["m"].row(slot).in_flight == 0
    assert book.conductor.pools["m"].row(slot).backlog_us == 0


def test_a_full_queue_refuses():
    book = play(conductor(pool((endpoint(0, max_in_flight=1),), queue=QueueSettings(max_requests=0))))
    book >> Arrived(0, request()) << Dispatch
    book >> Arrived(1, request("more")) << Reject << None
    assert book.outcomes[0].reason == "rejected-saturated"


def test_waiting_has_an_end():
    book = play(conductor(pool((endpoint(0, max_in_flight=1),), queue=QueueSettings(ttl_seconds=2))))
    book >> Arrived(0, request()) << Dispatch
    book >> Arrived(1, request("held")) << Hold
    assert book.wake_at == 1 + 2 * S
    book >> Woke(book.wake_at) << Reject << None
    assert book.outcomes[0].reason == "rejected-ttl-expired"


def test_p36_a_draining_endpoint_gets_nothing_new_and_ends_at_its_limit():
    book = play(conductor())
    book >> Arrived(0, request()) << Dispatch
    slot = book.last.endpoint.slot
    book >> FirstToken(1, R0)
    book >> DrainAsked(2, slot, draining=True, limit_us=120 * S) << None
    for number in range(4):
        book >> Arrived(3, request(f"n{number}")) << Dispatch
        assert book.last.endpoint.slot != slot
    assert book.wake_at == 2 + 120 * S
    book >> Woke(book.wake_at) << Abort(R0) << Reject << None
    assert book.last.code == "engine-drain-timeout"
    book >> DrainAsked(200 * S, slot, draining=False) << None
    book >> Arrived(200 * S, request("back")) << Dispatch
    assert book.last.endpoint.slot == slot


def test_draining_an_endpoint_that_does_not_exist_changes_nothing():
    book = play(conductor())
    book >> DrainAsked(0, 99, draining=True) << None
    book >> ViewChanged(0, (view(99),)) << None


def test_everything_draining_is_503():
    book = play(conductor(pool(1)))
    book >> DrainAsked(0, 0, draining=True, limit_us=S)
    book >> Arrived(1, request()) << Reject
    assert book.last.status == 503


def test_a_new_plan_adds_keeps_and_retires():
    book = play(conductor(pool(2)))
    book >> Arrived(0, request()) << Dispatch
    slot = book.last.endpoint.slot
    keep, new = endpoint(1 - slot), endpoint(5)
    book >> PlanChanged(1, plan(pool((keep, new)), pool((endpoint(7),), model="other"), version=2)) << None
    assert set(book.conductor.pools["m"].slots()) == {0, 1, 5}  # one still runs something
    book >> Arrived(2, request("o", model="other")) << Dispatch
    assert book.last.endpoint.slot == 7
    for number in range(6):
        book >> Arrived(2, request(f"n{number}")) << Dispatch
        assert book.last.endpoint.slot != slot
    book >> Finished(3, R0, Usage()) << None
    book >> PlanChanged(4, plan(pool((endpoint(7),), model="other"), version=3)) << None
    book >> Arrived(5, request("gone")) << Reject
    assert book.last.status == 404
    for number in range(6):
        book >> Finished(6, Attempt(f"n{number}"), Usage()) << None
    book >> Woke(7) << None
    assert set(book.conductor.pools) == {"other"}


def test_usage_teaches_the_price_of_text():
    book = play(conductor())
    pool_ = book.conductor.pools["m"]
    asked = request(media=(picture(),))
    before = pool_.demand(asked).text_tokens
    for number in range(40):
        attempt = Attempt(f"r{number}")
        book >> Arrived(number, request(f"r{number}", media=(picture(),))) << Dispatch
        book >> Finished(number, attempt, Usage(400 + 3 * before, 7, 0, reported=True)) << None
    demand = pool_.demand(asked)
    assert abs(demand.text_tokens - 3 * before) <= 2
    assert demand.image_tokens == 400
    assert demand.exact


def test_a_decision_keeps_its_trace():
    book = play(conductor(pool(profile=profile("multimodal"))))
    book >> Arrived(0, request(media=(picture(),), prefix_blocks=(1, 2), prefix_tokens=(64, 464))) << Dispatch
    (decision,) = book.decisions
    assert decision.image_tokens == 400
    assert {trace.name for trace in decision.placement.scorers} >= {"visual", "decode", "communication"}
    # The prompt is there now: the other endpoint would have to do the work again.
    first = book.last.endpoint.slot
    book >> Finished(5, R0, Usage()) << None
    (
        book
        >> Arrived(6, request("again", media=(picture(),), prefix_blocks=(1, 2), prefix_tokens=(64, 464)))
        << Dispatch
    )
    assert book.last.endpoint.slot == first


def test_a_probe_alone_does_not_condemn():
    book = play(conductor(pool(1)))
    book >> Arrived(0, request()) << Dispatch
    for at in range(1, 4):
        book >> ViewChanged(at, (view(0, reachable=False),)) << None
    book >> Finished(5, R0, Usage())
    assert book.conductor.pools["m"].breaker_state(0, 6) in {"open", "half-open"}
    assert book.conductor.pools["m"].endpoint(0).name == "e0"
    book >> ViewChanged(7, (view(0),)) << None
    book >> Arrived(8, request("back")) << Dispatch


@pytest.mark.parametrize(
    "events",
    [
        [Arrived(0, request(model="nope"))],
        [Arrived(0, request(needs=Ability.TEXT)), failed(FailureKind.CLIENT_STATUS)],
        [
            ViewChanged(0, (view(0, reachable=True, models=("other",)), view(1, models=("other",)))),
            Arrived(1, request()),
        ],
    ],
    ids=["unknown", "failed", "unplaced"],
)
def test_the_outcome_is_told_before_the_client_is(events):
    """Whoever hears of the reply, as the access log does, has heard of the outcome."""
    subject = conductor()
    for event in events:
        commands = subject.handle(event)
    kinds = [
        type(c.subject) if isinstance(c, Note) else type(c) for c in commands if not isinstance(c, WakeAt)
    ]
    assert kinds[-2:] == [Outcome, Reject]


@pytest.mark.parametrize(
    ("changes", "tokens"),
    [
        ({}, 200),
        ({"choices": 3}, 600),
        ({"choices": 3, "media": (picture(),)}, 600),
        ({"choices": 3, "max_output_tokens": 10}, 30),
        ({"choices": 65_536, "max_output_tokens": 10}, 640),
        ({"api": Api.COMPLETIONS, "choices": 2, "prompts": 5, "max_output_tokens": 10}, 100),
        ({"api": Api.EMBEDDINGS, "needs": Ability.TEXT | Ability.EMBEDDINGS, "prompts": 5}, 0),
    ],
)
def test_every_answer_is_in_the_demand(changes, tokens):
    demand = conductor().pools["m"].demand(request(**changes))
    assert demand.expected_output_tokens == tokens
    assert demand.prompts == changes.get("prompts", 1)


def test_lengths_are_learned_by_the_answer():
    means = []
    for choices in (1, 4):
        book = play(conductor())
        book >> Arrived(0, request(choices=choices)) << Dispatch
        book >> Finished(9, R0, Usage(20, 2_000 * choices, 0, reported=True))
        means.append(book.conductor.pools["m"].demand(request()).expected_output_tokens)
    assert means[0] == means[1] > 200


def test_p11_a_medium_goes_where_the_encoder_takes_it_and_nowhere_with_the_numbers():
    endpoints = (endpoint(0, encoder_budget_tokens=300), endpoint(1, encoder_budget_tokens=399), endpoint(2))
    book = play(conductor(pool(endpoints)))
    seen = Ability.TEXT | Ability.CHAT | Ability.IMAGE
    book >> Arrived(0, request(needs=seen, media=(picture(400),))) << Dispatch
    assert book.last.endpoint.slot == 2
    book = play(conductor(pool(endpoints[:2])))
    book >> Arrived(0, request(needs=seen, media=(picture(400),))) << Reject
    assert (book.last.status, book.last.code) == (400, "encoder-budget-exceeded")
    assert "400 tokens" in book.last.message
    assert "399" in book.last.message
    assert book.outcomes[0].reason == "encoder-budget-exceeded"
    book = play(conductor(pool(endpoints[:2])))
    unseen = picture(400, content_hash=0)  # by URL: the engine alone will know its size
    book >> Arrived(0, request(needs=seen, media=(unseen, picture(299)))) << Dispatch
