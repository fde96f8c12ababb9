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
