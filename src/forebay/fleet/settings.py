"""How often the eyes look."""

import msgspec


class EyesSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Intervals and bounds of the fleet's eyes.

    `scrape_seconds` between two metric scrapes of an endpoint, `health_seconds` between two health probes,
    `identity_seconds` between two looks at models and limits. `timeout_seconds` bounds one question. Views are handed on
    at most every `batch_seconds`. `concurrency` bounds endpoints being asked at one moment.
    """

    scrape_seconds: float = 0.5
    health_seconds: float = 2.0
    identity_seconds: float = 60.0
    timeout_seconds: float = 2.0
    batch_seconds: float = 0.05
    concurrency: int = 128
