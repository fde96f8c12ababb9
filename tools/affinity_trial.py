"""Conversations over eight endpoints in virtual time: how much of their prompts each profile finds cached, and how even load is.

    .venv/bin/python tools/affinity_trial.py [--seconds 300] [--rate 40]

400 conversations of five applications: a system prompt of 8 blocks of 64 tokens, and 4 more each turn. An endpoint prefills
one prompt after the other at 20 us a token and keeps the 3,000 blocks used last; an answer then takes 120 steps of 8 ms, whatever
else runs. That is a toy: it knows no batching and no interference. It shows what affinity finds, and not what users wait for.
"""

import argparse
import heapq
import itertools
import random
import statistics
from collections import OrderedDict
from collections.abc import Iterator

from forebay.conductor.commands import Dispatch
from forebay.conductor.events import Arrived, Finished, FirstToken, ViewChanged
from forebay.domain.outcome import Usage
from forebay.domain.request import TextMeasure
from forebay.testing.build import conductor, pool, profile, request, view

ENDPOINTS, CONVERSATIONS, APPLICATIONS = 8, 400, 5
SYSTEM_BLOCKS, TURN_BLOCKS, LONGEST = 8, 4, 60
BLOCK_TOKENS, BLOCK_BYTES = 64, 256
KEPT_BLOCKS = 3000
TOKEN_US, STEP_US, ANSWER_STEPS = 20, 8_000, 120
SCRAPE_US = 500_000
PROFILES = ("round-robin", "least-request", "power-of-two", "queue-kv", "multimodal", "prefix-affinity")
FURTHER = ({"load_factor": 1.5}, {"load_factor": 2.0}, {"always_requests": 4})


class Cache:
    """The blocks used last."""

    def __init__(self):
        self._blocks = OrderedDict()

    def use(self, blocks):
        """How many of the first blocks were there. All are there now."""
        found = sum(1 for _ in itertools.takewhile(self._blocks.__contains__, blocks))
        for block in reversed(blocks):
            self._blocks[block] = True
            self._blocks.move_to_end(block)
        while len(self._blocks) > KEPT_BLOCKS:
            self._blocks.popitem(last=False)
        return found


class Trial:
    """One profile, one seed, so many gateways that do not talk to each other."""

    def __init__(self, name, gateways, seed, **settings):
        self.rng = random.Random(seed)
        plan = lambda: pool(ENDPOINTS, profile=profile(name, **settings), slow_start_seconds=0)  # noqa: E731
        self.gateways = [conductor(plan(), seed=seed + number) for number in range(gateways)]
        self.caches = [Cache() for _ in range(ENDPOINTS)]
        self.free_at = [0.0] * ENDPOINTS
        self.open = [0] * ENDPOINTS
        self.prompts = {number: [] for number in range(CONVERSATIONS)}
        self.found = self.asked = 0
        self.first_tokens_us, self.peaks = [], []
        self._heap, self._order = [], itertools.count()

    def run(self, seconds, rate):
        """Play until then. Returns the share found, mean and P95 of the first token in ms, and mean of peak over mean load."""
        self._at(0.0, self._turn, rate)
        self._at(1.0, self._scrape)
        while self._heap[0][0] < seconds * 1e6:
            now, _, action, *given = heapq.heappop(self._heap)
            action(now, *given)
        waits = sorted(self.first_tokens_us)
        p95 = waits[int(0.95 * len(waits))]
        return self.found / self.asked, statistics.mean(waits) / 1e3, p95 / 1e3, statistics.mean(self.peaks)

    def _at(self, moment, action, *given):
        heapq.heappush(self._heap, (moment, next(self._order), action, *given))

    def _turn(self, now, rate):
        self._at(now + self.rng.expovariate(rate) * 1e6, self._turn, rate)
        blocks = self._next_prompt(self.rng.randrange(CONVERSATIONS))
        tokens = tuple(BLOCK_TOKENS * (place + 1) for place in range(len(blocks)))
        text = TextMeasure(ascii_bytes=BLOCK_BYTES * len(blocks), messages=1)
        asked = request(f"r{next(self._order)}", text=text, prefix_blocks=blocks, prefix_tokens=tokens)
        gateway = self.rng.choice(self.gateways)
        (sent,) = (each for each in gateway.handle(Arrived(int(now), asked)) if isinstance(each, Dispatch))
        self._serve(now, gateway, sent, blocks)

    def _next_prompt(self, number):
        prompt = self.prompts[number]
        if len(prompt) > LONGEST:
            prompt.clear()
        if not prompt:
            prompt += self._blocks(random.Random(number % APPLICATIONS), SYSTEM_BLOCKS)
        prompt += self._blocks(self.rng, TURN_BLOCKS)
        return tuple(prompt)

    def _blocks(self, rng, count) -> Iterator[int]:
        return (rng.getrandbits(63) + 1 for _ in range(count))

    def _serve(self, now, gateway, sent, blocks):
        slot = sent.endpoint.slot
        found = self.caches[slot].use(blocks)
        self.found += found
        self.asked += len(blocks)
        work_us = (len(blocks) - found) * BLOCK_TOKENS * TOKEN_US + STEP_US
        self.free_at[slot] = max(now, self.free_at[slot]) + work_us
        self.first_tokens_us.append(self.free_at[slot] - now)
        self.open[slot] += 1
        self.peaks.append(max(self.open) * ENDPOINTS / sum(self.open))
        self._at(self.free_at[slot], self._answer, gateway, sent)

    def _answer(self, now, gateway, sent):
        gateway.handle(FirstToken(int(now), sent.attempt))
        self._at(now + ANSWER_STEPS * STEP_US, self._end, gateway, sent)

    def _end(self, now, gateway, sent):
        self.open[sent.endpoint.slot] -= 1
        gateway.handle(Finished(int(now), sent.attempt, Usage()))

    def _scrape(self, now):
        self._at(now + SCRAPE_US, self._scrape)
        views = tuple(view(slot, running=float(self.open[slot])) for slot in range(ENDPOINTS))
        for gateway in self.gateways:
            gateway.handle(ViewChanged(int(now), views))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="of virtual time, default %(default)s")
    parser.add_argument("--rate", type=float, default=40.0, help="requests a second, default %(default)s")
    options = parser.parse_args()
    print("| Gateways | Profile | Prompt found cached | First token, mean | P95 | Peak over mean load |")
    print("|---|---|---|---|---|---|")
    cases = [(name, {}) for name in PROFILES] + [("prefix-affinity", settings) for settings in FURTHER]
    for gateways, (name, settings) in itertools.product((1, 4), cases):
        runs = [Trial(name, gateways, seed, **settings).run(options.seconds, options.rate) for seed in (1, 2)]
        found, mean, p95, peak = map(statistics.mean, zip(*runs, strict=True))
        shown = ", ".join([f"`{name}`", *(f"`{key}: {value}`" for key, value in settings.items())])
        print(
            f"| {gateways} | {shown} | {found:.0%} | {mean:.0f} ms | {p95:.0f} ms | {peak:.2f} |", flush=True
        )


if __name__ == "__main__":
    main()
