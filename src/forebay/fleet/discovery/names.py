"""What a name's answers add up to: addresses that outlive failures, and leave only when it is sure that they are gone."""


class Addresses:
    """The addresses of one name.

    An address is gone when two answers in a row lack it: servers that give a part of a large set at a time would make
    endpoints come and go. The ones of the last answer stand first. No answer, or an empty one, changes nothing.
    """

    def __init__(self) -> None:
        self.known: tuple[str, ...] = ()
        self._lacking: set[str] = set()

    def answered(self, found: tuple[str, ...]) -> bool:
        """Take over an answer. True when other addresses are known now, in whatever order."""
        before = self.known
        if not found:
            return False
        absent = [address for address in before if address not in found]
        kept = [address for address in absent if address not in self._lacking]
        self._lacking = set(kept)
        self.known = (*found, *kept)
        return set(before) != set(self.known)
