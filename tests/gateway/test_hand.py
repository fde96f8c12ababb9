"""A worker's process as its supervisor holds it: what is counted of processes that are dead."""

import asyncio

from forebay.gateway.hand import Hand
from forebay.gateway.messages import State, encode
from forebay.telemetry.tally import Tally


class FakeChannel:
    """Takes what is sent, and sends nothing by itself."""

    room = True

    def send(self, message):
        self.sent = message

    def close(self):
        self.room = False


def told(number, lost):
    return encode(State(number, ready=True, tally=Tally(), losses={"log": lost}))


async def test_an_answer_that_was_a_workers_last_is_counted_once():
    hand = Hand(0, lambda: None, lambda _: None)
    hand._channel = FakeChannel()
    asked = asyncio.create_task(hand.state())
    await asyncio.sleep(0)
    hand._received(told(1, lost=5))
    hand._bury()  # before the asking task has gone on
    assert (await asked).losses == {"log": 5}
    hand._channel = FakeChannel()
    asked = asyncio.create_task(hand.state())
    await asyncio.sleep(0)
    hand._received(told(2, lost=1))
    assert (await asked).losses == {"log": 6}


async def test_an_answer_that_comes_too_late_counts_all_the_same(monkeypatch):
    monkeypatch.setattr("forebay.gateway.hand.ANSWER_SECONDS", 0.0)
    hand = Hand(0, lambda: None, lambda _: None)
    hand._channel = FakeChannel()
    assert (await hand.state()).losses == {}
    hand._received(told(1, lost=5))
    assert (await hand.state()).losses == {"log": 5}
