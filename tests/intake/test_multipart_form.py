"""Forms with files, as the APIs read them."""

import pytest

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake.refusal import Refusal

BOUNDARY = "multipart/form-data; boundary=b"


def form(*fields):
    """Fields as (name, value), or (name, value, file name)."""
    parts = []
    for name, value, *file in fields:
        extra = f'; filename="{file[0]}"' if file else ""
        data = value if isinstance(value, bytes) else value.encode()
        parts.append(
            f'--b\r\nContent-Disposition: form-data; name="{name}"{extra}\r\n\r\n'.encode() + data + b"\r\n"
        )
    return b"".join(parts) + b"--b--\r\n"


@pytest.fixture
def read_form(read):
    return lambda body, api=Api.TRANSCRIPTIONS, **options: read(
        body, api, incoming={"content_type": BOUNDARY}, **options
    )


def test_a_sound_and_its_prompt(read_form, case):
    body = form(
        ("file", case("p13_tone_1500ms_8k_mono.wav"), "a.wav"),
        ("prompt", "abc"),
        ("model", "m"),
        ("stream", "True"),
    )
    understood = read_form(body)
    request = understood.request
    assert (request.model, request.stream, request.text.ascii_bytes) == ("m", True, 3)
    assert [(item.duration_us, item.mime) for item in request.media] == [(1_500_000, "audio/wav")]
    assert request.needs == Ability.TEXT | Ability.TRANSCRIPTIONS | Ability.AUDIO
    start, stop = understood.edits.model
    assert (body[start:stop], understood.edits.bare) == (b"m", True)


def test_pictures_to_edit(read_form, case):
    picture = case("p08_tail_cut_280x140.jpg")
    body = form(
        ("model", "m"),
        ("image[]", picture, "a.jpg"),
        ("image[]", picture, "b.jpg"),
        ("mask", picture, "c.jpg"),
        ("prompt", "x"),
    )
    request = read_form(body, Api.IMAGE_EDITS).request
    assert [(item.width, item.height) for item in request.media] == [(280, 140)] * 3
    assert len({item.content_hash for item in request.media}) == 1


def test_equal_files_share_their_hash_with_chats(read_form, read, chat, case):
    import base64

    sound = case("p13_tone_1500ms_8k_mono.wav")
    part = {"type": "input_audio", "input_audio": {"data": base64.b64encode(sound).decode(), "format": "wav"}}
    (item,) = read(chat(part)).request.media
    (same,) = read_form(form(("model", "m"), ("file", sound, "a.wav"))).request.media
    assert item.content_hash == same.content_hash


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ([("file", b"x", "a")], "missing_model", "model"),
        ([("model", "m"), ("model", "n")], "duplicate_key", "model"),
        ([("model", b"m", "a.txt")], "invalid_type", "model"),
        ([("model", b"\xff")], "invalid_form", "model"),
        ([("model", "m"), ("stream", "true"), ("stream", "false")], "duplicate_key", "stream"),
        ([("model", "m"), ("file", b"RIFF\x00\x00\x00\x00WAVEjunk", "a.wav")], "invalid_audio", "file"),
    ],
)
def test_refusals_name_the_field(read_form, fields, code, param):
    with pytest.raises(Refusal) as caught:
        read_form(form(*fields))
    assert (caught.value.status, caught.value.code, caught.value.param) == (400, code, param)


def test_a_file_above_the_limit_is_refused(read_form):
    from forebay.intake.media.limits import MediaLimits

    with pytest.raises(Refusal) as caught:
        read_form(form(("model", "m"), ("file", b"x" * 100, "a")), media=MediaLimits(max_item_bytes=50))
    assert caught.value.code == "audio_too_many_bytes"


def test_an_unknown_sound_is_priced_at_the_fallback(read_form):
    (item,) = read_form(form(("model", "m"), ("file", b"?" * 100, "a"))).request.media
    assert item.tokens > 0
    assert not item.exact
