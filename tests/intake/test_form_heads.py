"""Heads of a form's parts."""

import pytest

from forebay.intake.form_heads import Head, read_head
from forebay.intake.refusal import Refusal


@pytest.mark.parametrize(
    ("lines", "head"),
    [
        (b'Content-Disposition: form-data; name="model"', Head("model")),
        (b"content-disposition:form-data;name=model", Head("model")),
        (b'Content-Disposition: form-data; name="a%22b"; filename="x.wav"', Head("a%22b", is_file=True)),
        (
            b'Content-Type: audio/wav\r\nContent-Disposition: FORM-DATA ; name = "f"; filename="C:\\x\\y.wav" ',
            Head("f", is_file=True, content_type="audio/wav"),
        ),
        (b"Content-Disposition: form-data; name=f; filename*=utf-8''%e2%82%ac.wav", Head("f", is_file=True)),
        ('Content-Disposition: form-data; name="\u00e9"'.encode(), Head("\u00e9")),
        (
            b'Content-Disposition: form-data; name="a"\r\nX-Other: 1\r\nContent-Transfer-Encoding: Binary',
            Head("a"),
        ),
    ],
)
def test_heads_are_read(lines, head):
    assert read_head(lines, 0) == head


@pytest.mark.parametrize(
    "lines",
    [
        b"",
        b"Content-Type: text/plain",
        b"Content-Disposition: form-data",
        b"Content-Disposition: attachment; name=a",
        b'Content-Disposition: form-data; name=""',
        b"Content-Disposition: form-data; name=a; name=b",
        b"Content-Disposition: form-data; name*=utf-8''a",
        b"Content-Disposition: form-data; name=a; name*=utf-8''b",
        b"Content-Disposition: form-data; name=a; name*0=mod; name*1=el",
        b"Content-Disposition: form-data; name=a; Name*0*=utf-8''model",
        b"Content-Disposition: form-data; name=a; filename*0=b",
        b'Content-Disposition: form-data; name="a"b"',
        b'Content-Disposition: form-data; filename="a\\"; name="model"',
        b'Content-Disposition: form-data; name="a" x',
        b'Content-Disposition: form-data; name="' + b"a" * 257 + b'"',
        b'Content-Disposition: form-data; name="\xff"',
        b"Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b",
        b"Content-Disposition: form-data;\r\n name=a",
        b"Content-Disposition : form-data; name=a",
        b"Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64",
        b"Content-Disposition: form-data; name=a\nmodel",
        b"Content-Disposition: form-data; name=\x00a",
    ],
)
def test_others_are_refused_with_their_place(lines):
    with pytest.raises(Refusal) as caught:
        read_head(lines, 77)
    assert caught.value.code == "invalid_form"
    assert caught.value.message.startswith("byte 77: ")
