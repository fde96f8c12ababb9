"""NVIDIA's load generator completes a run of pictures, and one of sound, through the gateway before real engines."""

import asyncio
import json
import os
from importlib.resources import files
from pathlib import Path

import pytest

from forebay.testing.engines import launch
from forebay.testing.live import LiveGateway
from forebay.testing.showcase import TINYVLM_FAMILY

AIPERF = Path(__file__).parents[2] / ".venv-aiperf" / "bin" / "aiperf"
WHY_NOT = launch.engines_available() or (
    None if AIPERF.exists() else "aiperf is not installed: run `make test-engines`"
)
pytestmark = [
    pytest.mark.aiperf,
    pytest.mark.timeout(400),
    pytest.mark.skipif(WHY_NOT is not None, reason=f"AIPERF NOT RUN: {WHY_NOT}"),
]
TOKENIZER = str(files("forebay").joinpath("testing/models/tinyvlm/hf"))
REQUESTS = 60
PICTURES = ("--image-width-mean", "224", "--image-width-stddev", "60", "--image-height-mean", "224",
            "--image-height-stddev", "60", "--image-batch-size", "2")  # fmt: skip
SOUND = ("--audio-length-mean", "2", "--audio-length-stddev", "0.5", "--audio-format", "wav")


async def profile(gateway, model, media, folder):
    """Run `aiperf profile`; what it wrote about the run. Its environment names no key and no proxy."""
    command = (
        str(AIPERF), "profile", "--model", model, "--url", gateway.url, "--endpoint-type", "chat", "--streaming",
        "--tokenizer", TOKENIZER, "--concurrency", "6", "--request-count", str(REQUESTS), *media,
        "--prompt-input-tokens-mean", "30", "--prompt-output-tokens-mean", "12", "--extra-inputs", "ignore_eos:true",
        "--use-server-token-count", "--random-seed", "7", "--ui", "none", "--no-gpu-telemetry", "--no-server-metrics",
        "--output-artifact-dir", str(folder),
    )  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await process.communicate()
    assert process.returncode == 0, told.decode()[-2000:]
    (written,) = folder.rglob("profile_export_aiperf.json")
    return json.loads(written.read_text())


@pytest.mark.parametrize(
    ("model", "spec", "family", "media", "modality"),
    [
        (launch.TINYVLM, launch.tinyvlm, TINYVLM_FAMILY, PICTURES, "image"),
        (launch.TINY_AUDIO, launch.tiny_audio, "qwen2-audio", SOUND, "audio"),
    ],
)
async def test_a_multimodal_run_completes(tmp_path, model, spec, family, media, modality):
    engines = [launch.EngineProcess(spec(launch.free_port()), tmp_path / "logs") for _ in range(2)]
    launch.start_all(engines)
    try:
        pool = {"model": model, "family": family, "endpoints": [{"url": one.url} for one in engines]}
        async with LiveGateway(pools=[pool]) as gateway:
            run = await profile(gateway, model, media, tmp_path)
            metrics = (await gateway.get("/metrics", admin=True)).body.decode()
    finally:
        launch.stop_all(engines)
    assert run["request_count"]["avg"] == REQUESTS
    assert "error_request_count" not in run or not run["error_request_count"]["avg"]
    counted = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if line.startswith("forebay_"))
    assert float(counted[f'forebay_requests_total{{ending="finished",pool="{model}"}}']) == REQUESTS
    predicted = f'forebay_predicted_prompt_tokens_total{{modality="{modality}",pool="{model}"}}'
    assert float(counted[predicted]) > REQUESTS
