"""Room for bodies."""

from forebay.gateway.http1.budget import RESUME_BYTES, BufferBudget


def test_waiters_are_resumed_in_order_as_far_as_there_is_room():
    budget = BufferBudget(10 * RESUME_BYTES)
    resumed = []
    budget.take(10 * RESUME_BYTES)
    assert budget.full
    waiters = [lambda number=number: resumed.append(number) for number in range(5)]
    for waiter in waiters:
        budget.wait(waiter)
    assert budget.waiting == 5
    budget.forget(waiters[1])
    budget.forget(waiters[1])
    budget.give(0)
    assert resumed == []
    budget.give(1)
    assert resumed == [0]
    budget.give(2 * RESUME_BYTES)
    assert resumed == [0, 2, 3]
    budget.give(1)
    assert resumed == [0, 2, 3, 4]
    budget.give(1)
    assert budget.used_bytes == 8 * RESUME_BYTES - 3


def test_when_all_wait_for_each_other_one_goes_on():
    budget = BufferBudget(100)
    resumed = []
    first, second = (lambda: resumed.append(1)), (lambda: resumed.append(2))
    budget.take(120)
    assert budget.wait(first, 60)
    assert not budget.wait(second, 60), "nobody else could give anything back"
    budget.take(40)
    assert not budget.wait(second, 100), "nor now"
    budget.give(100)
    assert resumed == [1]


def test_whoever_is_left_alone_with_the_room_goes_on():
    budget = BufferBudget(100)
    resumed = []
    waiters = [lambda n=n: resumed.append(n) for n in range(3)]
    budget.take(10 + 3 * 60)
    for waiter in waiters:
        assert budget.wait(waiter, 60)
    budget.give(10)
    assert resumed == [0], "full, but by those that wait"
    budget.forget(waiters[1])
    budget.give(60)
    assert resumed == [0]
    budget.give(60)
    assert resumed == [0, 2]
