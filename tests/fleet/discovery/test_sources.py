"""What each kind of source gives, and that it keeps that through silence and faults."""

import pytest

from forebay.config.discover import Discover
from forebay.fleet.discovery.dns import DnsSource, HostSource
from forebay.fleet.discovery.listed import FileSource


def urls(source):
    return [entry.url for entry in source.entries]


class TestDns:
    def source(self, names, warned, scheme="http"):
        discover = Discover(dns="eng.test", port=8000, scheme=scheme)
        return DnsSource(discover, names, lambda: 7_000_000, warned.append)

    async def test_p31_each_address_is_an_endpoint_ipv6_in_brackets(self, names, warned):
        names.table["eng.test"] = ["2001:db8::5", "10.0.0.10", "10.0.0.9"]
        source = self.source(names, warned)
        assert await source.look()
        assert urls(source) == ["http://10.0.0.9:8000", "http://10.0.0.10:8000", "http://[2001:db8::5]:8000"]
        names.table["eng.test"].reverse()
        assert not await source.look()
        assert (source.size, source.failures, source.age_seconds(9_000_000)) == (3, 0, 2.0)

    @pytest.mark.parametrize("answer", [[], OSError("no server answers"), TimeoutError()])
    async def test_no_answer_keeps_the_last_good_set_and_is_told_once(self, names, warned, answer):
        source = self.source(names, warned, "https")
        assert not await source.look()
        assert (urls(source), source.age_seconds(9)) == ([], None)
        names.table["eng.test"] = ["10.0.0.9"]
        assert await source.look()
        names.table["eng.test"] = answer
        assert not await source.look()
        assert not await source.look()
        assert urls(source) == ["https://10.0.0.9:8000"]
        assert source.failures == 3
        assert len(warned) == 2
        assert all(
            "https://eng.test:8000" in sentence and "stays in force" in sentence for sentence in warned
        )

    async def test_a_fault_of_ours_ends_no_looking(self, names, warned, caplog):
        source = self.source(names, warned)
        names.table["eng.test"] = KeyError("surprise")
        assert not await source.look()
        assert (source.failures, warned) == (1, [])
        assert "a fault of ours in the discovery of eng.test:8000" in caplog.text
        names.table["eng.test"] = ["10.0.0.9"]
        assert await source.look()


class TestHosts:
    async def test_each_move_is_told_with_all_addresses(self, names, warned):
        told = []
        source = HostSource("eng.test", 3.0, names, lambda *move: told.append(move), lambda: 0, warned.append)
        names.table["eng.test"] = ["127.0.0.1"]
        assert not await source.look()
        assert not await source.look()
        names.table["eng.test"] = ["127.0.0.2"]
        await source.look()
        await source.look()
        await source.look()
        names.table["eng.test"] = []
        await source.look()
        assert told == [
            ("eng.test", ("127.0.0.1",)),
            ("eng.test", ("127.0.0.2", "127.0.0.1")),
            ("eng.test", ("127.0.0.2",)),
        ]
        assert (source.size, source.failures) == (1, 1)


class TestFiles:
    def source(self, path, warned):
        return FileSource(Discover(file=str(path)), lambda: 0, warned.append)

    @pytest.mark.parametrize(
        "text",
        [
            "- url: http://h:1\n- {url: 'https://h:2', device: h100-sxm}\n",
            '[{"url": "http://h:1"}, {"url": "https://h:2", "device": "h100-sxm"}]',
            "- url: http://h:1/v1\n- {url: 'https://h:2/', device: h100-sxm}\n",
        ],
    )
    async def test_yaml_and_json_lists(self, tmp_path, warned, text):
        path = tmp_path / "engines"
        path.write_text(text)
        source = self.source(path, warned)
        assert await source.look()
        assert urls(source) == ["http://h:1", "https://h:2"]
        assert source.entries[1].device == "h100-sxm"
        assert not await source.look()
        path.write_text("[]")
        assert await source.look()
        assert (urls(source), source.failures) == ([], 0)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "write a list of endpoints"),
            ("- url: http://h:1\n  wieght: 1\n", "wieght"),
            ("- url: [", "not YAML"),
            ("- url: h:1\n", "write http://HOST:PORT"),
            ("- device: a\n", "one address is needed"),
            ("- url: http://h:1\n- url: http://h:1/\n", "listed twice"),
            ("- discover: {file: f}\n", "one address is needed"),
            (None, "cannot be read"),
        ],
    )
    async def test_bad_content_keeps_the_last_good_list_and_says_why(self, tmp_path, warned, text, words):
        path = tmp_path / "engines.yaml"
        path.write_text("- url: http://h:9\n")
        source = self.source(path, warned)
        assert await source.look()
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        assert not await source.look()
        assert not await source.look()
        assert urls(source) == ["http://h:9"]
        assert source.failures == 2
        assert len(warned) == 1
        assert words in warned[0]
        path.write_text("- url: http://h:10\n")
        assert await source.look()
        assert urls(source) == ["http://h:10"]
