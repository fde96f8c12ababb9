import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.intake.document import check_document, depth_of, structure_of
from forebay.intake.refusal import Refusal
from forebay.intake.settings import IntakeSettings

SETTINGS = IntakeSettings(max_depth=8, max_elements=100)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def refusal_of(text):
    with pytest.raises(Refusal) as caught:
        check_document(text, SETTINGS)
    assert caught.value.status == 400
    return caught.value.code


def depth(value):
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


@given(JSON)
def test_depth_is_that_of_the_value(value):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        structure = structure_of(text.encode())
        assert b'"' not in structure
        assert depth_of(structure) == depth(value)


def test_brackets_in_text_do_not_count():
    check_document(json.dumps(["[[[[[[[[[[[[" * 50, '\\"[[[[[[[[[[[{']).encode(), SETTINGS)


def test_rows_of_digits_that_no_double_is_too_small_for():
    check_document(b"[" + b",".join([b"7" * 199] * 90) + b"]", SETTINGS)
    check_document(b"[" + b"7" * 300 + b",1e99,1e-999]", SETTINGS)


@pytest.mark.parametrize("looks", [b"1e999-", b"1e1e1000", b"......", b"-e1000"])
def test_what_only_looks_like_a_number_is_no_json(looks):
    assert refusal_of(b"[1e100," + looks + b"]") == "invalid_json"


def test_names_of_values_are_no_numbers():
    check_document(b"[1e100,true,false,null,-1.5e-300]", SETTINGS)


def test_more_numbers_than_there_may_be_values_are_not_all_looked_at():
    check_document(b"[1e100" + b" 7" * 100 + b"]", SETTINGS)
    assert refusal_of(b"[1e100" + b" 7" * 101 + b"]") == "body_too_large"


def test_p05_depth():
    check_document(b"[" * 8 + b"]" * 8, SETTINGS)
    assert refusal_of(b"[" * 9 + b"]" * 9) == "body_too_deep"
    assert refusal_of(b"[" * 9) == "body_too_deep"


@pytest.mark.parametrize(
    "number",
    [b"1e999", b"-1E+400", b"9" * 309, b"0." + b"1" * 4_300, b"1" * 300 + b"e99", b"1" * 6_000, b"0.1e310"],
)
def test_p05_numbers_past_all_range(number):
    assert refusal_of(b'{"x":' + number + b"}") == "number_out_of_range"
    check_document(b'{"x":"' + number + b'"}', SETTINGS)


@pytest.mark.parametrize(
    "number", [b"1e308", b"1e-999", b"9" * 300, b"0." + b"1" * 500, b"12e0003", b"18446744073709551616"]
)
def test_numbers_within_range(number):
    check_document(b'{"x":' + number + b"}", SETTINGS)


@pytest.mark.parametrize("text", [b'"\xff"', b'"\xed\xa0\x80"', b'"\xc3'])
def test_p03_bad_utf8(text):
    assert refusal_of(text) == "invalid_json"


def test_too_many_values():
    check_document(b"[" + b"1," * 98 + b"1]", SETTINGS)
    assert refusal_of(b"[" + b"1," * 100 + b"1]") == "body_too_large"
    assert refusal_of(b'"",' * 1_000) == "body_too_large"
