"""Search while a seller is live: a shopper shows pictures, speaks, and the prompt carries long text about the wares.

Synthetic: every number is declared here, and none was observed.
"""

import math
import random
from collections.abc import Iterator

import msgspec

from forebay.domain.ability import Ability
from forebay.domain.bounds import AtLeastOne, NotNegative, Positive
from forebay.simulator.workloads.ask import Ask, Block, Medium
from forebay.simulator.workloads.pictures import Pictures, Reuse, Share

SIZES_TOKENS = (256, 576, 1_024)
"""Pictures of 512, 768 and 1024 pixels square."""


class LiveCommerce(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Pictures are of the wares, and so come again; sounds never do. Every prompt begins with the shop's own instructions.

    Text and seconds of speech are lognormal with the given medians and spreads (the standard deviation of the logarithm), the
    number of pictures is geometric and at most 16, and answers are geometric. A sound is taken to cost what a picture of as many
    tokens does.
    """

    image_share: Share = 0.6
    more_images: Share = 0.4
    speech_share: Share = 0.4
    speech_median_seconds: Positive = 6.0
    speech_tokens_per_second: AtLeastOne = 25
    instructions_tokens: AtLeastOne = 512
    text_median_tokens: AtLeastOne = 900
    spread: NotNegative = 0.8
    mean_output_tokens: AtLeastOne = 120
    reuse: Reuse = Reuse(share=0.7, pool=5_000)

    def asks(self, rng: random.Random) -> Iterator[Ask]:
        """Searches without end."""
        pictures = Pictures(self.reuse, rng)
        instructions = Block(rng.getrandbits(60) + 1, self.instructions_tokens)
        while True:
            text = self._lognormal(rng, self.text_median_tokens)
            yield Ask(
                text_tokens=self.instructions_tokens + text,
                output_tokens=1 + int(rng.expovariate(1 / self.mean_output_tokens)),
                media=self._pictures(rng, pictures) + self._speech(rng),
                shared=(instructions,),
            )

    def _pictures(self, rng: random.Random, pictures: Pictures) -> tuple[Medium, ...]:
        if rng.random() >= self.image_share:
            return ()
        count = 1
        while count < 16 and rng.random() < self.more_images:
            count += 1
        return pictures.album(count, rng.choice(SIZES_TOKENS))

    def _speech(self, rng: random.Random) -> tuple[Medium, ...]:
        if rng.random() >= self.speech_share:
            return ()
        seconds = min(120.0, self.speech_median_seconds * math.exp(rng.gauss(0.0, self.spread)))
        tokens = max(1, round(seconds * self.speech_tokens_per_second))
        return (Medium(Ability.AUDIO, tokens, rng.getrandbits(60) + 1),)

    def _lognormal(self, rng: random.Random, median: int) -> int:
        return max(1, min(32_000, round(median * math.exp(rng.gauss(0.0, self.spread)))))
