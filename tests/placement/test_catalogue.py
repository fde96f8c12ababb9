"""The profiles as configured, doing what their names say."""

import random
from collections import Counter

import msgspec
import pytest

from forebay.placement.catalogue import PROFILES
from forebay.placement.multimodal import MultimodalSettings


def build(name, **settings):
    recipe = PROFILES[name]
    return recipe.build(msgspec.convert(settings, recipe.settings))


def chosen(profile, ask, facts, times, on_choice=lambda slot: None):
    rng = random.Random(3)
    taken = Counter()
    for _ in range(times):
        slot = profile.place(ask, facts, rng).slot
        taken[slot] += 1
        on_choice(slot)
    return taken


def test_the_missions_weights_are_the_defaults():
    settings = MultimodalSettings()
    assert (settings.visual, settings.decode, settings.communication) == (0.40, 0.35, 0.25)


@pytest.mark.parametrize("name", PROFILES)
def test_settings_refuse_unknown_fields_and_wild_shares(name):
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        build(name, wieght=1)
    with pytest.raises(msgspec.ValidationError):
        build(name, context_text_share=2.0)


def test_round_robin_takes_turns_over_what_is_left(row, pool, ask):
    rows = [row(0), row(1), row(2, draining=1.0), row(3)]
    profile = build("round-robin")
    rng = random.Random(0)
    assert [profile.place(ask(), pool(*rows), rng).slot for _ in range(5)] == [0, 1, 3, 0, 1]


def test_two_pools_do_not_share_turns(row, pool, ask):
    first, second = build("round-robin"), build("round-robin")
    rng = random.Random(0)
    assert first.place(ask(), pool(row(0), row(1)), rng).slot == 0
    assert second.place(ask(), pool(row(0), row(1)), rng).slot == 0


def test_least_request_takes_the_fewest_in_flight(row, pool, ask):
    rows = [row(0, in_flight=2.0), row(1, in_flight=1.0), row(2, in_flight=3.0)]
    assert build("least-request").place(ask(), pool(*rows), random.Random(0)).slot == 1


def test_queue_kv_sums_four_signals(row, pool, ask):
    rows = [
        row(0, waiting=0.0, kv_usage=0.9, in_flight=0.0),  # 2 + 0.2 + 0 + 1 = 3.2
        row(1, waiting=4.0, kv_usage=0.1, in_flight=4.0),  # 0 + 1.8 + 1.5 + 0 = 3.3
        row(2, waiting=2.0, kv_usage=0.5, in_flight=2.0),  # 1 + 1.0 + 0 + 0.5 = 2.5
    ]
    placement = build("queue-kv").place(ask(text_tokens=100, cached={1: 50.0}), pool(*rows), random.Random(0))
    assert placement.totals == pytest.approx([3.2, 3.3, 2.5])
    assert placement.slot == 1


def test_p32_queue_kv_finds_an_unknown_endpoint_neither_good_nor_bad(row, pool, ask):
    rows = [row(0, waiting=0.0, kv_usage=0.2), row(1), row(2, waiting=4.0, kv_usage=0.8)]
    placement = build("queue-kv").place(ask(), pool(*rows), random.Random(0))
    assert placement.totals == pytest.approx([2 + 1.6 + 1, 1 + 1.0 + 1, 0 + 0.4 + 1])
    assert [trace.unknown for trace in placement.scorers] == [(1,), (1,), (), ()]


def test_heavy_work_keeps_away_from_streams_when_decode_weighs(row, pool, ask):
    rows = [
        row(0, decoding=30.0, gap_p95_us=30_000.0),
        row(1, backlog_us=5_000.0, head_us=5_000.0, progressed_at=1e6),
    ]
    picture = ask(image_tokens=4000, encoder_patches=16_000)
    assert build("multimodal").place(picture, pool(*rows), random.Random(0)).slot == 1
    assert build("multimodal", decode=0.0).place(picture, pool(*rows), random.Random(0)).slot == 0


def test_a_faster_device_takes_the_picture_though_it_has_some_work(row, pool, ask):
    slow = row(0, encode_us_per_patch=12.0, prefill_us_per_token=77.0)
    fast = row(1, backlog_us=50_000.0, head_us=50_000.0, progressed_at=1e6)
    picture = ask(image_tokens=4000, encoder_patches=16_000)
    assert build("multimodal").place(picture, pool(slow, fast), random.Random(0)).slot == 1


def test_p28_a_busy_endpoint_gets_few_unseen_prompts(row, pool, ask):
    busy = row(0, decoding=20.0, in_flight=20.0, running=20.0, waiting=0.0, foreign=0.0, viewed_at=1e6)
    idle = row(1, running=0.0, waiting=0.0, foreign=0.0, viewed_at=1e6)
    assert chosen(build("multimodal"), ask(), pool(busy, idle), 10)[1] >= 8


@pytest.mark.parametrize("name", ["least-request", "multimodal"])
@pytest.mark.parametrize(("loads", "requests", "apart"), [((0.0, 1.0), 8, 2), ((0.0, 0.0), 200, 20)])
def test_p27_one_scrape_does_not_send_a_window_of_requests_to_one_endpoint(
    name, loads, requests, apart, row, pool, ask
):
    rows = [
        row(slot, running=load, waiting=0.0, foreign=load, viewed_at=1e6) for slot, load in enumerate(loads)
    ]

    def dispatch(slot):
        rows[slot].in_flight += 1.0
        rows[slot].backlog_us += 10_000.0
        rows[slot].head_us, rows[slot].progressed_at = 10_000.0, 1e6

    taken = chosen(build(name), ask(), pool(*rows), requests, dispatch)
    assert abs(taken[0] - taken[1]) <= apart


def test_least_request_spares_a_fresh_replica(row, pool, ask):
    rows = [row(0, in_flight=3.0), row(1, in_flight=0.0, ramp=0.1)]
    assert build("least-request").place(ask(), pool(*rows), random.Random(0)).slot == 0
    rows = [row(0, in_flight=12.0), row(1, in_flight=0.0, ramp=0.1)]
    assert build("least-request").place(ask(), pool(*rows), random.Random(0)).slot == 1


@pytest.mark.parametrize(("load", "better"), [("in-flight", 0), ("requests", 1), ("tokens", 1)])
def test_power_of_two_takes_the_less_loaded_by_the_load_that_is_named(load, better, row, pool, ask):
    rows = [
        row(0, in_flight=1.0, foreign=9.0, viewed_at=1e6, kv_tokens=90_000.0),
        row(1, in_flight=3.0, foreign=0.0, viewed_at=1e6, kv_tokens=300.0),
    ]
    placement = build("power-of-two", load=load).place(ask(), pool(*rows), random.Random(0))
    assert placement.slot == better


def test_power_of_two_refuses_a_load_that_it_does_not_know():
    with pytest.raises(msgspec.ValidationError, match="load"):
        build("power-of-two", load="mood")
