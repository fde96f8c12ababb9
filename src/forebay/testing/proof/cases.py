"""The cases, and what is promised in each: the gates of the default profile."""

from dataclasses import dataclass, field
from typing import Literal

from forebay.testing.proof.contestants import ALONE, FRESH, LATE, STALE

Kind = Literal["at-most", "not-behind", "below", "level"]


@dataclass(frozen=True)
class Gate:
    """One promise: `figure` against `rival`.

    `at-most`: the mean change is no more than `bound`, and the interval lies below 0. `not-behind`: the interval ends below +2 %.
    `below`: the mean change is no more than `bound`, which may be above 0. `level`: the figure itself is at most `bound`, whatever
    the rival's. `ours` is the subject, or another contestant that stands for it.
    """

    figure: str
    kind: Kind = "not-behind"
    bound: float = 0.0
    rival: str = FRESH
    ours: str = ""

    def words(self) -> str:
        """As people read it."""
        who = f" ({self.ours})" if self.ours else ""
        if self.kind == "level":
            return f"{self.figure}{who} <= {self.bound:g}"
        wanted = "not behind" if self.kind == "not-behind" else f"<= {self.bound:+.0%}"
        return f"{self.figure}{who} {wanted} against {self.rival}"


@dataclass(frozen=True)
class Case:
    """One scenario, or one at another rate."""

    name: str
    scenario: str
    gates: tuple[Gate, ...] = field(default=())
    rate_per_second: float | None = None
    several_gateways: bool = False


def _at_most(figure: str, bound: float, rival: str = FRESH) -> Gate:
    return Gate(figure, "at-most", bound, rival)


E2E = Gate("E2E mean")

CASES = (
    Case("A", "a", (_at_most("TTFT mean", -0.35), E2E, _at_most("KV std", -0.10))),
    Case("B", "b", (E2E, Gate("E2E jitter"), Gate("TTFT mean"), Gate("TTFT jitter"))),
    Case(
        "C",
        "c",
        (_at_most("E2E mean", -0.04), _at_most("E2E jitter", -0.08), _at_most("TTFT jitter", -0.40)),
    ),
    Case("C2", "c2", (_at_most("E2E mean", -0.02), _at_most("E2E jitter", -0.07))),
    Case("D", "d", (_at_most("TTFT mean", -0.20), E2E)),
    Case("E 40/s", "e", (_at_most("E2E mean", -0.15), _at_most("TTFT mean", -0.40)), 40.0),
    Case(
        "E 50/s",
        "e",
        (
            _at_most("E2E mean", -0.15),
            _at_most("TTFT mean", -0.40),
            _at_most("E2E mean", -0.31, "round-robin"),
            _at_most("KV std", -0.50, "round-robin"),
            _at_most("TTFT jitter", -0.65, "round-robin"),
        ),
        50.0,
    ),
    Case("E 60/s", "e", (_at_most("E2E mean", -0.15), _at_most("TTFT mean", -0.40)), 60.0),
    Case("F", "f", (_at_most("TTFT mean", -0.25), E2E, Gate("E2E jitter", "below", 0.08))),
    Case("G", "g", (_at_most("E2E mean", -0.04), _at_most("TTFT mean", -0.30))),
    Case("H", "h"),
    Case("I", "i"),
    Case(
        "J",
        "j",
        (
            Gate("TTFT mean", "below", 0.10, ALONE),
            Gate("TTFT mean", rival=STALE, ours=LATE),
            Gate("E2E mean", rival=STALE, ours=LATE),
            Gate("imbalance", "level", 1.5),
        ),
        several_gateways=True,
    ),
)
SMOKE = (Case("smoke", "smoke", (E2E,)),)
