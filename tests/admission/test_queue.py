"""The hold queue."""

from forebay.admission.queue import HoldQueue, QueueSettings

S = 1_000_000


def queue_of(*request_ids, **settings):
    queue = HoldQueue(QueueSettings(**settings))
    for at, request_id in enumerate(request_ids):
        assert queue.push(request_id, at)
    return queue


def test_first_in_first_out():
    queue = queue_of("a", "b", "c")
    assert queue.pop_ready(lambda _id: True, str) == ["a", "b", "c"]
    assert len(queue) == 0


def test_it_is_bounded():
    queue = queue_of("a", "b", max_requests=2)
    assert not queue.push("c", 2)
    assert "c" not in queue
    assert "a" in queue


def test_one_that_does_not_fit_is_passed_over_and_stays():
    queue = queue_of("picture", "text", "more text")
    assert queue.pop_ready(lambda request_id: request_id != "picture", str) == ["text", "more text"]
    assert "picture" in queue


def test_the_search_gives_up_after_a_look_ahead():
    queue, asked = queue_of(*"abcdef", look_ahead=2), []
    assert queue.pop_ready(lambda request_id: asked.append(request_id) or request_id == "b", str) == ["b"]
    assert asked == ["a", "b", "c"]


def test_one_that_does_not_fit_speaks_for_its_kind():
    queue, asked = queue_of(*[f"picture {n}" for n in range(40)], "text"), []
    kind = lambda request_id: request_id.split()[0]  # noqa: E731
    assert queue.pop_ready(lambda request_id: asked.append(request_id) or request_id == "text", kind) == [
        "text"
    ]
    assert asked == ["picture 0", "text"]


def test_place_may_take_it_off_itself():
    queue = queue_of("a", "b")
    assert queue.pop_ready(queue.remove, str) == ["a", "b"]


def test_those_whose_time_is_over_are_let_go():
    queue = queue_of("a", "b", "c", ttl_seconds=1.0)
    assert queue.next_expiry_at() == S
    assert queue.expire(S - 1) == []
    assert queue.expire(S + 1) == ["a", "b"]
    assert queue.expire(S + 2) == ["c"]
    assert queue.next_expiry_at() is None


def test_one_can_be_removed_once():
    queue = queue_of("a")
    assert queue.remove("a")
    assert not queue.remove("a")
