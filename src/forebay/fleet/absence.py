"""Notices metrics that are not there, and says so once."""

import msgspec

from forebay.fleet.dialects.base import Dialect, Reading

MEANINGS = ("running", "waiting", "kv_usage")
"""The readings that placement leans on most."""


class Absences:
    """Of one endpoint: which meanings were seen, and which absences were told already."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._told: set[str] = set()

    def notice(self, reading: Reading, dialect: Dialect) -> list[str]:
        """Take in a scrape that succeeded, and return a sentence for each meaning that is newly missed.

        Missed is what the endpoint showed before, or what every version of that engine shows. Each is told once.
        """
        missed = []
        for meaning in MEANINGS:
            if msgspec.structs.asdict(reading)[meaning] is not None:
                self._seen.add(meaning)
            elif meaning not in self._told and (meaning in self._seen or meaning in dialect.expected):
                self._told.add(meaning)
                names = ", ".join(getattr(dialect, meaning))
                past = "vanished from" if meaning in self._seen else "is not among"
                missed.append(
                    f"`{meaning}` {past} its metrics, and is unknown from now on (looked for {names})"
                )
        return missed
