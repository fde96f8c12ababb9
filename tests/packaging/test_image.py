"""The image's recipe. It is not built here, since that needs a Docker daemon and a registry; each of its parts is tried."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forebay.testing.live import LiveGateway
from forebay.testing.modelled import ModelledEngine

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging"
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
LINES = [line for line in re.sub(r"\\\n", " ", DOCKERFILE).splitlines() if line and not line.startswith("#")]
STAGES = [stage.splitlines() for stage in re.split(r"(?m)^(?=FROM )", "\n".join(LINES)) if stage]


def arguments(instruction, lines=LINES):
    """What follows each `instruction`, as words."""
    return [line.split()[1:] for line in lines if line.split()[0] == instruction]


def test_what_is_copied_is_there():
    sources = [word for words in arguments("COPY") if "--from" not in words[0] for word in words[:-1]]
    assert "src" in sources
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_what_is_copied_reaches_the_builder():
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text().splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    assert "*" in ignored
    assert kept == {word for words in arguments("COPY") if "--from" not in words[0] for word in words[:-1]}


def test_the_package_asks_for_no_file_that_is_not_copied():
    copied = {word for words in arguments("COPY", STAGES[0]) for word in words[:-1]}
    text = (ROOT / "pyproject.toml").read_text()
    licences = re.search(r"license-files = \[(.*)\]", text)[1]
    assert set(re.findall(r'"([^"]+)"', licences)) | set(re.findall(r'readme = "(.+)"', text)) <= copied


def test_two_stages_of_one_pinned_base_and_nothing_runs_as_root():
    bases = [stage[0].split()[1] for stage in STAGES]
    assert len(bases) == 2
    assert len(set(bases)) == 1, "an environment moves only between equal Pythons"
    assert re.fullmatch(r"python:\d+\.\d+-slim-\w+", bases[0])
    (user,) = arguments("USER", STAGES[1])
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user[0])
    last = [line.split()[0] for line in STAGES[1]]
    assert "RUN" not in last[last.index("USER") :]


def test_the_command_is_one_that_there_is(monkeypatch):
    from forebay.cli.main import build_parser

    words = re.findall(r'"([^"]+)"', next(line for line in STAGES[1] if line.startswith("CMD")))
    assert build_parser().parse_args(words).config == Path("/etc/forebay/forebay.yaml")


async def test_health_is_the_gateways():
    async with ModelledEngine() as engine:
        async with LiveGateway([engine.url]) as gateway:
            url = f"{gateway.url}/health"
            assert (await run_health(url)).returncode == 0
        gone = await run_health(url)
    assert gone.returncode == 1
    assert url in gone.stderr


async def run_health(url):
    import asyncio

    return await asyncio.to_thread(
        subprocess.run,
        [sys.executable, FOLDER / "healthy.py"],
        env=os.environ | {"FOREBAY_HEALTH_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_health_check_runs_what_is_copied():
    (check,) = (line for line in STAGES[1] if line.startswith("HEALTHCHECK"))
    target = re.search(r'"(/opt/forebay/\S+\.py)"', check)[1]
    assert ["packaging/healthy.py", target] in arguments("COPY", STAGES[1])


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed")
def test_hadolint_has_nothing_to_say():
    done = subprocess.run(
        ["hadolint", FOLDER / "Dockerfile"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
