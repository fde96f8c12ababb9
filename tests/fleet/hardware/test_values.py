import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.fleet.hardware import amd_smi, npu_smi, nvidia_smi, rocm_smi
from forebay.fleet.hardware.values import document, number, room, share, size


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("37 %", 37.0), (" 11.17 W", 11.17), ("40960 MiB", 40960.0), (94, 94.0), (0, 0.0), ("0", 0.0), (0.5, 0.5),
        ("[N/A]", None), ("[Not Supported]", None), ("N/A", None), ("ERR!", None), ("", None), ("-5", None),
        (None, None), (True, None), ([], None), (math.nan, None), (math.inf, None), (-1, None),
    ],
)  # fmt: skip
def test_a_cell_is_a_number_or_unknown(cell, value):
    assert number(cell) == value


def test_unknown_is_neither_0_nor_all():
    assert (share("0 %"), share("100"), share("101"), share("[N/A]")) == (0.0, 1.0, None, None)
    assert (size("2 MiB", 1024), size("[N/A]", 1024)) == (2048, None)
    assert room(5, 10) == (5, 10)
    assert (room(None, 10), room(11, 10)) == ((None, 10), (None, 10))
    assert room(0, 0) == room(5, None) == (None, None)


def test_a_document_is_found_behind_a_banner():
    assert document('WARNING: [low power]\n{not json\n\n  {"a": [1]}\ntrailer') == {"a": [1]}
    assert document("WARNING: no data") is None


@pytest.mark.parametrize("parse", [nvidia_smi.parse, rocm_smi.parse, amd_smi.parse, npu_smi.parse])
@given(text=st.text(alphabet=st.sampled_from('index,card0"{}[]:| 0123456789/N%\n'), max_size=200))
def test_whatever_a_tool_writes_is_read_or_passed_over(parse, text):
    for device in parse(text):
        assert device.utilisation is None or 0 <= device.utilisation <= 1
