"""Reranking."""

import base64

from forebay.domain.ability import Ability
from forebay.domain.request import Api


def test_the_query_is_read_with_each_document(read):
    body = {"model": "m", "query": "what", "documents": ["aa", "bbb", {"text": "c"}], "top_n": 2}
    request = read(body, Api.RERANK).request
    assert (request.prompts, request.needs) == (3, Ability.TEXT | Ability.RERANK)
    # Quotes of the repeated query count: what stands elsewhere is an estimate.
    assert request.text.ascii_bytes == len("what" + "aa" + "bbb" + "c") + 2 * len('"what"')


def test_teis_texts_and_a_lone_document(read):
    assert read({"model": "m", "query": "q", "texts": ["a", "b"]}, Api.RERANK).request.prompts == 2
    assert read({"model": "m", "query": "q", "documents": {"content": "a"}}, Api.RERANK).request.prompts == 1
    assert read({"model": "m", "query": "q"}, Api.RERANK).request.prompts == 1


def test_p13_a_picture_among_the_documents_is_a_picture(read, case):
    url = "data:image/jpeg;base64," + base64.b64encode(case("p08_tail_cut_280x140.jpg")).decode()
    documents = {
        "content": [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "abc"}]
    }
    request = read({"model": "m", "query": "q", "documents": documents}, Api.RERANK).request
    assert [(item.width, item.height) for item in request.media] == [(280, 140)]
    assert request.text.ascii_bytes == len("q" + "abc")
    assert request.needs & Ability.IMAGE
