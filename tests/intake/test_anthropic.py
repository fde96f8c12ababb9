import base64
import json

import pytest

from forebay.domain.ability import Ability
from forebay.domain.request import Api


def message(*blocks, role="user"):
    return {"role": role, "content": list(blocks)}


def understood(read, *messages, **more):
    body = {"model": "m", "max_tokens": 9, "messages": list(messages), **more}
    return read(body, Api.MESSAGES)


def source(case, name="p08_idat_garbled_280x140.png"):
    data = base64.b64encode(case(name)).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def test_text_of_every_kind(read):
    request = understood(
        read,
        {"role": "user", "content": "abc"},
        message({"type": "text", "text": "de"}, {"type": "thinking", "thinking": "f", "signature": "s"}),
        message({"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}}, role="assistant"),
        message({"type": "tool_result", "tool_use_id": "t", "content": "gh"}),
        system="sys",
        tools=[{"name": "n"}],
    ).request
    expected = len("abcdefgh" + "sys" + json.dumps({"a": 1}) + json.dumps([{"name": "n"}]))
    assert request.text.ascii_bytes == expected
    assert request.text.messages == 5
    assert request.needs == Ability.TEXT | Ability.MESSAGES
    assert request.max_output_tokens == 9
    assert not request.usage_wanted


def test_a_system_prompt_of_blocks(read):
    assert understood(read, system=[{"type": "text", "text": "sys"}]).request.text.ascii_bytes == 3


def test_images_of_every_source(read, case):
    blocks = [
        source(case),
        {"type": "image", "source": {"type": "url", "url": "https://a.example/x"}},
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
    ]
    media = understood(read, message(*blocks)).request.media
    assert [(item.tokens > 0, item.exact) for item in media] == [(True, True), (True, False), (True, False)]
    assert media[0].tokens == 50


def test_an_image_in_a_tool_result(read, case):
    block = {"type": "tool_result", "content": [{"type": "text", "text": "x"}, source(case)]}
    item = understood(read, message({"type": "text", "text": "y"}, block)).request.media[0]
    assert (item.message_index, item.part_index, item.tokens) == (0, 1, 50)


def test_a_fault_in_a_tool_result_names_its_place(refused):
    bad = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "!"}}
    body = {"model": "m", "messages": [message({"type": "tool_result", "content": [bad]})]}
    assert refused(body, Api.MESSAGES).param == "messages[0].content[0].content[0]"


@pytest.mark.parametrize(
    ("document", "ascii_bytes"),
    [
        ({"type": "text", "media_type": "text/plain", "data": "abc"}, 3),
        ({"type": "base64", "media_type": "application/pdf", "data": "QUJD" * 4_000}, 500),
        ({"type": "url", "url": "https://a.example/x.pdf"}, 500),
    ],
)
def test_documents(read, document, ascii_bytes):
    body = {"model": "m", "messages": [message({"type": "document", "source": document})]}
    assert read(body, Api.MESSAGES, document_bytes=500).request.text.ascii_bytes == ascii_bytes
