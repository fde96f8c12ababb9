"""One real vLLM for every test of this folder: it takes half a minute to start."""

import pytest

from forebay.testing.engines import launch, vllm_cpu


@pytest.fixture(scope="session")
def engine(tmp_path_factory):
    process = launch.EngineProcess(vllm_cpu.vllm(launch.free_port()), tmp_path_factory.mktemp("logs"))
    process.start(vllm_cpu.START_SECONDS)
    yield process
    process.stop(grace_seconds=15)
