"""Forms: what is read, and that whatever two readers could read differently is refused."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.intake.multipart import MAX_LOOK_ALIKES, MAX_PARTS, boundary_of, parts_of
from forebay.intake.refusal import Refusal

FIELD = b'Content-Disposition: form-data; name="%b"'


def form(*fields, boundary=b"XB7"):
    """A form of (name, value) pairs."""
    parts = [b"--%b\r\n%b\r\n\r\n%b\r\n" % (boundary, FIELD % name, value) for name, value in fields]
    return b"".join(parts) + b"--%b--\r\n" % boundary


def values(body, boundary=b"XB7"):
    return [(part.name, bytes(body[part.start : part.stop])) for part in parts_of(body, boundary)]


def refusal(body, boundary=b"XB7"):
    with pytest.raises(Refusal) as caught:
        parts_of(body, boundary)
    assert (caught.value.status, caught.value.code) == (400, "invalid_form")
    return caught.value.message


def test_p24_a_form_whose_model_follows_a_file_with_a_look_alike(case):
    body = case("p24_multipart.bin")
    file, model, style = parts_of(body, b"XB7")
    assert [part.name for part in (file, model, style)] == ["file", "model", "response_format"]
    assert (file.head.is_file, file.head.content_type, model.head.is_file) == (True, "audio/wav", False)
    assert body[model.start : model.stop] == b"asr-a"
    assert b"\r\n--XB7-not-a-delimiter\r\n" in body[file.start : file.stop]
    assert body[file.start : file.start + 4] == b"RIFF"


def test_p24_what_is_no_form(case):
    assert refusal(case("p24_broken_multipart.bin")).startswith("byte 0: ")


def test_values_may_be_empty_and_hold_anything_but_a_boundary():
    for value in (
        b"",
        b"\r\n",
        b"x--XB7",
        b"--XB7x",
        b"x--XB7--",
        b"\r\n--XB",
        b"\r\n--XB7x",
        b"\r\n--XB7-x",
        b"\x00\xff",
        b"\n--xb7\r\n",
    ):
        assert values(form((b"a", value), (b"b", b"2"))) == [("a", value), ("b", b"2")]


def test_a_bytearray_is_read_like_bytes():
    assert values(bytearray(form((b"a", b"1")))) == [("a", b"1")]


@given(
    st.lists(st.tuples(st.text("abc[]", min_size=1, max_size=4), st.binary(max_size=40)), max_size=5),
    st.text("ab-_'()", min_size=1, max_size=6).map(str.encode),
)
def test_what_a_client_writes_is_read_back(fields, boundary):
    delimiter = b"--" + boundary
    pairs = [(name, value) for name, value in fields if delimiter not in value]
    pairs = pairs or [("z", b"")]
    # A value that ends like a boundary's beginning makes a new one with what follows; no client chooses such a boundary.
    body = form(*[(name.encode(), value) for name, value in pairs], boundary=boundary)
    assert values(body, boundary) == pairs


@given(st.binary(max_size=60), st.integers(0, 200), st.integers(0, 20))
def test_whatever_comes_there_is_an_answer_or_a_refusal(noise, at, cut):
    body = bytearray(form((b"a", b"1"), (b"model", b"m")))
    body[at : at + cut] = noise
    with contextlib.suppress(Refusal):
        assert all(0 < part.start <= part.stop <= len(body) for part in parts_of(bytes(body), b"XB7"))


AMBIGUOUS = [
    b"\n--XB7\r\n",
    b"\r--XB7\r\n",
    b"\r\n--XB7 \r\n",
    b"\r\n--XB7\t\r\n",
    b"\r\n--XB7\n",
    b"\n--XB7\n",
    b"\r\n--XB7--",
    b"\n--XB7--\r\n",
]


@pytest.mark.parametrize("inside", AMBIGUOUS)
def test_what_some_readers_take_for_a_boundary_is_refused(inside):
    assert "boundary" in refusal(form((b"prompt", b"x" + inside + b"y"), (b"model", b"m")))


@pytest.mark.parametrize("cut", range(1, len(form((b"model", b"m"))) - 2))
def test_a_form_that_is_cut_is_refused(cut):
    refusal(form((b"model", b"m"))[:cut])


def test_the_last_line_end_may_be_missing():
    assert values(form((b"a", b"1"))[:-2]) == [("a", b"1")]


@pytest.mark.parametrize("tail", [b"x", b"\r\nx", b"\n", b"\r\n\r\n", b" \r\n", b"--"])
def test_nothing_follows_the_last_boundary(tail):
    assert "behind" in refusal(form((b"a", b"1"))[:-2] + tail)


@pytest.mark.parametrize("before", [b"x", b"\r\n", b"preamble\r\n"])
def test_nothing_precedes_the_first_boundary(before):
    assert refusal(before + form((b"a", b"1"))).startswith("byte 0")


def test_a_form_without_parts_holds_nothing():
    assert parts_of(b"--XB7--\r\n", b"XB7") == ()


def test_a_value_needs_a_line_end_of_its_own():
    assert "of its own" in refusal(b"--XB7\r\n" + FIELD % b"a" + b"\r\n\r\n--XB7--\r\n")


def test_the_count_of_parts_is_bounded():
    fields = [(b"a", b"")] * MAX_PARTS
    assert len(parts_of(form(*fields), b"XB7")) == MAX_PARTS
    assert str(MAX_PARTS) in refusal(form(*fields, (b"a", b"")))


def test_looks_are_bounded():
    assert "too often" in refusal(form((b"a", b"\r\n--XB7x" * (MAX_LOOK_ALIKES + 1))))
    few = b"\r\n--XB7x" * (MAX_LOOK_ALIKES - 1)
    assert values(form((b"a", few))) == [("a", few)]


class TestBoundaries:
    @pytest.mark.parametrize(
        ("content_type", "boundary"),
        [
            ("multipart/form-data; boundary=XB7", b"XB7"),
            ('Multipart/Form-Data ;BOUNDARY="a b" ; charset=utf-8', b"a b"),
            (
                "multipart/form-data; charset=utf-8; boundary=----WebKitFormBoundary0",
                b"----WebKitFormBoundary0",
            ),
            ('multipart/form-data; boundary="a=b?:/(),"', b"a=b?:/(),"),
        ],
    )
    def test_they_are_read(self, content_type, boundary):
        assert boundary_of(content_type) == boundary

    @pytest.mark.parametrize(
        "content_type",
        [
            "",
            "application/json",
            "multipart/mixed; boundary=a",
            "multipart/form-data",
            "multipart/form-data; boundary=",
            'multipart/form-data; boundary=""',
            "multipart/form-data; boundary=a; boundary=b",
            "multipart/form-data; boundary=a; boundary*=utf-8''b",
            "multipart/form-data; boundary=a; charset=utf-7",
            "multipart/form-data; boundary=a; charset=utf-16",
            "multipart/form-data; boundary=a b",
            'multipart/form-data; boundary="a',
            'multipart/form-data; boundary="a "',
            'multipart/form-data; boundary="a\\"b"',
            "multipart/form-data; boundary=" + "a" * 71,
            "multipart/form-data; boundary=\u00e9",
            'multipart/form-data; boundary="a\r\nb"',
            "multipart/form-datax; boundary=a",
        ],
    )
    def test_others_are_refused(self, content_type):
        with pytest.raises(Refusal) as caught:
            boundary_of(content_type)
        assert (caught.value.status, caught.value.code) == (400, "invalid_content_type")
