"""From the same plan, seed and events come the same commands, bit for bit; and what does not is named."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.conductor.commands import Dispatch
from forebay.conductor.conductor import Conductor
from forebay.conductor.events import (
    Arrived,
    Cancelled,
    DrainAsked,
    Failed,
    Finished,
    FirstToken,
    PeersChanged,
    PlanChanged,
    Progress,
    ViewChanged,
    Woke,
)
from forebay.config.assemble import assemble
from forebay.config.document import Document
from forebay.domain.load import AMOUNTS, Load
from forebay.domain.outcome import FailureKind, Usage
from forebay.runtime.recorder import Recorder, new_file
from forebay.runtime.records import FORMAT, Head, LogError, framed, records, without_secrets
from forebay.runtime.replay import replay
from forebay.testing.build import picture, request, view
from forebay.testing.strategies import failure_kinds, requests

BIG_HASH = 2**127 + 12345


def assembly(endpoints=3, version=1, **more):
    listed = [
        {"url": f"http://10.0.0.{i + 1}:8000", "engine": "vllm", "max_in_flight": 2} for i in range(endpoints)
    ]
    pool = {"model": "m", "family": "generic", "profile": "multimodal", "endpoints": listed, **more}
    return assemble(Document.of({"pools": [pool], "seed": 7}, "test"), version=version)


def recorder(folder, worker=0, workers=1, found=None, max_bytes=2**30):
    found = found or assembly()
    conductor = Conductor(found.plan, seed=7, at=5, worker=worker, workers=workers)
    head = Head(FORMAT, "0", worker, workers, 7, 5, found.recipe)
    file = new_file(folder, worker, 4, "now")
    return Recorder(conductor, file, head, max_bytes), file


def life(made, steps=60):
    """Something of everything that a conductor is told."""
    running, at = {}, 10
    for index in range(steps):
        at += 40_000
        asked = request(f"r{index}", media=(picture(content_hash=BIG_HASH),) if index % 3 else ())
        commands = made.handle(Arrived(at, asked))
        running |= {each.attempt.request_id: each.attempt for each in commands if isinstance(each, Dispatch)}
        if index % 4 == 0:
            made.handle(
                ViewChanged(at, (view(index % 3, running=float(index % 5), reachable=index % 7 > 0),))
            )
        if running:
            name = next(iter(running))
            attempt = running.pop(name)
            made.handle(FirstToken(at, attempt))
            made.handle(Progress(at + 1, attempt, 5, 12_000))
            if index % 5 == 0:
                made.handle(Failed(at + 2, attempt, FailureKind.RESET, content_sent=True))
            elif index % 5 == 1:
                made.handle(Cancelled(at + 2, name))
            else:
                made.handle(Finished(at + 2, attempt, Usage(40, 9, 0, reported=True)))
        made.handle(Woke(at + 3))


def test_a_life_is_replayed(tmp_path):
    made, file = recorder(tmp_path)
    life(made)
    other = assembly(endpoints=2, version=2)
    made.adopt(other.recipe)
    made.handle(PlanChanged(9_000_000, other.plan))
    made.handle(DrainAsked(9_000_001, 0, draining=True, limit_us=5))
    life(made, 5)
    made.close()
    found = replay(file)
    assert found.difference is None
    assert found.same > 200
    assert made.losses() == {"forebay_decision_log_dropped": 0}


def test_what_peers_have_told_is_part_of_it(tmp_path):
    made, file = recorder(tmp_path, worker=1, workers=2)
    for index in range(20):
        made.handle(
            PeersChanged(index, (Load(index % 3, in_flight=index % 4, succeeded=index, wanting=index % 2),))
        )
        made.handle(Arrived(index, request(f"r{index}")))
    made.close()
    found = replay(file)
    assert (found.head.worker, found.head.workers) == (1, 2)
    assert (found.same, found.difference) == (40, None)


def test_a_large_pool_is_written_as_plain_numbers(tmp_path):
    made, file = recorder(tmp_path, found=assembly(endpoints=40))
    life(made, 10)
    made.close()
    assert replay(file).difference is None


def rewritten(file, change):
    """The log with each record as `change(number, values)` returns it."""
    with file.open("rb") as stream:
        found = list(records(stream))
    changed = [
        found[0],
        *(change(number, msgspec.msgpack.decode(each)) for number, each in enumerate(found[1:], 1)),
    ]
    file.write_bytes(
        b"".join(
            framed(each if isinstance(each, bytes) else msgspec.msgpack.encode(each)) for each in changed
        )
    )


def told(file):
    found = replay(file)
    return found.difference.number, found.difference.problem


def test_a_command_with_another_number_is_named(tmp_path):
    made, file = recorder(tmp_path)
    life(made, 5)
    made.close()

    def change(number, entry):
        if number == 1:
            note = next(command for command in entry[2] if command[0] == "Note")
            note[1]["subject"]["text_tokens"] += 1
        return entry

    rewritten(file, change)
    number, problem = told(file)
    assert number == 1
    assert problem.startswith("Note.subject.text_tokens: logged ")


def test_other_commands_are_named(tmp_path):
    made, file = recorder(tmp_path)
    life(made, 5)
    made.close()
    rewritten(file, lambda number, entry: [*entry[:2], [], *entry[3:]] if number == 5 else entry)
    number, problem = told(file)
    assert number == 5
    assert problem.startswith("logged nothing; replayed ")


def test_lists_that_differ_are_told_by_their_place(tmp_path):
    made, file = recorder(tmp_path)
    made.handle(Arrived(10, request()))
    made.close()

    def change(_number, entry):
        entry[2][0][1]["subject"]["placement"]["totals"][1] = -1.0
        return entry

    rewritten(file, change)
    assert told(file)[1].startswith("Note.subject.placement.totals[1]: logged -1.0, replayed ")


def test_the_same_values_in_other_bytes_differ_too(tmp_path):
    made, file = recorder(tmp_path)
    made.handle(Arrived(10, request()))
    made.close()

    def change(_number, entry):
        totals = entry[2][0][1]["subject"]["placement"]["totals"]
        totals[:] = [0.0 if total == 0 else total for total in totals]
        entry[2][0][1]["subject"]["at"] = 10.0
        return entry

    rewritten(file, change)
    assert told(file)[1].startswith("the same values in other bytes")


def test_a_log_that_was_cut_off_is_replayed_as_far_as_it_goes(tmp_path):
    made, file = recorder(tmp_path)
    life(made, 5)
    made.close()
    whole = replay(file).same
    file.write_bytes(file.read_bytes()[:-3])
    assert (replay(file).same, replay(file).difference) == (whole - 1, None)


def test_a_full_log_ends_and_counts_what_is_missing(tmp_path):
    made, file = recorder(tmp_path, max_bytes=20_000)
    life(made)
    made.close()
    assert file.stat().st_size <= 20_000
    assert made.dropped > 100
    found = replay(file)
    assert found.difference is None
    assert found.same > 5


def test_a_disk_that_is_full_ends_the_log_and_nothing_else(tmp_path, monkeypatch):
    made, _ = recorder(tmp_path)

    def full(_descriptor, _data):
        raise OSError(28, "no space left")

    monkeypatch.setattr("forebay.runtime.recorder.os.write", full)
    made._flush()
    assert made.handle(Arrived(10, request()))
    made.close()
    assert made.dropped == 2


def test_what_cannot_be_written_down_harms_no_traffic(tmp_path, monkeypatch):
    made, _ = recorder(tmp_path)
    monkeypatch.setattr("forebay.runtime.recorder.entry_of", lambda *_: 1 / 0)
    assert made.handle(Arrived(10, request()))
    made.close()
    assert made.dropped == 1


@pytest.mark.parametrize(
    "content", [b"", b"text", framed(b"\x01"), framed(msgspec.msgpack.encode({"format": "x"}))]
)
def test_what_is_no_log_is_refused(tmp_path, content):
    file = tmp_path / "no.decisions"
    file.write_bytes(content)
    with pytest.raises(LogError, match="no decision log"):
        replay(file)


def test_another_format_and_damage_are_named(tmp_path):
    made, file = recorder(tmp_path)
    made.handle(Woke(6))
    made.close()
    whole = file.read_bytes()
    with file.open("rb") as stream:
        head, entry = records(stream)
    file.write_bytes(framed(head.replace(FORMAT.encode(), b"forebay-decisions-9")) + framed(entry))
    with pytest.raises(LogError, match="forebay-decisions-9"):
        replay(file)
    file.write_bytes(whole + framed(b"\xc1"))
    with pytest.raises(LogError, match="damaged"):
        replay(file)
    file.write_bytes(framed(head) + framed(msgspec.msgpack.encode(["Nothing", {"at": 1}, []])))
    with pytest.raises(LogError, match="`Nothing` is no event"):
        replay(file)


def test_settings_that_name_secrets_are_not_written():
    found = assembly(api_key_env="", tls={})
    data = {**found.recipe.data, "keys_file": "/run/keys", "tls": {"cert_file": "x"}}
    cleared = without_secrets(msgspec.structs.replace(found.recipe, data=data)).data
    assert set(cleared) == {"pools", "seed"}
    assert "api_key_env" not in cleared["pools"][0]
    assert cleared["pools"][0]["endpoints"] == found.recipe.data["pools"][0]["endpoints"]


def test_old_logs_make_room(tmp_path):
    for stamp in ("a", "b", "c"):
        new_file(tmp_path, 0, 2, stamp).touch()
        new_file(tmp_path, 10, 9, stamp).touch()
    assert sorted(file.name for file in tmp_path.glob("worker-0.*")) == [
        "worker-0.b.decisions",
        "worker-0.c.decisions",
    ]
    assert len(list(tmp_path.glob("worker-10.*"))) == 3


@given(data=st.data())
@settings(max_examples=25)
def test_whatever_comes_in_whatever_order(tmp_path_factory, data):
    made, file = recorder(tmp_path_factory.mktemp("log"), worker=1, workers=3)
    running, at = {}, 10
    for index in range(data.draw(st.integers(1, 25))):
        at += data.draw(st.sampled_from([0, 1, 5_000, 2_000_000]))
        what = data.draw(st.sampled_from(["arrive", "end", "fail", "peers", "see", "wake"]))
        commands = []
        if what == "arrive":
            commands = made.handle(Arrived(at, data.draw(requests(f"r{index}"))))
        elif what == "peers":
            loads = st.builds(Load, st.integers(0, 3), *[st.integers(0, 5)] * len(AMOUNTS))
            commands = made.handle(PeersChanged(at, tuple(data.draw(st.lists(loads, max_size=3)))))
        elif what == "see":
            commands = made.handle(ViewChanged(at, (view(data.draw(st.integers(0, 3))),)))
        elif what == "wake":
            commands = made.handle(Woke(at))
        elif running:
            _, attempt = running.popitem()
            if what == "end":
                commands = made.handle(Finished(at, attempt, Usage(9, 9)))
            else:
                commands = made.handle(Failed(at, attempt, data.draw(failure_kinds)))
        running |= {each.attempt.request_id: each.attempt for each in commands if isinstance(each, Dispatch)}
    made.close()
    assert made.dropped == 0
    assert replay(file).difference is None
