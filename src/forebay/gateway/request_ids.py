"""Names for requests: the client's own if it is fit to be logged, else one of ours."""

import os
import re
from collections.abc import Container
from itertools import count

_FIT = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class RequestIds:
    """Ids that are unique among open requests. One of ours is a random part per process and a counter."""

    def __init__(self, mark: str = "") -> None:
        """Draw the random part. `mark` is put behind what clients chose: no other process knows what is open here."""
        self._mark = mark
        self._prefix = os.urandom(6).hex()
        self._count = count(1)

    def shown(self, offered: bytes | None) -> str:
        """What the client sees echoed: its own id, unless it is absent or unfit."""
        if offered is not None and _FIT.fullmatch(offered):
            return offered.decode("ascii")
        return f"req-{self._prefix}-{next(self._count)}"

    def unique(self, shown: str, open_ids: Container[str]) -> str:
        """`shown`, with the mark if it is a client's, or a variant of it while a request of that name is open."""
        own = shown if shown.startswith(f"req-{self._prefix}-") else f"{shown}{self._mark}"
        return f"{own}~{next(self._count)}" if own in open_ids else own
