"""The command line around the commands."""

import subprocess
import sys

import pytest

from forebay.cli import check
from forebay.cli.main import COMMANDS, main

HEAVY = ("numpy", "aiohttp", "yaml", "asyncio", "msgspec", "rich")


def test_version_imports_nothing_heavy():
    code = (
        "import sys; from forebay.cli.main import main\n"
        "try: main(['--version'])\n"
        f"except SystemExit: print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1:] == ["[]"]


@pytest.mark.parametrize("arguments", [["--help"], []])
def test_every_command_is_listed(arguments, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    shown = capsys.readouterr()
    if arguments:
        assert all(f"    {name}" in shown.out for name in COMMANDS)
    else:
        assert "required: COMMAND" in shown.err


def test_an_unknown_command_is_told_the_known_ones(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["forebay", "srve"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "'serve'" in capsys.readouterr().err


def test_ctrl_c_ends_with_130(monkeypatch):
    def interrupted(_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "run", interrupted)
    assert main(["check", "forebay.yaml"]) == 130


def test_a_reader_that_has_enough_ends_it_quietly():
    command = [sys.executable, "-m", "forebay.cli.main", "completion", "bash"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141
