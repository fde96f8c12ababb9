"""Metrics: every family, as an exposition with one of each shows it."""

import io
from types import SimpleNamespace

from prometheus_client.parser import text_string_to_metric_families

from forebay.domain.endpoint import Endpoint, EndpointView
from forebay.domain.hardware import Device, Hardware
from forebay.domain.outcome import Ending, FailureKind
from forebay.telemetry.access_log import AccessLog
from forebay.telemetry.desk import Desk
from forebay.telemetry.endpoints_json import EndpointRow
from forebay.telemetry.plan_families import PlanStatus, SourceStatus
from forebay.telemetry.tally import PoolTally
from pages.text import table


def metrics() -> str:
    tally = PoolTally({"finished": 1}, {"reason": 1}, {"reason": 1}, {"placed": 1})
    endpoint = Endpoint(0, "e", "http://e", devices=(0,))
    row = EndpointRow("m", endpoint, EndpointView(0, reachable=True), _Ones())
    desk = Desk({"m": "m"}, lambda: [row], lambda: 2, AccessLog(io.BytesIO()))
    desk.plan_status = lambda: PlanStatus(1, sources=(SourceStatus("s", 1, 0, 1.0),))
    desk.hardware = lambda: Hardware(1, "nvml", (Device(0, "d", 1.0, 1, 1, 1.0, 1.0),))
    desk.lost = lambda: {"forebay_decision_log_dropped": 1}
    desk.counters.tally.pools["m"] = tally
    desk.counters.tally.replies["/v1/chat/completions"] = {200: 1}
    exposed = desk.metrics("text/plain")[1].decode()
    desk.close()
    rows = []
    for family in text_string_to_metric_families(exposed):
        labels = {
            label: None
            for sample in family.samples
            for label in sample.labels
            if label not in {"le", "version"}
        }
        name = family.name + ("_total" if family.type == "counter" else "")
        rows.append(
            [f"`{name}`", family.type, ", ".join(f"`{label}`" for label in labels), family.documentation]
        )
    text = "# Metrics\n\nOn the admin port under `/metrics`, as Prometheus text, or as OpenMetrics when that is asked for. An endpoint's "
    text += "gauge has no sample while its value is unknown: unknown is never zero. Labels hold names of the plan and words of ours only, so "
    text += "that no client can make series. `pool` is `other` for models that no pool serves.\n\n"
    text += table(["Metric", "Type", "Labels", "Meaning"], rows) + "## Words in labels\n\n"
    words = [["`ending`", Ending], ["`reason` of failures", FailureKind]]
    return text + table(
        ["Label", "Values"], [[label, ", ".join(f"`{each.value}`" for each in kind)] for label, kind in words]
    )


class _Ones(SimpleNamespace):
    """Beliefs that hold a 1 under every name."""

    def __getattr__(self, _name: str) -> float:
        return 1.0
