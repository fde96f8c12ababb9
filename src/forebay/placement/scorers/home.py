"""How far an endpoint is from being the home of a request, by rendezvous hashing."""

from forebay.domain.facts import Ask, Facts, Quantity
from forebay.placement.affinity_key import affinity_key
from forebay.placement.scorers.open_requests import OpenRequests

_MASK = 2**64 - 1
# The finaliser of MurmurHash3 with 64 bits (Appleby, public domain): every bit of the input moves half of the output's.
_MIX = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)


class Home:
    """Each key orders the endpoints in a way of its own, by a hash of both; the first in order is its home.

    Thaler and Ravishankar, "Using name-based mappings to increase hit rates" (IEEE/ACM ToN 6(1), 1998). Whoever knows
    the endpoints' names finds the same order, and an endpoint that comes or goes moves only its own keys.

    A request without a key is at home where fewest requests are open.
    """

    name = "home"
    unit = "share"
    least_wins = True

    def __init__(self, load: OpenRequests) -> None:
        """`load` places what has no home."""
        self._load = load
        self._asked: Ask | None = None
        self._key = 0

    def score(self, ask: Ask, e: Facts) -> Quantity:
        """0 <= share < 1."""
        if ask is not self._asked:
            # Asked of each endpoint in turn, and the same for all.
            self._asked, self._key = ask, affinity_key(ask.request)
        if not self._key:
            load = self._load.score(ask, e)
            return load / (load + 1.0)
        return _mixed(e.name_hash ^ self._key)


def _mixed(x: Quantity) -> Quantity:
    """A hash of 64 bits, one or an array, as a share of all that there are: 53 of them fit a float exactly."""
    for factor in _MIX:
        x = (x ^ (x >> 33)) * factor & _MASK
    return (x >> 11) * 2.0**-53
