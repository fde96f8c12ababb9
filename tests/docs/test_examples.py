"""Every example in the documentation runs: files are assembled, Python is executed, command lines are parsed.

A block that cannot run is preceded by `<!-- untested: reason -->`.
"""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme

from forebay.cli.main import build_parser, main
from forebay.config.assemble import assemble
from forebay.config.companions import Companions
from forebay.config.document import Document
from forebay.simulator.scenario import read_scenario

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_FENCE = re.compile(
    r"^(?P<note><!-- untested: .+ -->\n)?^```(?P<language>\w+)(?P<rest>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, match.start("text")) + 1, match["language"], match["text"])
        for match in _FENCE.finditer(text)
        if not match["note"]
    ]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
YAML = [block for block in BLOCKS if block.language == "yaml"]
SCENARIOS = [block for block in YAML if "workload:" in block.text]
FILES = [block for block in YAML if block not in SCENARIOS]
COMMANDS = [
    (block, line.removeprefix("$ ").removeprefix(".venv/bin/"))
    for block in BLOCKS
    if block.language == "console"
    for line in block.text.splitlines()
    if re.match(r"\$ (\.venv/bin/)?forebay ", line)
]
# Stands for the files of a reader's own model.
SERVED = {
    "models/my-finetune/preprocessor_config.json": """{
        "processor_class": "Qwen2_5_VLProcessor", "max_pixels": 1003520
    }""",
}
SCRIPTS = {
    page: [block for block in BLOCKS if block.page == page and block.language == "python"] for page in PAGES
}


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """A folder with the certificates that examples name."""
    folder = tmp_path_factory.mktemp("certificates")
    (folder / "tls").mkdir()
    authority = trustme.CA()
    issued = authority.issue_cert("gateway.example.com")
    for name in ("clients.pem", "engines-ca.pem"):
        authority.cert_pem.write_to_path(folder / "tls" / name)
    issued.cert_chain_pems[0].write_to_path(folder / "tls" / "cert.pem")
    issued.private_key_pem.write_to_path(folder / "tls" / "key.pem")
    return folder


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("FOREBAY_KEYS", "ENGINE_KEY"):
        monkeypatch.setenv(name, "secret")


def test_there_is_something_to_test():
    assert FILES
    assert COMMANDS
    assert any(SCRIPTS.values())


@pytest.mark.parametrize("block", FILES, ids=str)
def test_configuration_files_are_right(block, certificates, monkeypatch):
    monkeypatch.chdir(certificates)
    assert assemble(Document(block.text, str(block), Companions(texts=SERVED))).pools


@pytest.mark.parametrize("block", [block for block in FILES if "listen:" in block.text], ids=str)
def test_check_explains_them(block, certificates, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(certificates)
    file = tmp_path / "forebay.yaml"
    file.write_text(block.text)
    assert main(["check", str(file)]) == 0
    assert "all is well" in capsys.readouterr().out


@pytest.mark.parametrize("block", SCENARIOS, ids=str)
def test_scenarios_are_right(block):
    assert read_scenario(Document(block.text, str(block)), "example").requests


@pytest.mark.parametrize(("block", "line"), COMMANDS, ids=str)
def test_command_lines_are_understood(block, line):
    assert build_parser().parse_args(shlex.split(line, comments=True)[1:])


@pytest.mark.parametrize(
    "page", [page for page, scripts in SCRIPTS.items() if scripts], ids=lambda page: page.stem
)
def test_python_runs(page):
    names: dict[str, object] = {"__name__": "example"}
    for block in SCRIPTS[page]:
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
