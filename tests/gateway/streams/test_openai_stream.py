import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.domain.outcome import FailureKind, Usage
from forebay.domain.request import Api
from forebay.gateway.streams.machine import EndKind
from forebay.gateway.streams.openai_stream import OpenAIStream
from forebay.gateway.streams.sse import SseSettings


def stream(**options):
    return OpenAIStream(options.pop("api", Api.CHAT), options.pop("client_model", "eng"), **options)


def run(machine, *reads, step_us=1_000):
    """Feed every read, then end. Returns the client's bytes and the end."""
    out = b""
    for number, read in enumerate(reads, 1):
        out += machine.feed(read, number * step_us).out
        if machine.failure:
            return out, None
    end = machine.finish(len(reads) * step_us + step_us)
    return out + end.tail, end


def chunk(delta=None, finish=None, index=0, **more):
    choice = {"index": index, "delta": delta or {}, "finish_reason": finish}
    return b"data: " + json.dumps({"model": "eng", "choices": [choice], **more}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def pieces_of(data, offsets):
    bounds = [0, *offsets, len(data)]
    return [data[start:stop] for start, stop in itertools.pairwise(bounds)]


def test_p14_characters_cut_by_reads_stay_whole(case, case_json):
    data, cuts = case("p14_utf8.sse"), case_json("p14_cuts.json")
    for reads in ([data], pieces_of(data, cuts["cut_offsets"]), [data[i : i + 1] for i in range(len(data))]):
        machine = stream()
        out, end = run(machine, *reads)
        assert out == data
        assert end.kind is EndKind.COMPLETE
        assert machine.tally.content_deltas == 2
        texts = [json.loads(e[6:])["choices"][0]["delta"].get("content", "") for e in out.split(b"\n\n")[:-2]]
        assert "".join(texts) == cuts["joined_text"]


def test_p15_comments_pass_as_comments_and_are_not_counted(case):
    data = case("p15_comments.sse")
    machine = stream()
    first = machine.feed(b": warming up\n\n:\n\n", 1_000)
    assert (first.out, first.first_content) == (b"", False)
    rest = data.removeprefix(b": warming up\n\n:\n\n")
    step = machine.feed(rest, 5_000_000)
    assert step.first_content
    assert step.out == data
    assert machine.tally.first_delta_at == 5_000_000
    assert machine.tally.content_deltas == 2


@pytest.mark.parametrize("name", ["p17_eof_mid_text.sse", "p17_eof_mid_tool.sse"])
def test_p17_an_end_before_the_finish_is_told_to_the_client(case, name):
    data = case(name)
    out, end = run(stream(), data)
    assert end.kind is EndKind.TRUNCATED
    assert out.startswith(data)
    error = json.loads(out.removeprefix(data).removeprefix(b"data: "))["error"]
    assert error["type"] == error["code"] == "upstream_truncated"


def test_p17_a_missing_done_is_supplied(case):
    data = case("p17_finish_but_no_done.sse")
    out, end = run(stream(), data)
    assert end.kind is EndKind.COMPLETE
    assert out == data + DONE


@pytest.mark.parametrize("name", ["p19_usage_tail.sse", "p19_usage_no_choices_key.sse"])
def test_p19_usage_is_metered_and_hidden(case, name):
    machine = stream(usage_wanted=False)
    out, _ = run(machine, case(name))
    assert machine.tally.usage == Usage(61, 2, 0, reported=True)
    assert b"prompt_tokens" not in out
    assert out.endswith(b'"stop"}], "usage": null}\n\n' + DONE if "tail" in name else b'"stop"}]}\n\n' + DONE)


def test_p19_usage_is_shown_to_those_who_asked(case):
    data = case("p19_usage_tail.sse")
    assert run(stream(), data)[0] == data
    without = case("p19_usage_no_choices_key.sse")
    out, _ = run(stream(), without)
    assert out == without.replace(
        b'{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "eng", "usage"',
        b'{"choices":[],"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "eng", "usage"',
    )


def test_p20_a_preamble_is_held_back(case):
    machine = stream()
    step = machine.feed(case("p20_role_only_then_reset.sse"), 1)
    assert (step.out, step.first_content) == (b"", False)
    assert machine.finish(2).tail == b""
    assert machine.finish(2).kind is EndKind.TRUNCATED


def test_p20_an_error_first_is_retryable(case):
    machine = stream()
    step = machine.feed(case("p20_error_first.sse"), 1)
    assert step.out == b""
    assert step.failure.kind is FailureKind.STREAM_ERROR
    assert (step.failure.status, step.failure.code, step.failure.message) == (503, "overloaded", "queue full")
    assert not machine.content_sent
    assert machine.feed(b"data: more\n\n", 2).out == b""


def test_p20_an_error_later_is_passed_on(case):
    machine = stream()
    machine.feed(chunk({"content": "A sa"}), 1)
    step = machine.feed(case("p20_error_first.sse") + DONE, 2)
    assert step.out == case("p20_error_first.sse")
    assert step.failure is not None
    assert not machine.at_boundary


def test_p20_a_good_stream_has_one_preamble(case):
    data = case("p20_good.sse")
    assert run(stream(), data)[0] == data


def test_p22_reasoning_and_tools_are_counted_and_untouched(case):
    data = case("p22_reasoning_tools.sse")
    machine = stream()
    events = [event + b"\n\n" for event in data.split(b"\n\n")[:-1]]
    out, end = run(machine, *events)
    assert out == data
    assert end.kind is EndKind.COMPLETE
    tally = machine.tally
    assert (tally.content_deltas, tally.reasoning_deltas, tally.tool_deltas) == (0, 2, 3)
    assert tally.first_delta_at == 2_000
    assert tally.first_content_at == 0
    assert machine.finish_reasons == {0: "tool_calls"}


def test_model_is_given_back_as_the_client_wrote_it():
    machine = stream(client_model='my "alias"', rename=True)
    data = [chunk({"content": f"w{i} model"}) for i in range(4)] + [chunk(finish="stop"), DONE]
    out, _ = run(machine, *data)
    assert out == b"".join(data).replace(b'"model": "eng"', b'"model": "my \\"alias\\""')


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"x":{"model":"eng"},"choices":[{"index":0,"delta":{"content":"\\"model\\":\\"eng\\""}}],"model":"eng"}\n\n',
        b'data: {"x":{"model":"eng"},"choices":[{"index":0,"delta":{"content":"a"}}],"m\\u006fdel":"eng"}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"a"}}],\ndata:  "model":"eng"}\n\n',
    ],
)
def test_only_the_top_level_model_is_renamed(event):
    machine = stream(client_model="alias", rename=True)
    for _ in range(3):
        out = machine.feed(event, 1).out
        assert out.count(b'"alias"') == 1
        assert out.count(b"eng") == event.count(b"eng") - 1
        assert out.rindex(b'"alias"') > out.index(b"choices")


def test_an_unknown_delta_counts_as_content_but_not_as_text():
    machine = stream()
    step = machine.feed(chunk({"role": "assistant", "audio": {"id": "a"}}), 1)
    assert step.first_content
    assert machine.tally.deltas == 0


def test_several_choices_must_all_finish():
    machine = stream(choices=2)
    machine.feed(chunk({"content": "a"}) + chunk({"content": "b"}, index=1) + chunk(finish="stop"), 1)
    assert machine.finish(2).kind is EndKind.TRUNCATED
    machine = stream(choices=2)
    machine.feed(chunk({"content": "a"}) + chunk(finish="stop") + chunk(finish="length", index=1), 1)
    assert machine.finish(2).kind is EndKind.COMPLETE


def test_gaps_are_between_reads_with_deltas():
    machine = stream()
    for at in (1_000, 3_000, 3_500, 9_500):
        machine.feed(chunk({"content": f"t{at}"}), at)
    machine.feed(b": comment\n\n", 50_000)
    assert machine.tally.largest_gap_us == 6_000
    assert machine.tally.take_gap() == 6_000
    assert machine.tally.take_gap() == 0
    machine.feed(chunk({"content": "x"}), 10_000)
    assert machine.tally.take_gap() == 500
    assert machine.tally.largest_gap_us == 6_000


def test_completions_count_texts():
    machine = stream(api=Api.COMPLETIONS)
    data = [b'data: {"choices":[{"index":0,"text":"%d","finish_reason":null}]}\n\n' % i for i in range(5)]
    last = b'data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}\n\n'
    out, end = run(machine, *data, last, DONE)
    assert out == b"".join(data) + last + DONE
    assert end.kind is EndKind.COMPLETE
    assert machine.tally.content_deltas == 5
    assert machine.tally.usage == Usage(3, 5, 0, reported=True)


def test_a_last_event_without_its_empty_line_counts():
    machine = stream()
    out, end = run(machine, chunk({"content": "a"}) + b"data: [DONE]\n")
    assert end.kind is EndKind.COMPLETE
    assert out.endswith(b"data: [DONE]\n\n")


def test_a_begun_event_at_the_end_is_dropped():
    out, end = run(stream(), chunk({"content": "a"}) + b'data: {"choices":[{"beg')
    assert end.kind is EndKind.TRUNCATED
    assert b'"beg' not in out


def test_an_unreadable_event_is_passed_on():
    data = chunk({"content": "a"}) + b"data: what\n\n" + b'data: {"vendor":1}\n\n' + DONE
    assert run(stream(), data)[0] == data


def test_bad_text_in_what_is_not_known_here_is_passed_on():
    data = chunk({"content": "a"}) + b'data: {"vendor":"\xff"}\n\n' + DONE
    assert run(stream(), data)[0] == data
    data = b'data: {"choices":[{"delta":{"vendor":"\xff"}}]}\n\n' + DONE
    assert run(stream(), data)[0] == data


def test_an_old_error_object_is_a_failure():
    machine = stream()
    step = machine.feed(b'data: {"object":"error","message":"no","type":"BadRequestError","code":400}\n\n', 1)
    assert (step.failure.status, step.failure.message) == (400, "no")


def test_an_endless_event_is_a_protocol_failure():
    machine = stream(settings=SseSettings(max_event_bytes=20))
    assert machine.feed(b"data: " + b"x" * 30, 1).failure.kind is FailureKind.PROTOCOL


def test_an_endless_preamble_is_a_protocol_failure():
    machine = stream(settings=SseSettings(max_event_bytes=20))
    step = machine.feed(b": keep alive\n\n" * 2, 1)
    assert step.failure.kind is FailureKind.PROTOCOL
    assert step.out == b""


def test_a_finish_alone_is_an_answer():
    machine = stream()
    step = machine.feed(chunk({"role": "assistant", "content": ""}) + chunk(finish="stop"), 1)
    assert step.first_content
    assert machine.tally.deltas == 0


def test_a_begun_reasoning_stream_counts_its_pieces():
    machine = stream()
    for number in range(5):
        machine.feed(chunk({"reasoning": f"t{number}"}), number)
    assert machine.tally.reasoning_deltas == machine.tally.output_tokens == 5


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"model":"x","model":"eng","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        b'data: {"model":"alias","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
    ],
)
def test_a_model_that_cannot_be_renamed_keeps_its_bytes(event):
    machine = stream(client_model="alias", rename=True)
    assert machine.feed(event, 1).out == event


def test_a_last_chunk_without_its_empty_line_counts():
    machine = stream()
    out, end = run(
        machine, chunk({"content": "a"}) + chunk({"content": "b"}, finish="stop").removesuffix(b"\n\n")
    )
    assert end.kind is EndKind.COMPLETE
    assert machine.tally.content_deltas == 2
    assert out.endswith(b"}\n\n" + DONE)


TEXTS = st.text(max_size=4) | st.sampled_from(['"', "\\", '\\"', "\n", "é", "😀", '"model"', "data: x\n\n"])
DELTAS = st.one_of(
    st.fixed_dictionaries({"content": TEXTS}),
    st.fixed_dictionaries({"reasoning": TEXTS}),
    st.fixed_dictionaries({"role": st.just("assistant"), "content": TEXTS | st.none()}),
    st.just({}),
    st.just({"tool_calls": [{"index": 0, "function": {"arguments": '"content":"x"'}}]}),
)
EVENTS = st.lists(
    st.one_of(DELTAS.map(chunk), st.just(b": c\n\n"), st.just(chunk(finish="stop")), st.just(DONE)),
    max_size=10,
)


@given(EVENTS, st.booleans(), st.data())
def test_any_cutting_gives_the_same_bytes_and_counts(events, rename, data):
    joined = b"".join(events)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(joined)), max_size=6)))
    results = []
    for reads in (events, [joined], pieces_of(joined, cuts), [joined[i : i + 1] for i in range(len(joined))]):
        machine = stream(client_model="alias" if rename else "eng", rename=rename)
        out, end = run(machine, *reads)
        tally = machine.tally
        results.append(
            (
                out,
                end,
                tally.content_deltas,
                tally.reasoning_deltas,
                tally.tool_deltas,
                machine.finish_reasons,
            )
        )
        parsed = [
            json.loads(event[6:])["choices"][0]["delta"] for event in events if event.startswith(b"data: {")
        ]
        assert tally.content_deltas == sum(bool(delta.get("content")) for delta in parsed)
        assert tally.reasoning_deltas == sum(bool(delta.get("reasoning")) for delta in parsed)
        if machine.content_sent and end.kind is EndKind.COMPLETE:
            shown = joined.replace(b'"model": "eng"', b'"model": "alias"') if rename else joined
            assert out.removesuffix(DONE) == shown.removesuffix(DONE)
    assert all(result == results[0] for result in results)
