from pathlib import Path

import pytest

from forebay.fleet.dialects import BY_ENGINE, dialect_of
from forebay.fleet.dialects.base import NOTHING, Dialect, Lora, read
from forebay.fleet.metrics import parse

FIXTURES = Path(__file__).parents[1] / "fixtures"
CASES = Path(__file__).parents[2] / "cases"


def reading(engine, text):
    dialect = BY_ENGINE[engine]
    return read(parse(text, dialect.names), dialect)


def case(engine, name):
    return reading(engine, (CASES / name).read_bytes())


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        ("vllm", "p32_old_names.prom"),
        ("vllm", "p32_new_names.prom"),
        ("vllm", "p32_both_names.prom"),
        ("sglang", "p32_sglang.prom"),
        ("generic", "p32_old_names.prom"),
        ("generic", "p32_both_names.prom"),
        ("generic", "p32_sglang.prom"),
    ],
)
def test_p32_every_version_says_the_same_and_the_newer_name_wins(engine, name):
    found = case(engine, name)
    assert (found.running, found.waiting, found.kv_usage) == (3.0, 2.0, 0.42)


@pytest.mark.parametrize("engine", ["llama.cpp", "generic"])
def test_p32_llamacpp_has_no_kv_usage_which_is_not_zero(engine):
    found = case(engine, "p32_llamacpp.prom")
    assert (found.running, found.waiting, found.kv_usage, found.kv_usage_mean) == (3.0, 2.0, None, None)


def test_p32_ranks_are_summed_and_the_fullest_cache_counts():
    found = case("vllm", "p32_dp2.prom")
    assert (found.running, found.waiting) == (54.0, 117.0)
    assert found.kv_usage == 1.0
    assert found.kv_usage_mean == pytest.approx(0.55)


def test_p32_the_newest_lora_series_by_value_wins():
    found = case("vllm", "p32_dp2.prom")
    assert found.lora == Lora(running=frozenset({"ad-a", "ad-b"}), waiting=frozenset({"ad-c"}))


def test_an_empty_scrape_knows_nothing():
    assert reading("vllm", b"") == NOTHING


def test_a_newer_name_without_a_number_gives_way_to_the_older():
    text = b"vllm:kv_cache_usage_perc NaN\nvllm:gpu_cache_usage_perc 0.5\n"
    assert reading("vllm", text).kv_usage == 0.5


@pytest.mark.parametrize("value", [b"-0.1", b"42", b"+Inf", b"NaN"])
def test_a_usage_outside_its_range_is_unknown(value):
    assert reading("vllm", b"vllm:kv_cache_usage_perc " + value + b"\n").kv_usage is None


def test_tensor_parallel_copies_of_one_rank_count_once():
    text = b"""
sglang:num_running_reqs{dp_rank="0",tp_rank="0"} 5
sglang:num_running_reqs{dp_rank="0",tp_rank="1"} 5
sglang:num_running_reqs{dp_rank="1",tp_rank="0"} 2
"""
    assert reading("sglang", text).running == 7.0


def test_kv_capacity_is_blocks_times_their_size_over_all_ranks():
    text = b"""
vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="1000"} 1.0
vllm:cache_config_info{block_size="16",engine="1",num_gpu_blocks="500"} 1.0
"""
    assert reading("vllm", text).kv_capacity_tokens == 24_000


@pytest.mark.parametrize("blocks", [b"None", b"", b"many"])
def test_kv_capacity_is_unknown_before_memory_is_profiled(blocks):
    text = b'vllm:cache_config_info{block_size="16",num_gpu_blocks="' + blocks + b'"} 1.0\n'
    assert reading("vllm", text).kv_capacity_tokens is None
    assert reading("vllm", b'vllm:cache_config_info{block_size="16"} 1.0\n').kv_capacity_tokens is None


def test_kv_capacity_from_gauges():
    assert reading("sglang", b"sglang:max_total_num_tokens 161721.0\n").kv_capacity_tokens == 161_721
    info = b'sglang:cache_config_info{page_size="64",num_pages="10"} 1.0\n'
    assert reading("sglang", info).kv_capacity_tokens == 640
    blocks = b"trtllm_kv_cache_tokens_per_block 32\ntrtllm_kv_cache_max_blocks 100\n"
    assert reading("generic", blocks).kv_capacity_tokens == 3200
    assert reading("generic", b"trtllm_kv_cache_tokens_per_block 32\n").kv_capacity_tokens is None


def test_gaps_come_from_the_newer_histogram():
    text = b"""
vllm:time_per_output_token_seconds_bucket{le="0.1"} 1
vllm:time_per_output_token_seconds_bucket{le="+Inf"} 1
vllm:inter_token_latency_seconds_bucket{le="0.1"} 2
vllm:inter_token_latency_seconds_bucket{le="+Inf"} 3
"""
    gaps = reading("vllm", text).gaps
    assert gaps is not None
    assert gaps.counts == (2.0, 3.0)


def test_an_engine_that_nobody_knows_is_read_by_every_name():
    assert dialect_of("") is dialect_of("generic") is dialect_of("tomorrow")
    assert dialect_of("vllm").engine == "vllm"


def test_what_a_real_vllm_wrote():
    """Captured from vLLM 0.32.0 on a CPU after twelve requests of 200 tokens, four at a time."""
    found = reading("vllm", (FIXTURES / "vllm-0.32.0.prom").read_bytes())
    assert (found.running, found.waiting, found.kv_usage, found.kv_usage_mean) == (0.0, 0.0, 0.0, 0.0)
    assert (found.kv_capacity_tokens, found.lora, found.asleep) == (4096, None, False)
    assert found.gaps is not None
    assert (found.gaps.counts[0], found.gaps.counts[-1]) == (2334.0, 2388.0)


def test_the_size_that_vllm_names_wins_over_blocks_times_their_size():
    text = b'vllm:cache_config_info{block_size="16",kv_cache_size_tokens="900",num_gpu_blocks="100"} 1.0\n'
    assert reading("vllm", text).kv_capacity_tokens == 900
    unnamed = text.replace(b'"900"', b'"None"')
    assert reading("vllm", unnamed).kv_capacity_tokens == 1600


@pytest.mark.parametrize(("awake", "asleep"), [((1, 1), False), ((1, 0), True), ((0, 0), True), ((), None)])
def test_one_sleeping_rank_is_enough_to_be_asleep(awake, asleep):
    lines = [f'vllm:engine_sleep_state{{engine="{n}",sleep_state="awake"}} {v}' for n, v in enumerate(awake)]
    other = 'vllm:engine_sleep_state{engine="0",sleep_state="discard_all"} 0'
    assert reading("vllm", "\n".join([*lines, other]).encode()).asleep is asleep
    assert reading("llama.cpp", b"").asleep is None


def scraped(engine, fixture):
    return reading(engine, (FIXTURES / fixture).read_bytes())


def test_sglang_ranks_add_up_and_their_tensor_parallel_copies_and_priorities_do_not():
    found = scraped("sglang", "sglang-dp2-tp2.prom")
    assert (found.running, found.waiting) == (8.0, 4.0)
    assert (found.kv_usage, found.kv_usage_mean) == (0.9, pytest.approx(0.6))
    assert found.kv_capacity_tokens == 40_960


def test_tensorrt_llm_on_triton_knows_its_batch_and_its_cache():
    found = scraped("triton", "tensorrt-llm-on-triton.prom")
    assert (found.running, found.waiting, found.kv_usage) == (5.0, 7.0, 0.4875)
    assert found.kv_capacity_tokens == 64 * 6239


def test_plain_triton_knows_only_who_waits_and_each_model_has_a_queue():
    text = b"""
nv_inference_pending_request_count{model="a",version="1"} 2
nv_inference_pending_request_count{model="a",version="2"} 1
nv_inference_pending_request_count{model="b",version="1"} 4
"""
    found = reading("triton", text)
    assert (found.running, found.waiting, found.kv_usage) == (None, 7.0, None)


def test_vllm_in_triton_is_read_by_its_own_names():
    text = b"""
nv_inference_pending_request_count{model="v",version="1"} 0
vllm:num_requests_running{model="v",version="1"} 6
vllm:num_requests_waiting{model="v",version="1"} 2
vllm:kv_cache_usage_perc{model="v",version="1"} 0.5
"""
    found = reading("triton", text)
    assert (found.running, found.waiting, found.kv_usage) == (6.0, 2.0, 0.5)


def test_trtllm_serve_names_its_batch_and_its_cache():
    text = b"""trtllm_num_requests_running 5
trtllm_num_requests_waiting 1
trtllm_kv_cache_utilization 0.25
trtllm_kv_cache_tokens_per_block 32
trtllm_kv_cache_max_blocks 100
"""
    for engine in ("trtllm", "generic"):
        found = reading(engine, text)
        assert (found.running, found.waiting, found.kv_usage, found.kv_capacity_tokens) == (
            5.0,
            1.0,
            0.25,
            3200,
        )
    assert BY_ENGINE["trtllm"].path == "/prometheus/metrics"


def test_openvino_counts_graphs_and_where_there_are_none_plain_requests():
    assert scraped("openvino", "openvino-model-server.prom").running == 4.0
    plain = b'ovms_current_requests{name="r",version="1"} 2\novms_current_requests{name="r",version="2"} 2\n'
    found = reading("openvino", plain)
    assert (found.running, found.waiting) == (4.0, None)


def test_tgi_names_its_batch_and_its_queue():
    found = scraped("tgi", "tgi.prom")
    assert (found.running, found.waiting, found.kv_usage) == (3.0, 2.0, None)


def test_a_name_with_a_label_is_that_series_only():
    dialect = Dialect("x", running=("m{kind=a}",), waiting=("m{kind=b c}", "m"))
    text = b'm{kind="a"} 1\nm{kind="b c"} 2\nm 4\nm{other="a"} 8\n'
    found = read(parse(text, dialect.names), dialect)
    assert dialect.names == {"m"}
    assert (found.running, found.waiting) == (1.0, 2.0)
    assert read(parse(b"m 4\n", dialect.names), dialect).waiting == 4.0
