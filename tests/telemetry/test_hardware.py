import json

from prometheus_client.parser import text_string_to_metric_families

from forebay.domain.endpoint import Endpoint
from forebay.domain.hardware import Device, Hardware
from forebay.telemetry.desk import Desk
from forebay.telemetry.endpoints_json import EndpointRow

BUSY = Device(0, "H200", 0.5, 40, 80, 301.2, 66.0)
UNIFIED = Device(1, "GB10", power_watts=11.0)
ROWS = [
    EndpointRow("qwen", Endpoint(slot=0, name="ep-a", url="http://a", devices=(0, 1))),
    EndpointRow("qwen", Endpoint(slot=1, name="ep-b", url="http://b", devices=(7,))),
    EndpointRow("qwen", Endpoint(slot=2, name="ep-c", url="http://c")),
]


def desk_with(hardware):
    desk = Desk({"qwen": "qwen"}, lambda: ROWS, lambda: 3_500_000)
    desk.hardware = lambda: hardware
    return desk


def samples(desk):
    families = text_string_to_metric_families(desk.metrics("")[1].decode())
    found = [sample for family in families for sample in family.samples]
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for sample in found
        if "device" in sample.name
    }


def test_devices_are_shown_of_the_host_and_with_the_endpoints_that_run_on_them():
    page = desk_with(Hardware(1_000_000, "nvml", (BUSY, UNIFIED))).endpoints()
    assert json.loads(json.dumps(page, allow_nan=False)) == page
    assert (page["hardware"]["probe"], page["hardware"]["age_seconds"]) == ("nvml", 2.5)
    own, elsewhere, undeclared = (row["hardware"] for row in page["endpoints"])
    assert own["devices"] == page["hardware"]["devices"]
    assert own["devices"][1]["memory_used_bytes"] is None
    assert elsewhere is undeclared is None


def test_what_is_unknown_of_a_device_has_no_sample():
    assert samples(desk_with(Hardware(1_000_000, "nvml", (BUSY, UNIFIED)))) == {
        ("forebay_device_utilisation_ratio", "0", "H200"): 0.5,
        ("forebay_device_memory_used_bytes", "0", "H200"): 40.0,
        ("forebay_device_memory_bytes", "0", "H200"): 80.0,
        ("forebay_device_power_watts", "0", "H200"): 301.2,
        ("forebay_device_power_watts", "1", "GB10"): 11.0,
        ("forebay_device_temperature_celsius", "0", "H200"): 66.0,
        ("forebay_device_view_age_seconds",): 2.5,
        ("forebay_endpoint_device", "0", "ep-a", "qwen"): 1.0,
        ("forebay_endpoint_device", "1", "ep-a", "qwen"): 1.0,
        ("forebay_endpoint_device", "7", "ep-b", "qwen"): 1.0,
    }


def test_without_a_reading_there_is_nothing():
    page = desk_with(None).endpoints()
    assert page["hardware"] is None
    assert [row["hardware"] for row in page["endpoints"]] == [None, None, None]
    assert samples(desk_with(None)) == {}
