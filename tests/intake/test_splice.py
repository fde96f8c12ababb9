import json

import pytest

from forebay.intake.members import Span
from forebay.intake.splice import Edit, EditPoints, model_edits, splice


def joined(body, edits):
    return b"".join(splice(body, edits))


def test_what_stays_is_not_copied():
    body = bytearray(b"abcdef")
    pieces = splice(body, [Edit(4, 5, b"Y"), Edit(1, 2, b"XX"), Edit(3, 3, b"+")])
    assert b"".join(pieces) == b"aXXc+dYf"
    assert all(piece.obj is body for piece in pieces if isinstance(piece, memoryview))


def test_p04_only_the_model_differs(case, read):
    body = case("p04_exact_numbers.json")
    understood = read(body)
    out = joined(body, model_edits(understood.edits, "real-a"))
    assert out == body.replace(b'"alias-a"', b'"real-a"')


def test_a_model_name_is_escaped():
    (edit,) = model_edits(EditPoints(Span(0, 3)), 'a"é')
    assert json.loads(edit.text) == 'a"é'


@pytest.mark.parametrize(
    ("options", "result"),
    [
        ("", '{"stream_options":{"include_usage":true},"model":"m","stream":true}'),
        (',"stream_options":null', '{"model":"m","stream":true,"stream_options":{"include_usage":true}}'),
        (',"stream_options":{}', '{"model":"m","stream":true,"stream_options":{"include_usage":true}}'),
        (
            ',"stream_options": { "x": 1.0 }',
            '{"model":"m","stream":true,"stream_options": {"include_usage":true, "x": 1.0 }}',
        ),
        (
            ',"stream_options":{"a":1e2,"include_usage" : false}',
            '{"model":"m","stream":true,"stream_options":{"a":1e2,"include_usage" : true}}',
        ),
        (
            ',"stream_options":{"include_usage":null}',
            '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
        ),
    ],
)
def test_p19_usage_is_always_asked_for(read, options, result):
    body = ('{"model":"m","stream":true' + options + "}").encode()
    understood = read(body)
    assert not understood.request.usage_wanted
    assert joined(body, [understood.edits.want_usage]).decode() == result


def test_p19_a_client_that_asked_needs_no_edit(read):
    understood = read({"model": "m", "stream": True, "stream_options": {"include_usage": True}})
    assert understood.request.usage_wanted
    assert understood.edits.want_usage is None


def test_no_stream_needs_no_usage_edit(read):
    assert read({"model": "m", "stream_options": {"x": 1}}).edits.want_usage is None


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ("false", "stream_options"),
        ("[]", "stream_options"),
        ('{"include_usage":1}', "stream_options.include_usage"),
        ('{"include_usage":true,"include_usage":false}', "stream_options.include_usage"),
    ],
)
def test_p19_odd_stream_options_are_refused(refused, options, param):
    refusal = refused(('{"model":"m","stream":true,"stream_options":' + options + "}").encode())
    assert (refusal.status, refusal.param) == (400, param)


def test_edits_behind_media_land_in_the_body(read):
    url = "data:image/png;base64," + "QUJD" * 4_000
    parts = [{"type": "image_url", "image_url": {"url": url}}]
    body = json.dumps(
        {
            "stream": True,
            "messages": [{"role": "user", "content": parts}],
            "model": "m",
            "stream_options": None,
        }
    ).encode()
    points = read(body).edits
    out = joined(body, [*model_edits(points, "real"), points.want_usage])
    assert out == body.replace(b'"m"', b'"real"').replace(b"null", b'{"include_usage":true}')
