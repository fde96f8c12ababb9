"""The completion scripts, in the shells that read them."""

import shutil
import subprocess
import sys

import pytest

from forebay.cli.completion import SHELLS
from forebay.cli.main import COMMANDS, main

OPTIONS = {"--admin", "--interval", "--once", "--json", "--svg"}

BASH = """
source {script}
ask() {{ COMP_WORDS=(forebay "$@"); COMP_CWORD=$#; COMPREPLY=(); _shtab_forebay; echo "${{COMPREPLY[@]}}"; }}
ask ""; ask top --; ask completion ""; ask serve --config {folder}/forebay.y
"""
FISH = """
source {script}
for typed in 'forebay ' 'forebay top --' 'forebay completion ' 'forebay serve --config {folder}/forebay.y'
    complete -C $typed | string split -f 1 \\t | string join ' '
end
"""


@pytest.fixture
def script(tmp_path, capsys):
    def script(shell):
        assert main(["completion", shell]) == 0
        (tmp_path / "forebay.yaml").touch()
        path = tmp_path / f"forebay.{shell}"
        path.write_text(capsys.readouterr().out)
        return path

    return script


@pytest.mark.parametrize(("shell", "program"), [("bash", BASH), ("fish", FISH)])
def test_commands_options_choices_and_files_are_completed(shell, program, script):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = script(shell)
    asked = program.format(script=path, folder=path.parent)
    bare = ["--norc"] if shell == "bash" else ["--no-config"]
    done = subprocess.run(
        [shell, *bare, "-c", asked], capture_output=True, text=True, timeout=60, check=False
    )
    commands, options, shells, files = done.stdout.splitlines()
    assert set(COMMANDS) <= set(commands.split())
    assert set(options.split()) >= OPTIONS
    assert set(shells.split()) >= set(SHELLS)
    assert files.endswith("forebay.yaml")
    assert done.stderr == ""


def test_zsh_can_read_its_script(script):
    path = script("zsh")
    assert path.read_text().startswith("#compdef forebay")
    assert all(f"{command}:" in path.read_text() for command in COMMANDS)
    if shutil.which("zsh") is not None:
        subprocess.run(["zsh", "-n", path], check=True, timeout=60)


def test_without_the_library_the_error_names_the_cure(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert "pip install 'forebay[completion]'" in capsys.readouterr().err


def test_another_shell_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["completion", "dos"])
    assert "invalid choice" in capsys.readouterr().err
