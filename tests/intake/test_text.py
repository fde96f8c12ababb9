import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.domain.request import TextMeasure
from forebay.intake.text import measure


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("abc", (3, 0, 0, 0)),
        ("aé", (1, 2, 0, 0)),
        ("天a", (1, 0, 3, 0)),
        ("😀é天b", (1, 2, 3, 4)),
        ("", (0, 0, 0, 0)),
    ],
)
def test_bytes_by_script(text, counts):
    assert measure([text], 2) == TextMeasure(*counts, messages=2)


@given(st.lists(st.text()))
def test_every_byte_is_counted_once(texts):
    found = measure(texts, 0, extra_ascii_bytes=7)
    total = found.ascii_bytes + found.two_byte_bytes + found.three_byte_bytes + found.four_byte_bytes
    assert total == 7 + len("".join(texts).encode())
    assert found.four_byte_bytes == 4 * sum(ord(sign) > 0xFFFF for sign in "".join(texts))
