import json
from unittest.mock import Mock, patch

import pytest

from forebay.domain.ability import Ability
from forebay.intake import openai_chat as module


def test_text_parts_names_and_turns(read):
    messages = [
        {"role": "system", "content": "é"},
        {"role": "user", "name": "bob", "content": ["plain", {"type": "text", "text": "part"}]},
        {"role": "assistant", "content": None, "refusal": "no", "reasoning_content": "hm"},
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "x"}, {"type": "refusal", "refusal": "y"}],
        },
    ]
    text = read({"model": "m", "messages": messages}).request.text
    assert text.ascii_bytes == len("bobplainpartnohmxy")
    assert text.two_byte_bytes == 2
    assert text.messages == 4


def test_tools_and_schemas_count_as_text(read):
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"url": "x"}}}]
    plain = read({"model": "m", "messages": []}).request
    for key in ("tools", "functions", "response_format"):
        more = read({"model": "m", "messages": [], key: tools}).request
        assert more.text.ascii_bytes - plain.text.ascii_bytes == len(json.dumps(tools))
    assert read({"model": "m", "messages": [], "tools": None}).request.text == plain.text


def test_tool_calls_count_as_text(read):
    calls = [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]
    message = {"role": "assistant", "content": None, "tool_calls": calls, "function_call": None}
    assert read({"model": "m", "messages": [message]}).request.text.ascii_bytes == len(json.dumps(calls))


def test_p13_audio_is_audio(read, case):
    plain = read(case("p13_input_audio.json")).request
    item = plain.media[0]
    assert item.modality is Ability.AUDIO
    assert Ability.AUDIO in plain.needs
    assert abs(item.duration_us - 1_500_000) < 15_000
    assert item.tokens > 0
    assert plain.text.ascii_bytes < 100
    by_mistake = read(case("p13_input_audio_dataurl.json")).request
    assert by_mistake.media == plain.media


@pytest.mark.parametrize(
    ("kind", "modality"),
    [
        ("image_url", Ability.IMAGE),
        ("image_embeds", Ability.IMAGE),
        ("input_audio", Ability.AUDIO),
        ("audio_embeds", Ability.AUDIO),
        ("video_embeds", Ability.VIDEO),
        ("input_image", Ability.IMAGE),
    ],
)
def test_p13_a_known_modality_is_never_ignored(read, chat, kind, modality):
    request = read(chat({"type": kind, kind: None})).request
    assert request.media[0].modality is modality
    assert request.media[0].tokens > 0
    assert not request.media[0].exact
    assert modality in request.needs


def test_an_unknown_part_counts_as_text(read, chat):
    part = {"type": "x_chart", "points": [1, 2, 3], "label": "é"}
    request = read(chat({"type": "text", "text": "a"}, part)).request
    assert request.media == ()
    assert request.text.ascii_bytes + request.text.two_byte_bytes > 30


def test_unknown_parts_are_split_once(read):
    messages = [{"role": "user", "content": [{"type": "x", "n": n} for n in range(50)]} for _ in range(2)]
    whole, parts = Mock(wraps=module._RAW_MESSAGES), Mock(wraps=module._RAW_PARTS)
    with patch.multiple(module, _RAW_MESSAGES=whole, _RAW_PARTS=parts):
        request = read({"model": "m", "messages": messages}).request
    assert request.text.ascii_bytes == sum(len(json.dumps(part)) for m in messages for part in m["content"])
    assert (whole.decode.call_count, parts.decode.call_count) == (1, 2)


def test_files_are_media_or_documents(read, chat, case):
    jpeg = "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/wAALCAAwAEABAREA/9k="
    assert read(chat({"type": "file", "file": {"file_data": jpeg}})).request.media[0].width == 64
    pdf = "data:application/pdf;base64," + "QUJD" * 3_000
    for file in ({"file_data": pdf}, {"file_id": "f1"}):
        request = read(chat({"type": "file", "file": file}), document_bytes=1_234).request
        assert request.media == ()
        assert request.text.ascii_bytes == 1_234


def test_media_beside_the_messages(read):
    body = {
        "model": "m",
        "messages": [],
        "images": ["https://a.example/x"],
        "audios": ["https://a.example/y"],
    }
    request = read(body).request
    assert [item.modality for item in request.media] == [Ability.IMAGE, Ability.AUDIO]


def test_base64_in_a_text_is_text(read, chat):
    url = "data:image/png;base64," + "QUJD" * 3_000
    request = read(chat({"type": "text", "text": url})).request
    assert request.media == ()
    assert request.text.ascii_bytes == len(url)


def test_base64_in_tool_input_is_text(read):
    tools = [{"function": {"data": "QUJD" * 3_000}}]
    assert read({"model": "m", "messages": [], "tools": tools}).request.text.ascii_bytes == len(
        json.dumps(tools)
    )


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": 5}, "messages"),
        ({"messages": [{"content": 5}]}, "messages"),
        ({"messages": [{"content": [{"image_url": {"url": 5}}]}]}, "messages"),
        ({"images": [5]}, "images"),
    ],
)
def test_wrong_shapes_name_the_place(refused, body, param):
    refusal = refused({"model": "m", **body})
    assert (refusal.status, refusal.code, refusal.param) == (400, "invalid_type", param)


@pytest.mark.parametrize("content", ["plain", ["a part"]])
@pytest.mark.parametrize(
    ("asked", "choices"), [({}, 1), ({"n": None}, 1), ({"n": 0}, 1), ({"n": 3}, 3), ({"n": 10**9}, 65536)]
)
def test_choices_are_counted_streamed_or_not(read, content, asked, choices):
    body = {"model": "m", "messages": [{"role": "user", "content": content}], **asked}
    assert read(body).request.choices == choices
    assert read({**body, "stream": True}).edits.choices == choices
