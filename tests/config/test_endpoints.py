"""Endpoints that are found out: by whose settings, under which names, and what their entry must say."""

import msgspec
import pytest

from forebay.config.assemble import Recipe, assemble, follow
from forebay.config.discover import Discover
from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.config.schema import EndpointFile
from forebay.config.slots import SlotBook
from forebay.domain.ability import Ability

FILE = """\
pools:
  - model: m
    endpoints:
      - url: http://10.0.0.1:8000
      - discover: {dns: eng.test, port: 8000}
        engine: vllm
        device: h100-sxm
        max_in_flight: 9
  - model: n
    endpoints:
      - discover: {file: /etc/engines.yaml}
"""
NAME = str(Discover(dns="eng.test", port=8000))
LIST = str(Discover(file="/etc/engines.yaml"))


def urls(*listed, **more):
    return tuple(EndpointFile(url=url, **more) for url in listed)


def test_what_is_found_joins_its_pool_with_the_settings_of_its_entry():
    found = (
        (NAME, urls("http://10.0.0.2:8000", "http://[2001:db8::5]:8000")),
        (LIST, urls("http://h:1", device="a100-80gb")),
    )
    assembly = assemble(Document(FILE), found=found)
    first, second = assembly.plan.pools
    assert [endpoint.name for endpoint in first.endpoints] == [
        "10.0.0.1:8000",
        "10.0.0.2:8000",
        "[2001:db8::5]:8000",
    ]
    assert [endpoint.host for endpoint in first.endpoints] == ["", "eng.test", "eng.test"]
    assert {(e.engine, e.device, e.max_in_flight) for e in first.endpoints[1:]} == {("vllm", "h100-sxm", 9)}
    (listed,) = second.endpoints
    assert (listed.device, listed.host) == ("a100-80gb", "")


def test_a_source_that_gave_nothing_yet_leaves_its_pool_empty():
    first, second = assemble(Document(FILE)).plan.pools
    assert len(first.endpoints) == 1
    assert second.endpoints == ()


def test_what_two_sources_found_is_one_endpoint():
    found = ((NAME, urls("http://10.0.0.1:8000", "http://h:1")), (LIST, urls("http://h:1", "http://h:2")))
    first, second = assemble(Document(FILE), found=found).plan.pools
    assert [endpoint.name for endpoint in first.endpoints] == ["10.0.0.1:8000", "h:1"]
    assert [endpoint.name for endpoint in second.endpoints] == ["h:2"]


def test_another_process_follows_the_recipe_to_the_same_plan():
    found = ((NAME, urls("http://10.0.0.3:8000")),)
    book = assemble(Document(FILE), found=((NAME, urls("http://10.0.0.2:8000")),)).slots
    assembly = assemble(Document(FILE, "f.yaml"), book, 7, found)
    sent = msgspec.msgpack.encode(assembly.recipe)
    same = follow(msgspec.msgpack.decode(sent, type=Recipe))
    assert [endpoint.slot for endpoint in same.endpoints()] == [0, 2]
    assert (same.plan.pools[0].endpoints, same.plan.version) == (assembly.plan.pools[0].endpoints, 7)
    assert SlotBook(same.slots.leases).leases == assembly.slots.leases


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{}", "write `url` or `discover`"),
        ("{url: 'http://h:1', discover: {file: f}}", "write `url` or `discover`"),
        ("{discover: {}}", "one source is needed"),
        ("{discover: {dns: d, port: 1, file: f}}", "one source is needed"),
        ("{discover: {dns: d}}", "add `port`"),
        ("{discover: {file: f, port: 1}}", "write them into each URL"),
        ("{discover: {dns: d, port: 1, refresh: 3}}", "did you mean `refresh_seconds`?"),
        ("{discover: {dns: d, port: 70000}}", "<= 65535"),
    ],
)
def test_an_entry_names_one_source(entry, words):
    with pytest.raises(ConfigError) as raised:
        assemble(Document(f"pools:\n  - model: m\n    endpoints: [{entry}]\n", "f.yaml"))
    assert str(raised.value).startswith("f.yaml:3:")
    assert ": pools[0].endpoints[0]" in str(raised.value)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("written", "formats"),
    [("", None), ("[]", Ability(0)), ("[jpeg, webp]", Ability.JPEG | Ability.WEBP)],
)
def test_image_formats_are_flags_or_unstated(written, formats):
    line = f"image_formats: {written}" if written else ""
    text = f"pools: [{{model: m, endpoints: [{{url: http://h:1, {line}}}]}}]"
    assert assemble(Document(text)).plan.pools[0].endpoints[0].image_formats == formats


def test_an_image_format_that_nobody_knows_is_refused_with_its_place():
    text = "pools: [{model: m, endpoints: [{url: http://h:1, image_formats: [jpeg, jpg]}]}]"
    with pytest.raises(ConfigError, match=r"image_formats\[1\]"):
        assemble(Document(text))
