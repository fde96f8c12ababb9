"""Machine facts name the machine's kind, and nothing that identifies it."""

import platform

from forebay.testing.bench import facts
from forebay.testing.bench.processes import Cores


def test_facts_hold_no_name_and_no_path():
    found = facts.machine_facts(Cores(0, 1, 1))
    assert found["placement"] == "router on core 0, load on core 1, engines on core 1"
    assert all(found.values())
    assert not any("/home" in value or platform.node() == value for value in found.values())


def test_a_field_that_is_not_there(tmp_path):
    assert facts._field(tmp_path / "none", "x") == ""
    (tmp_path / "some").write_text("a: 1\n")
    assert facts._field(tmp_path / "some", "b") == ""
    assert facts._field(tmp_path / "some", "a") == "1"
