from forebay.domain.outcome import Ending, Usage
from forebay.telemetry.decisions import Story
from forebay.telemetry.explain import explained
from forebay.telemetry.table import as_table


def test_a_whole_story_as_text(decision, outcome):
    assert as_table(explained(Story([decision()], outcome()))) == (
        "request r-1  model qwen  pool qwen\n"
        "predicted 140 prompt tokens (text 10, image 100, audio 20, video 10; media exact), "
        "400 encoder patches, 200 output tokens expected\n"
        "\n"
        "try 0, profile multimodal: ep-b has 0.3 s (60%) less than ep-a\n"
        "  health dropped ep-x\n"
        "      endpoint  total  share  visual x0.4 [s]  decode x0.35 [s]\n"
        "  ->  ep-b      0.2    22%    0.4 (22%)        0 (0%)\n"
        "      ep-a      0.5    56%    1 (56%)          0 (0%)\n"
        "      ep-c      0.9    100%   1.8 (100%) ?     0 (0%)\n"
        "\n"
        "finished at ep-b after 1 try: first token after 50.0 ms, 900.0 ms in all, "
        "145 prompt tokens reported, 30 completion tokens\n"
    )


def test_a_request_that_found_no_place(decision, outcome, placement):
    from forebay.domain.placement import FilterTrace

    nowhere = placement(slot=None, totals=(), filters=(FilterTrace("health", tuple(range(20))),))
    ended = outcome(
        ending=Ending.REJECTED, reason="rejected-no-endpoints", endpoint="", usage=Usage(), ttft_us=0, tries=0
    )
    text = as_table(explained(Story([decision(placement=nowhere, exact=False)], ended)))
    assert "media approximate" in text
    assert "slot 15 and 4 more" in text
    assert "rejected (rejected-no-endpoints) after 0 tries: no first token" in text
    assert "prompt tokens not reported" in text


def test_a_large_pool_and_unknown_totals(decision, placement):
    large = placement(totals=tuple(float("nan") for _ in range(20)))
    text = as_table(explained(Story([decision(placement=large)])))
    assert "and 12 more" in text
    assert "unknown" in text
    assert text.count("\n\n") == 1


def test_an_ending_and_its_reason_are_one_word_when_they_are_the_same(decision, outcome):
    text = as_table(explained(Story([decision()], outcome(reason="finished", tries=2))))
    assert "\nfinished at ep-b after 2 tries: " in text
