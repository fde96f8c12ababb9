import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from forebay.fleet.metrics import parse

NAMES = frozenset({"vllm:num_requests_running", "a_total", "h_bucket"})


def by_prometheus_client(text):
    return [
        (sample.name, sample.labels, float(sample.value))
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name in NAMES
    ]


def ours(text):
    return [(sample.name, dict(sample.labels), sample.value) for sample in parse(text.encode(), NAMES)]


values = st.sampled_from(["0", "3.0", "4.2e-01", "1e9", "-1", "+Inf", "-Inf", "17 1700000000000"])
label_values = st.text(
    st.characters(
        blacklist_categories=("Cs",), blacklist_characters="\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    ),
    max_size=8,
)
labels = st.dictionaries(st.sampled_from(["engine", "le", "model_name"]), label_values, max_size=3)


def escaped(value):
    return value.replace("\\", "\\\\").replace('"', '\\"')


@st.composite
def lines(draw):
    name = draw(st.sampled_from([*sorted(NAMES), "vllm:num_requests_running_more", "other", "a"]))
    pairs = ",".join(f'{key}="{escaped(value)}"' for key, value in draw(labels).items())
    block = "{" + pairs + "}" if pairs else ""
    return f"{name}{block} {draw(values)}"


@given(st.lists(lines(), max_size=8))
def test_reads_what_the_reference_parser_reads(drawn):
    text = "\n".join(drawn) + "\n"
    assert ours(text) == by_prometheus_client(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('a_total{x="a\\"b\\\\c\\nd}"} 1\n', [("a_total", {"x": 'a"b\\c\nd}'}, 1.0)]),
        ("a_total{} 2", [("a_total", {}, 2.0)]),
        ("  a_total\t3\r\n", [("a_total", {}, 3.0)]),
        ('a_total{x="y"}4', [("a_total", {"x": "y"}, 4.0)]),
        ('a_total{x="y",} 5 # {trace_id="z"} 1.0', [("a_total", {"x": "y"}, 5.0)]),
        ("# HELP a_total 1\n# TYPE a_total counter\n", []),
        ("a_total many\na_total 6\n", [("a_total", {}, 6.0)]),
        ("a_total\n7\n", []),
        ("a_totalled 8\nba_total 9\n", []),
        ('a_total{x="unclosed} 1\n', []),
        ("", []),
    ],
)
def test_corners_of_the_format(text, found):
    assert ours(text) == found


def test_nan_is_passed_on_as_it_is():
    assert math.isnan(parse(b"a_total NaN\n", NAMES)[0].value)


def test_bytes_that_are_no_text_do_not_hide_the_rest():
    found = parse(b'a_total{x="\xff"} 1\n\xfe\xff\na_total 2\n', NAMES)
    assert [sample.value for sample in found] == [1.0, 2.0]


def test_no_names_means_no_samples():
    assert parse(b"a_total 1\n", frozenset()) == []
