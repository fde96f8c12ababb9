import base64
import struct

import pytest

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake.media.limits import MediaLimits
from forebay.intake.settings import MediaUrlSettings
from forebay.intake.tokens.registry import build


def data_url(data, mime="image/png"):
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def image(url):
    return {"type": "image_url", "image_url": {"url": url}}


def png(width, height, padding=0):
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + head + b"\0\0\0\0" + bytes(padding)


@pytest.mark.parametrize(
    ("name", "mime", "need"),
    [
        ("p10_still_64x48.webp", "image/webp", Ability.WEBP),
        ("p10_heic_64x48.heic", "image/heic", Ability.HEIC),
        ("p10_avif_64x48.avif", "image/avif", Ability.AVIF),
        ("p10_tiff_be_64x48.tif", "image/tiff", Ability.TIFF),
        ("p10_cmyk_64x48.jpg", "image/jpeg", Ability.JPEG),
    ],
)
def test_p10_formats_are_needs(read, chat, case, name, mime, need):
    request = read(chat(image(data_url(case(name))))).request
    assert request.media[0].mime == mime
    assert request.media[0].tokens > 0
    assert request.needs == Ability.TEXT | Ability.CHAT | Ability.IMAGE | need


def test_p10_svg_is_refused_unparsed(refused, chat, case):
    for mime in ("image/svg+xml", "image/png"):
        refusal = refused(chat(image(data_url(case("p10_not_an_image.svg"), mime))))
        assert (refusal.status, refusal.code) == (400, "unsupported_image_format")


def test_p08_a_cut_header_is_refused(refused, chat, case):
    refusal = refused(chat({"type": "text", "text": "x"}, image(data_url(case("p08_header_cut.jpg")))))
    assert (refusal.status, refusal.code, refusal.param) == (400, "invalid_image", "messages[0].content[1]")


def test_p09_a_bomb_is_refused_by_its_header(refused, chat, case):
    refusal = refused(chat(image(data_url(case("p09_bomb_30000x30000.png")))))
    assert (refusal.status, refusal.code) == (400, "image_too_large")
    assert "30000x30000" in refusal.message


def test_an_unknown_format_has_a_price(read, chat):
    item = read(chat(image(data_url(b"no known magic")))).request.media[0]
    assert item.tokens > 0
    assert not item.exact


def test_sound_in_an_image_part_is_refused(refused, chat, case):
    refusal = refused(chat(image(data_url(case("p13_tone_1500ms_8k_mono.wav")))))
    assert refusal.code == "unsupported_image_format"
    assert "audio/wav" in refusal.message


def test_a_picture_in_a_video_part_is_priced_as_video(read, chat):
    part = {"type": "video_url", "video_url": {"url": data_url(png(8, 8))}}
    item = read(chat(part)).request.media[0]
    assert item.modality is Ability.VIDEO
    assert not item.exact


def test_a_family_without_the_modality_gets_a_price_from_the_generic_one(read, chat):
    request = read(chat(image(data_url(png(8, 8)))), family=build("whisper")).request
    assert request.media[0].tokens > 0
    assert not request.media[0].exact
    assert Ability.IMAGE in request.needs


@pytest.mark.parametrize("key", ["mm_processor_kwargs", "media_io_kwargs"])
def test_processing_told_by_the_client_makes_a_price_approximate(read, chat, key):
    for value, exact in (({"max_pixels": 1}, False), (None, True)):
        assert read(chat(image(data_url(png(8, 8))), **{key: value})).request.media[0].exact is exact


def test_an_unknown_model_is_priced_too(read, chat):
    assert read(chat(image(data_url(png(8, 8)))), family=None).request.media[0].tokens > 0


def test_p37_a_remote_url_is_not_fetched_and_has_a_price(read, chat):
    first = read(chat(image("https://media.example.org/a.png"))).request
    item = first.media[0]
    assert (item.width, item.content_hash, item.exact) == (0, 0, False)
    assert item.tokens > 0
    second = read(chat(image("https://media.example.org/b.png"))).request
    assert first.prefix_blocks[-1] != second.prefix_blocks[-1]


@pytest.mark.parametrize("kind", ["image_url", "video_url", "audio_url"])
@pytest.mark.parametrize("form", [lambda url: {"url": url}, lambda url: url])
def test_p37_every_modality_obeys_the_policy(refused, read, chat, kind, form):
    part = {"type": kind, kind: form("http://169.254.169.254/latest")}
    refusal = refused(chat(part))
    assert (refusal.status, refusal.code) == (400, "url_not_allowed")
    assert "169.254" not in refusal.message
    listed = {"type": kind, kind: form("http://in.example/x")}
    assert read(chat(listed), media_urls=MediaUrlSettings(allow=("http://in.example",))).request.media


def test_p37_anthropic_urls_obey_it_too(refused):
    block = {"type": "image", "source": {"type": "url", "url": "https://localhost/x"}}
    body = {"model": "m", "messages": [{"role": "user", "content": [block]}]}
    assert refused(body, Api.MESSAGES).code == "url_not_allowed"


def test_p12_vision_budget(read, refused, case):
    body = case("p12_33_images.json")
    request = read(body).request
    assert sum(item.tokens for item in request.media) == 1650
    assert all(item.exact for item in request.media)
    refusal = refused(body, max_vision_tokens=1000)
    assert refusal.status == 400
    assert "1650 > 1000" in refusal.message
    assert read(body, max_vision_tokens=1650).request.media


def test_p12_media_count(refused, case):
    refusal = refused(case("p12_33_images.json"), media=MediaLimits(max_items=32))
    assert refusal.code == "too_many_media_items"
    assert refusal.param == "messages[0].content[65]"


def test_bytes_of_one_item_are_bounded(refused, chat):
    refusal = refused(chat(image(data_url(png(8, 8, 9_000)))), media=MediaLimits(max_item_bytes=9_000))
    assert refusal.code == "image_too_many_bytes"


def wrapped(url):
    return "\r\n".join(url[at : at + 76] for at in range(0, len(url), 76))


@pytest.mark.parametrize("padding", [0, 9_000, 9_001, 9_002])
@pytest.mark.parametrize(
    "change",
    [
        lambda url: url,
        wrapped,
        lambda url: url.rstrip("="),
        lambda url: url.replace("+", "-").replace("/", "_").replace("image_png", "image/png"),
        lambda url: url.replace("data:", "DATA:").replace(";base64,", ";name=a.png;BASE64, "),
    ],
)
def test_p02_all_spellings_share_one_hash(read, chat, padding, change):
    url = data_url(png(280, 140, padding) + b"\xfb\xff\xfe")
    plain = read(chat(image(url))).request
    odd = read(chat(image(change(url)))).request
    assert odd.media == plain.media
    assert odd.prefix_blocks == plain.prefix_blocks
    assert plain.media[0].tokens == 50


@pytest.mark.parametrize("sign", ["*", "é", "\x00"])
def test_bad_base64_is_refused_without_an_echo(refused, chat, sign):
    for padding in (0, 9_000):
        url = data_url(png(280, 140, padding))
        refusal = refused(chat(image(url[:100] + sign + url[100:])))
        assert (refusal.status, refusal.code) == (400, "invalid_image")
        assert url[40:60] not in refusal.message


def test_a_raw_line_end_inside_a_cut_payload_is_no_json(refused):
    url = data_url(png(280, 140, 9_000)).encode()
    body = b'{"model":"m","messages":[{"content":[{"image_url":"' + url[:500] + b"\n" + url[500:] + b'"}]}]}'
    assert refused(body).code == "invalid_json"


def test_php_style_escapes_are_read(read, chat):
    url = data_url(png(280, 140, 9_000) + b"\xff" * 60)
    body = (
        b'{"model":"m","messages":[{"content":[{"image_url":"' + url.replace("/", "\\/").encode() + b'"}]}]}'
    )
    assert read(body).request.media[0].content_hash == read(chat(image(url))).request.media[0].content_hash


@pytest.mark.parametrize(("detail", "tokens"), [("low", 85), ("high", 765), (None, 765), (7, 765)])
def test_a_part_may_state_its_detail(read, chat, detail, tokens):
    for url in (data_url(png(1024, 1024)), "https://pictures.example/a.png"):
        part = {"type": "image_url", "image_url": {"url": url, "detail": detail}}
        assert read(chat(part), family=build("gpt-4o")).request.media[0].tokens == tokens


def test_detail_changes_nothing_for_an_open_model(read, chat):
    part = {"type": "image_url", "image_url": {"url": data_url(png(640, 480)), "detail": "low"}}
    assert read(chat(part)).request.media[0].tokens == build("qwen2.5-vl").image(640, 480).tokens


def test_a_cross_attended_picture_takes_one_place_and_the_encoder(read, chat):
    (item,) = read(chat(image(data_url(png(640, 480)))), family=build("llama-3.2-vision")).request.media
    assert (item.tokens, item.wrapper_tokens, item.encoder_patches) == (0, 1, 4 * 1601)


@pytest.mark.parametrize(("detail", "tokens"), [("low", 85), ("high", 765)])
def test_a_part_of_a_response_states_its_detail_beside_the_address(read, detail, tokens):
    part = {"type": "input_image", "image_url": data_url(png(1024, 1024)), "detail": detail}
    body = {"model": "m", "input": [{"role": "user", "content": [part]}]}
    assert read(body, Api.RESPONSES, family=build("gpt-4o")).request.media[0].tokens == tokens
