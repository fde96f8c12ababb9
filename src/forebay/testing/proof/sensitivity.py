"""How much the answer hangs on what was chosen: one knob at a time, in one case."""

from collections.abc import Sequence

from forebay.testing.proof.cases import Case
from forebay.testing.proof.contestants import Contestant

SIGNALS_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0)
GATEWAYS = (1, 2, 3, 4)
# The mission's weights of visual throughput, decode sensitivity and communication, and each of the first two taken down or up by half.
WEIGHTS = ((0.40, 0.35), (0.20, 0.35), (0.60, 0.35), (0.40, 0.175), (0.40, 0.525))


def staleness(subject: str) -> tuple[Contestant, ...]:
    """Ours and queue-kv under signals of each age."""
    return tuple(
        Contestant(f"{profile}, signals {seconds * 1000:g} ms", profile, {"signals_seconds": seconds})
        for profile in (subject, "queue-kv")
        for seconds in SIGNALS_SECONDS
    )


def gateways(subject: str) -> tuple[Contestant, ...]:
    """Ours and least-request in one gateway, and in up to four that hear of each other after 10 ms."""
    return tuple(
        Contestant(f"{profile}, {count} gateways", profile, {"gateways": count})
        for profile in (subject, "least-request")
        for count in GATEWAYS
    )


def weights() -> tuple[Contestant, ...]:
    """`multimodal` under each pair of weights. Nothing moves over a network here, so that the third has nothing to weigh."""
    return tuple(
        Contestant(
            f"multimodal {visual:g}/{decode:g}", {"name": "multimodal", "visual": visual, "decode": decode}
        )
        for visual, decode in WEIGHTS
    )


CASE = Case("sensitivity", "a")


def contestants(subject: str) -> Sequence[Contestant]:
    """All of them; the subject itself comes first, to compare with."""
    return (Contestant(subject, subject), *staleness(subject), *gateways(subject), *weights())
