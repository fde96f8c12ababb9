"""The parts of telemetry put together for one process, behind the questions that the admin port answers."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from prometheus_client.metrics_core import Metric

from forebay.domain.hardware import Hardware
from forebay.telemetry.access_log import AccessLog
from forebay.telemetry.counters import Counters
from forebay.telemetry.decisions import DecisionLog
from forebay.telemetry.endpoints_json import EndpointRow, fleet
from forebay.telemetry.explain import explained
from forebay.telemetry.hardware import hardware_families, hardware_json
from forebay.telemetry.observer import Observer, Observers
from forebay.telemetry.plan_families import PlanStatus, plan_families
from forebay.telemetry.prometheus import ForebayCollector, exposition
from forebay.telemetry.served import served
from forebay.telemetry.worker_families import ALONE, worker_families


class Desk:
    """Hears everything by `observers`, and answers for operators.

    `rows` gives the fleet as believed now; `clock` is in microseconds, the one that views are stamped with.
    """

    def __init__(
        self,
        names: Mapping[str, str],
        rows: Callable[[], Sequence[EndpointRow]],
        clock: Callable[[], int],
        access_log: AccessLog | None = None,
        further: Sequence[Observer] = (),
    ) -> None:
        """`names` maps each name that clients may use to its pool; see Counters.

        Set `plan_status` where plans are made, and `hardware` where devices are read.
        """
        self.counters = Counters(names)
        self.decisions = DecisionLog()
        self.access_log = access_log
        listeners: list[Observer] = [self.counters, self.decisions, *further]
        if access_log is not None:
            listeners.append(access_log)
        self.observers = Observers(listeners)
        self._rows = rows
        self._clock = clock
        self.plan_status: Callable[[], PlanStatus] | None = None
        self.lost: Callable[[], dict[str, int]] = dict  # by others than telemetry, by the family's name
        self.hardware: Callable[[], Hardware | None] = lambda: None
        self._collector = ForebayCollector(
            lambda: self.counters.tally, rows, clock, self.losses, self._families
        )

    def metrics(self, accept: str) -> tuple[str, bytes]:
        """Return content type and body for `/metrics`."""
        return exposition(self._collector, accept)

    def endpoints(self) -> dict[str, Any]:
        """Return JSON-ready values for `/forebay/endpoints`."""
        rows = self._rows()
        page = fleet(rows, self.served(), self._clock())
        hardware_json(page, rows, self.hardware())
        return page

    def served(self) -> dict[str, dict[str, Any]]:
        """Return what each endpoint has served lately, by its name."""
        return served(self.decisions.newest_first(), self._clock())

    def decision(self, request_id: str) -> dict[str, Any] | None:
        """Return JSON-ready values for `/forebay/decisions/<request-id>`, None when it is not, or no longer, known."""
        story = self.decisions.find(request_id)
        return None if story is None else explained(story)

    def latest(self, limit: int) -> dict[str, Any]:
        """Return JSON-ready values for `/forebay/decisions`: at most `limit` requests, newest first."""
        stories = itertools.islice(self.decisions.newest_first(), limit)
        return {"at_us": self._clock(), "requests": [explained(story) for story in stories]}

    def close(self) -> None:
        """Write what the access log still holds."""
        if self.access_log is not None:
            self.access_log.close()

    def _families(self) -> Iterable[Metric]:
        plan = () if self.plan_status is None else plan_families(self.plan_status())
        devices = hardware_families(self.hardware(), self._rows(), self._clock())
        return itertools.chain(plan, worker_families(ALONE), devices)

    def losses(self) -> dict[str, int]:
        """Return what telemetry itself has lost, by the family's name."""
        losses = {"forebay_observer_errors": self.observers.errors, **self.lost()}
        if self.access_log is not None:
            losses["forebay_access_log_dropped"] = self.access_log.dropped
            losses["forebay_access_log_failed"] = self.access_log.failed
        return losses
