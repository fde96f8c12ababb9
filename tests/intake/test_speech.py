"""Speech and pictures from text."""

from forebay.domain.request import Api
from forebay.intake.form import Replies


def test_what_is_said_is_read(read):
    understood = read({"model": "m", "input": "hello", "instructions": "low", "voice": "alloy"}, Api.SPEECH)
    assert understood.request.text.ascii_bytes == 8
    assert understood.replies is Replies.BYTES


def test_what_is_seen_is_read(read):
    assert read({"model": "m", "prompt": "a cat", "n": 2}, Api.IMAGES).request.text.ascii_bytes == 5
