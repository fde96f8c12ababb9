"""Content of no shape of its own, at any depth."""

import pytest

from forebay.domain.request import Api


def test_strings_count_wherever_they_stand(read):
    documents = [{"title": "ab", "body": {"text": "c", "tags": ["d", ["e"]]}, "id": "not read", "n": 7}]
    assert (
        read({"model": "m", "query": "q", "documents": documents}, Api.RERANK).request.text.ascii_bytes == 6
    )


def test_a_medium_of_another_shape_is_refused(refused):
    refusal = refused({"model": "m", "documents": [{"image_url": 7}]}, Api.RERANK)
    assert (refusal.code, refusal.param) == ("invalid_type", "documents[0]")


@pytest.mark.parametrize("value", [None, True, 7, 1.5, [], {}, [None]])
def test_what_is_no_text_counts_nothing(read, value):
    assert read({"model": "m", "query": value}, Api.SCORE).request.text.ascii_bytes in {0, 4}


def test_addresses_are_checked(refused):
    document = {"content": [{"type": "image_url", "image_url": {"url": "http://169.254.169.254/"}}]}
    assert refused({"model": "m", "documents": document}, Api.RERANK).code == "url_not_allowed"
