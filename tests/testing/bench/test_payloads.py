"""Bodies have the promised size and hold real pictures."""

import base64
import json
import random
import struct
import zlib

from forebay.testing.bench.payloads import image_body, png, text_body


def test_png_is_whole_and_says_its_size():
    data = png(20, random.Random(1))
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height) == (20, 20)
    start = data.index(b"IDAT")
    length = int.from_bytes(data[start - 4 : start], "big")
    assert len(zlib.decompress(data[start + 4 : start + 4 + length])) == 20 * (1 + 3 * 20)
    assert data[start + 4 + length : start + 8 + length] == zlib.crc32(
        data[start : start + 4 + length]
    ).to_bytes(4, "big")


def test_text_body_is_as_long_as_asked():
    body = text_body(1024, random.Random(1), max_tokens=3)
    assert abs(len(body) - 1024) <= 10
    assert json.loads(body)["max_tokens"] == 3


def test_image_body_holds_the_picture():
    body = json.loads(image_body(8, random.Random(1)))
    url = body["messages"][0]["content"][1]["image_url"]["url"]
    assert base64.b64decode(url.partition(",")[2]) == png(8, random.Random(1))
