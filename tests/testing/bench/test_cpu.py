"""CPU time and memory as the operating system counts them."""

import os
import subprocess
import sys

from forebay.testing.bench import cpu

STAT = "42 (a (strange) name) S 7 42 42 0 -1 4194560 100 0 0 0 150 50 30 20 20 0 4 0 1000 9 9\n"


def test_stat_with_brackets_in_the_name():
    assert cpu.parse_stat(STAT) == (7, 200, 50)


def test_own_tree_holds_its_children():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        members = cpu.tree(os.getpid())
        assert child.pid in members
        assert members[child.pid].parent == os.getpid()
        assert cpu.tree_resident_bytes(child.pid) > 1_000_000
        assert 0 < cpu.tree_cpu_seconds(child.pid) < 60
        child.communicate(b"\n")


def test_cpu_time_grows_with_work():
    before = cpu.tree_cpu_seconds(os.getpid())
    sum(range(300_000))
    assert cpu.tree_cpu_seconds(os.getpid()) > before


def test_a_process_that_is_gone_costs_nothing():
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    assert cpu.tree(child.pid) == {}
    assert cpu.tree_cpu_seconds(child.pid) == 0
    assert cpu.tree_resident_bytes(child.pid) == 0


def test_busy_ticks_leave_out_idle_and_waiting():
    assert cpu.parse_busy("cpu  1 2 4 1000 1000 8 16 32 0 0") == 63


def test_neighbours_share_is_a_share():
    assert cpu.Neighbours().share() >= 0
