from forebay.domain.hardware import Device
from forebay.fleet.hardware import amd_smi, npu_smi, nvidia_smi, rocm_smi

MIB = 1024 * 1024


def test_nvidia_smi_columns_are_found_by_their_heads():
    text = "WARNING: infoROM is corrupted\nindex, temperature.gpu, name, new.column\n3, 41, NVIDIA L4, x\n, 1, broken, y\n"
    assert nvidia_smi.parse(text) == (Device(3, "NVIDIA L4", temperature_celsius=41.0),)
    assert nvidia_smi.parse("") == nvidia_smi.parse("No devices were found\n") == ()


def test_rocm_smi_of_today_writes_numbers_and_a_name():
    text = """{
      "card1": {
        "Card Series": "Instinct MI300X", "GPU use (%)": 88,
        "VRAM Total Memory (B)": 205520896000, "VRAM Total Used Memory (B)": 102760448000,
        "Temperature (Sensor edge) (C)": "N/A", "Temperature (Sensor junction) (C)": "72.0",
        "Average Graphics Package Power (W)": "550.0"
      },
      "system": {"Driver version": "6.8"}, "card2": "broken"
    }"""
    assert rocm_smi.parse(text) == (
        Device(1, "Instinct MI300X", 0.88, 102760448000, 205520896000, 550.0, 72.0),
    )


AMD = """{"gpu_data": [
  {"gpu": 0,
   "usage": {"gfx_activity": {"value": 94, "unit": "%"}, "umc_activity": {"value": 61, "unit": "%"}},
   "power": {"socket_power": {"value": 612, "unit": "W"}, "gfx_voltage": "N/A"},
   "temperature": {"edge": "N/A", "hotspot": {"value": 71, "unit": "C"}},
   "mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}, "used_vram": {"value": 17153, "unit": "MB"}}},
  {"gpu": 1, "usage": "N/A", "power": {"socket_power": "N/A"}, "temperature": {"edge": {"value": 40, "unit": "C"}}},
  {"gpu": "N/A"}, 7
]}"""


def test_amd_smi_tells_values_with_units_and_what_it_does_not_know_is_unknown():
    assert amd_smi.parse(AMD) == (
        Device(0, "", 0.94, 17153 * MIB, 196592 * MIB, 612.0, 71.0),
        Device(1, temperature_celsius=40.0),
    )


def test_amd_smi_of_old_writes_the_list_itself():
    assert amd_smi.parse('[{"gpu": 2, "usage": {"gfx_activity": 5}}]') == (Device(2, utilisation=0.05),)
    assert amd_smi.parse('{"gpu_data": null}') == amd_smi.parse("") == ()


# Rows as npu-smi 24.1 writes them, one chip with HBM; and one of a chip without, of the documentation of 310P.
NPU = """
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.0                   Version: 24.1.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 90.7        37                0    / 0             |
| 0                         | 0000:C1:00.0  | 7           0    / 0          53984/ 65536         |
+===========================+===============+====================================================+
| 1     310P3               | OK            | NA          42                0    / 0             |
| 0       0                 | 0000:02:00.0  | 0           1848 / 21527                           |
+===========================+===============+====================================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
| 0       0                 | 1712733       | sglangschedul            | 48954                   |
"""


def test_npu_smi_tells_two_lines_a_chip():
    assert npu_smi.parse(NPU) == (
        Device(0, "910B3", 0.07, 53984 * MIB, 65536 * MIB, 90.7, 37.0),
        Device(1, "310P3", 0.0, 1848 * MIB, 21527 * MIB, None, 42.0),
    )
    assert npu_smi.parse("") == ()
