from forebay.fleet.absence import Absences
from forebay.fleet.dialects import BY_ENGINE
from forebay.fleet.dialects.base import Reading

WHOLE = Reading(running=1.0, waiting=0.0, kv_usage=0.5)


def test_p32_a_vanished_metric_is_told_once():
    absences = Absences()
    vllm = BY_ENGINE["vllm"]
    assert absences.notice(WHOLE, vllm) == []
    told = absences.notice(Reading(running=1.0, waiting=0.0), vllm)
    assert len(told) == 1
    assert "`kv_usage` vanished" in told[0]
    assert "vllm:gpu_cache_usage_perc" in told[0]
    assert absences.notice(Reading(running=1.0, waiting=0.0), vllm) == []
    assert absences.notice(WHOLE, vllm) == []
    assert absences.notice(Reading(running=1.0, waiting=0.0), vllm) == []


def test_p32_a_renamed_metric_is_told_even_if_it_was_never_seen():
    told = Absences().notice(Reading(running=1.0, waiting=0.0), BY_ENGINE["vllm"])
    assert len(told) == 1
    assert "`kv_usage` is not among" in told[0]


def test_what_an_engine_never_exports_is_not_missed():
    reading = Reading(running=1.0, waiting=0.0)
    assert Absences().notice(reading, BY_ENGINE["llama.cpp"]) == []
    assert Absences().notice(Reading(), BY_ENGINE["generic"]) == []
