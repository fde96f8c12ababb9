"""The other conductors of this gateway: who they are, what they have told, and what they must be told."""

from forebay.domain.load import Load

# How long after its neighbour a conductor lends the trial of an endpoint: they learn of each other's trials by their next
# event, which on a busy gateway is a few milliseconds away.
STAGGER_US = 20_000

# While requests wait here for room, peers are looked at this often: what they give back wakes nobody by itself.
POLL_US = 5_000


class Peers:
    """Mutable, owned by one conductor and shared with its pools. A conductor that is alone neither hears nor tells."""

    __slots__ = ("heard", "several", "share", "told", "touched", "waiting", "worker", "workers")

    def __init__(self, worker: int, workers: int) -> None:
        """This is conductor `worker` of `workers`, counted from 0."""
        self.worker = worker
        self.workers = workers
        self.several = workers > 1
        self.share = 1.0 / workers
        self.heard: dict[int, Load] = {}  # of all others together, by slot
        self.told: dict[int, Load] = {}
        self.waiting = 0  # own requests that wait for room, in all pools
        self.touched: set[int] | None = set() if self.several else None  # slots that may have to be told

    def stagger_us(self, slot: int) -> int:
        """How much later than the first of all this conductor lends the endpoint's trial."""
        return (slot + self.worker) % self.workers * STAGGER_US

    def held(self, slots: tuple[int, ...]) -> int:
        """Requests that wait elsewhere for one of these endpoints."""
        return sum(self.heard[slot].held for slot in slots if slot in self.heard)
