"""Capacities by device name."""

import pytest

from forebay.estimators.capacity import PATH_BYTES_PER_US, capacity_of


def test_an_h100_by_hand():
    capacity = capacity_of("h100")
    # 2 * 6.946e9 FLOPs at 0.709 of 989 TFLOP/s, and 15.14 GB at 0.739 of 3.35 TB/s plus 0.615 ms; times 1.14.
    assert capacity.prefill_us_per_token == pytest.approx(22.6, rel=0.01)
    assert capacity.decode_us_per_token == pytest.approx(7_671, rel=0.01)
    assert capacity.bytes_per_us == PATH_BYTES_PER_US == 625


@pytest.mark.parametrize(
    ("spelled", "same"),
    [
        ("a100-80gb", "a100"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("L40S", "l40s"),
        ("nvidia-a10g", "a10"),
        ("CPU", "cpu"),
        ("", "a100"),
        ("abacus", "a100"),
    ],
)
def test_spellings(spelled, same):
    assert capacity_of(spelled) == capacity_of(same)


def test_the_order_of_devices_is_plausible():
    prefills = [
        capacity_of(device).prefill_us_per_token
        for device in ("b200", "h200", "h100", "a100", "l40s", "l4", "cpu")
    ]
    assert prefills == sorted(prefills)
    assert capacity_of("l40s") != capacity_of("l40") != capacity_of("l4")
