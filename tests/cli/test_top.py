"""`forebay top`, by its words, by its frames, and at a real terminal."""

import asyncio
import fcntl
import io
import json
import os
import pty
import re
import select
import struct
import sys
import tempfile
import termios
import time
from dataclasses import replace

import pytest
from rich.console import Console

from forebay.cli import top_words as words
from forebay.cli.admin_port import NoAnswerError
from forebay.cli.main import main
from forebay.cli.top_ask import Picture, next_after, take
from forebay.cli.top_frame import SORTS, frame
from forebay.cli.top_keys import Keys
from forebay.testing.live import LiveGateway
from forebay.testing.modelled import ModelledEngine
from forebay.testing.scripted import ScriptedEngine, reply

HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 2}


def endpoint(name, **believed):
    return {
        "name": name,
        "pool": "m",
        "seen": {"age_seconds": 0.25, "reachable": True, "waiting": 2.0, "kv_usage": 0.5},
        "believed": {
            "usable": True,
            "draining": False,
            "serves": None,
            "ramp": 1.0,
            "in_flight": 3,
            **believed,
        },
        "served": {"ttft_p50_ms": 41.0, "output_tokens_per_second": 12.5},
    }


def request(number, chosen="e0", outcome=None):
    candidates = [{"endpoint": name, "total": total} for name, total in (("e0", 0.125), ("e1", 0.25))]
    wanted = dict.fromkeys(("image_tokens", "audio_tokens", "video_tokens"), 0) | {
        "text_tokens": 20,
        "exact": True,
    }
    decision = {"at_us": 4_000_000, "chosen": chosen, "candidates": candidates, "why": "e0 has less than e1"}
    return {"request_id": f"r{number}", "demand": wanted, "decisions": [decision], "outcome": outcome}


ENDED = {"ending": "finished", "reason": "finished", "ttft_ms": 30.0, "e2e_ms": 12_000.0}
PICTURE = Picture(
    "http://h:1",
    0.0,
    5_000_000,
    (endpoint("e0"), endpoint("e1", in_flight=7)),
    (request(1), request(2, outcome=ENDED)),
)


def drawn(picture, width=150, **options):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(frame(picture, width, **options))
    return console.file.getvalue()


class TestWords:
    @pytest.mark.parametrize(
        ("believed", "word"),
        [
            ({}, "up"),
            ({"draining": True, "usable": False}, "draining"),
            ({"usable": False}, "resting"),
            ({"serves": False}, "other model"),
            ({"ramp": 0.4}, "warming 40%"),
        ],
    )
    def test_the_state_names_what_keeps_requests_away(self, believed, word):
        assert words.state(endpoint("e", **believed)) == word

    def test_what_was_never_seen_is_up_until_told_otherwise_and_what_does_not_answer_is_down(self):
        assert words.state({"seen": None, "believed": None}) == "up"
        assert words.state({**endpoint("e"), "seen": {"reachable": False}}) == "down"

    @pytest.mark.parametrize(
        "form",
        [
            words.count,
            words.tokens,
            words.percent,
            words.milliseconds,
            words.microseconds,
            words.rate,
            words.age,
            words.score,
        ],
    )
    def test_p32_what_is_not_known_is_a_dot_and_no_zero(self, form):
        assert form(None) == words.UNKNOWN
        assert form(0.0).startswith("0")

    @pytest.mark.parametrize(
        ("form", "value", "word"),
        [
            (words.tokens, 12_345, "12k"),
            (words.milliseconds, 12_345, "12 s"),
            (words.microseconds, 1_500, "2 ms"),
            (words.rate, 123.4, "123"),
            (words.age, 30, "30 s"),
            (words.age, 600, "10 min"),
            (words.tail, "req-0123456789abcdef-17", "…456789abcdef-17"),
        ],
    )
    def test_numbers_keep_the_digits_that_count(self, form, value, word):
        assert form(value) == word

    def test_demand_names_media_and_what_is_approximate(self):
        wanted = {
            "text_tokens": 12,
            "image_tokens": 400,
            "audio_tokens": 0,
            "video_tokens": 31_000,
            "exact": False,
        }
        assert words.demand({"demand": wanted}) == "~12t 400i 31kv"

    def test_an_ending_is_two_times_or_a_reason(self):
        assert words.ending(request(1)) == "open"
        assert words.ending(request(1, outcome=ENDED)) == "30 ms / 12 s"
        failed = ENDED | {"ending": "failed", "reason": "reset"}
        assert words.ending(request(1, outcome=failed)) == "reset"


class TestFrame:
    def test_a_wide_frame_tells_everything(self):
        shown = drawn(PICTURE)
        assert "m: 2 of 2 up, 10 open, 25.0 tokens/s" in shown
        (line,) = (line for line in shown.splitlines() if line.startswith("e1"))
        assert " ".join(line.split()) == "e1 m up 7 · · 2 50% 41 ms 12.5 · · 0.2 s 0.25"
        assert "1.0 s  r2" in shown
        assert "e0 has less than e1" in shown

    @pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120, 200])
    def test_no_line_is_longer_than_the_terminal(self, width):
        named = replace(PICTURE, endpoints=(endpoint("engine-of-a-long-name.in.some.cluster:8000"),))
        assert max(map(len, drawn(named, width).splitlines())) <= width
        assert "state" in drawn(named, width) or width < 40

    @pytest.mark.parametrize(("sort", "first"), [("name", "e0"), ("load", "e1")])
    def test_endpoints_are_sorted(self, sort, first):
        lines = drawn(PICTURE, sort=sort).splitlines()
        assert lines[lines.index(f"endpoints by {sort}") + 2].startswith(first)

    def test_every_order_takes_endpoints_of_which_nothing_is_known(self):
        unknown = {**endpoint("e9"), "seen": None, "believed": None, "served": None}
        for sort in SORTS:
            assert "e9" in drawn(replace(PICTURE, endpoints=(*PICTURE.endpoints, unknown)), sort=sort)

    def test_a_low_terminal_shows_the_first_few(self):
        many = replace(PICTURE, endpoints=tuple(endpoint(f"e{number:02}") for number in range(30)))
        assert "endpoints by name, the first 10 of 30" in drawn(many, height=24)
        assert "e09" in drawn(many, height=24)
        assert "e10" not in drawn(many, height=24)

    def test_a_picture_that_is_old_says_so_without_colour(self):
        assert re.search(
            r"AS OF \d+ min AGO: no gateway answers", drawn(replace(PICTURE, trouble="no gateway answers"))
        )


class TestAsking:
    async def test_one_frame_as_text_as_json_and_as_a_picture(self, capsys, tmp_path, monkeypatch):
        monkeypatch.setenv("COLUMNS", "100")
        async with (
            ModelledEngine(speed=100) as one,
            ModelledEngine(speed=100) as two,
            LiveGateway([one.url, two.url]) as gateway,
        ):
            await gateway.post(HELLO, headers={"x-request-id": "seen-in-top"})

            async def top(*options):
                assert await asyncio.to_thread(main, ["top", "--admin", gateway.admin_url, *options]) == 0
                return capsys.readouterr().out

            text = await top("--once")
            assert "seen-in-top" in text
            assert one.url.removeprefix("http://") in text
            assert "\x1b" not in text, "no colours in a pipe"
            told = json.loads(await top("--once", "--json"))
            assert [request["request_id"] for request in told["requests"]] == ["seen-in-top"]
            assert {endpoint["url"] for endpoint in told["endpoints"]} == {one.url, two.url}
            await top("--svg", str(tmp_path / "top.svg"))
            svg = (tmp_path / "top.svg").read_text()
            assert "seen-in-top" in svg
            assert "font-face" not in svg, "nothing is fetched from a stranger"

    def test_without_a_gateway_the_error_says_where_and_what_to_do(self, capsys):
        assert main(["top", "--once", "--admin", "127.0.0.1:9"]) == 1
        assert "no gateway answers at 127.0.0.1:9" in capsys.readouterr().err

    async def test_the_public_port_is_told_from_the_admin_port(self, capsys):
        async with ModelledEngine() as engine, LiveGateway([engine.url]) as gateway:
            assert await asyncio.to_thread(main, ["top", "--once", "--admin", gateway.url]) == 1
            assert "404 to /forebay/endpoints: is this the admin port" in capsys.readouterr().err

    async def test_what_answers_in_another_way_is_no_gateway(self):
        pages = {path: reply(b"[]") for path in ("/forebay/endpoints", "/forebay/decisions?limit=20")}
        async with ScriptedEngine(lambda _: [], pages=pages) as stranger:
            with pytest.raises(NoAnswerError, match="not as an admin port"):
                await asyncio.to_thread(take, stranger.url)

    async def test_a_gateway_that_goes_leaves_its_last_picture(self):
        async with ModelledEngine() as engine, LiveGateway([engine.url]) as gateway:
            picture = await asyncio.to_thread(take, gateway.admin_url)
        after = await asyncio.to_thread(next_after, picture)
        assert after.endpoints == picture.endpoints
        assert "no gateway answers" in after.trouble
        assert after.as_json().count("no gateway answers") == 1

    @pytest.mark.parametrize("interval", ["0", "1e9", "soon"])
    def test_a_wild_interval_is_refused(self, interval, capsys):
        with pytest.raises(SystemExit):
            main(["top", "--interval", interval])
        assert "--interval" in capsys.readouterr().err


class TestWithoutATerminal:
    @pytest.mark.parametrize("option", ["--json", "--interval=1"])
    async def test_frames_follow_each_other_until_interrupted(self, option, capsys, monkeypatch):
        naps = []

        def nap(seconds):
            naps.append(seconds)
            if len(naps) == 3:
                raise KeyboardInterrupt

        monkeypatch.setattr("forebay.cli.top.time.sleep", nap)
        async with ModelledEngine() as engine, LiveGateway([engine.url]) as gateway:
            assert await asyncio.to_thread(main, ["top", "--admin", gateway.admin_url, option]) == 130
        shown = capsys.readouterr().out
        assert naps == [1.0] * 3
        assert len(shown.splitlines()) == 3 or shown.count("endpoints by name") == 3

    async def test_without_rich_the_numbers_can_still_be_had(self, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "rich.console", None)
        async with ModelledEngine() as engine, LiveGateway([engine.url]) as gateway:
            assert await asyncio.to_thread(main, ["top", "--once", "--admin", gateway.admin_url]) == 1
            assert "pip install 'forebay[top]', or use --json" in capsys.readouterr().err
            assert (
                await asyncio.to_thread(main, ["top", "--once", "--json", "--admin", gateway.admin_url]) == 0
            )


@pytest.fixture
def folder():
    """A short path: the name of a Unix socket has at most 108 bytes."""
    with tempfile.TemporaryDirectory(prefix="fb-") as path:
        yield path


class Terminal:
    """The other end of a terminal that this process is made to talk to."""

    def __init__(self, monkeypatch):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._files = [os.fdopen(theirs, "r", closefd=False), os.fdopen(theirs, "w")]
        monkeypatch.setattr(sys, "stdin", self._files[0])
        monkeypatch.setattr(sys, "stdout", self._files[1])
        monkeypatch.setenv("TERM", "xterm")
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            monkeypatch.delenv(name, raising=False)

    async def until(self, text):
        """Read until `text` was shown after all that was read before."""
        await asyncio.to_thread(self._until, text)

    def _until(self, text):
        deadline, seen = time.monotonic() + 30, ""
        while text not in seen:
            ready, _, _ = select.select([self.ours], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{text!r} was not shown: {seen[-2000:]!r}"
            seen += os.read(self.ours, 65536).decode()

    def press(self, key):
        os.write(self.ours, key.encode())

    def close(self):
        for file in self._files:
            file.close()
        os.close(self.ours)


async def test_at_a_terminal_it_lives_through_a_restart_until_q(monkeypatch, folder):
    terminal, admin = Terminal(monkeypatch), f"unix:{folder}/admin.sock"
    async with ModelledEngine() as engine:
        async with LiveGateway([engine.url], admin=admin):
            words_given = ["top", "--admin", admin, "--interval", "0.1"]
            top = asyncio.create_task(asyncio.to_thread(main, words_given))
            await terminal.until("endpoints by name")
            terminal.press("l")
            await terminal.until("endpoints by load")
        await terminal.until("AGO: no gateway answers")
        async with LiveGateway([engine.url], admin=admin):
            await terminal.until("m: 1 of 1 up")
        terminal.press("q")
        await terminal.until("\x1b[?1049l")  # the screen as it was before
        assert await asyncio.wait_for(top, 30) == 0
    terminal.close()


def test_keys_end_when_the_terminal_is_gone_and_wakes_are_not_keys():
    ours, theirs = pty.openpty()
    with Keys(theirs) as keys:
        keys.wake()
        assert keys.wait(30) == ""
        os.write(ours, b"k")
        assert keys.wait(30) == "k"
        os.close(ours)
        assert list(keys.pressed(30)) == []
    keys.wake()  # too late, and harmless
    os.close(theirs)


def test_keys_give_the_terminal_back_as_it_was():
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    with Keys(theirs):
        assert termios.tcgetattr(theirs) != before
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


def test_a_file_that_ends_is_a_terminal_that_is_gone():
    ours, theirs = pty.openpty()
    with Keys(theirs) as keys, open(os.devnull) as ended:  # noqa: PTH123
        keys._descriptor = ended.fileno()
        assert keys.wait(30) == "q"
        keys._descriptor = theirs
    os.close(ours)
    os.close(theirs)
