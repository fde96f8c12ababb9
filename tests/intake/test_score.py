"""Scoring pairs."""

from forebay.domain.request import Api


def test_both_sides_are_read_in_every_dialect(read):
    for left, right in (
        ("text_1", "text_2"),
        ("queries", "documents"),
        ("data_1", "data_2"),
        ("query", "items"),
    ):
        request = read({"model": "m", left: "ab", right: ["c", "de"]}, Api.SCORE).request
        assert request.text.ascii_bytes == 5, left


def test_token_ids_count_as_text(read):
    assert (
        read({"model": "m", "query": [1, 2], "items": [[3, 4, 5]]}, Api.SCORE).request.text.ascii_bytes == 20
    )
