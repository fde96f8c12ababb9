"""An engine's Retry-After, in seconds or as an HTTP date."""

import email.utils
import time

from forebay.gateway.http1.headers import value_of
from forebay.gateway.http1.message import HeaderList

SECOND_US = 1_000_000


def retry_after_us(headers: HeaderList, now_seconds: float | None = None) -> int:
    """How long to wait, in microseconds; 0 when the header is absent, past or unreadable.

    A date is measured against `now_seconds`, seconds since 1970; None reads the wall clock, for that is what it speaks of.
    """
    text = value_of(headers, b"retry-after").decode("latin-1").strip()
    if not text:
        return 0
    if text.isascii() and text.isdigit():
        return int(text[:9]) * SECOND_US
    try:
        moment = email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0
    now = time.time() if now_seconds is None else now_seconds
    return max(0, round((moment - now) * SECOND_US))
