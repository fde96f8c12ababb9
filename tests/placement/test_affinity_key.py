"""Which requests belong together."""

import base64
import json
from pathlib import Path

import msgspec

from forebay.domain.request import Api
from forebay.intake.settings import IntakeSettings
from forebay.intake.tokens.registry import build
from forebay.intake.understand import understand
from forebay.placement.affinity_key import affinity_key
from forebay.testing.build import picture, request

CASES = Path(__file__).parent.parent / "cases"
A, B = (json.loads((CASES / f"p39_same_text_image_{name}.json").read_bytes()) for name in "ab")


def read(body):
    family = build("qwen2-vl", {}, "")
    return understand(Api.CHAT, json.dumps(body).encode(), IntakeSettings(), "r", lambda _model: family)


def key_of(body, tenant=""):
    return affinity_key(msgspec.structs.replace(read(body).request, tenant=tenant))


def rewritten(body, change):
    """The body with its image's base64 changed by `change`."""
    (part,) = (part for part in body["messages"][0]["content"] if part["type"] == "image_url")
    head, _, payload = part["image_url"]["url"].partition(",")
    content = [
        {"type": "image_url", "image_url": {"url": f"{head},{change(payload)}"}} if each is part else each
        for each in body["messages"][0]["content"]
    ]
    return {**body, "messages": [{"role": "user", "content": content}]}


def wrapped(payload):
    return "\n".join(payload[at : at + 76] for at in range(0, len(payload), 76))


def urlsafe(payload):
    return base64.urlsafe_b64encode(base64.b64decode(payload)).decode().rstrip("=")


def test_p39_two_pictures_with_one_text_never_share_a_key():
    assert A["messages"][0]["content"] != B["messages"][0]["content"]
    assert key_of(A) != key_of(B)
    assert key_of(A) == key_of(A) != 0


def test_p39_one_picture_in_other_base64_shares_its_key():
    assert rewritten(A, wrapped) != A
    assert key_of(rewritten(A, wrapped)) == key_of(rewritten(A, urlsafe)) == key_of(A)


def test_p39_another_tenant_has_another_key():
    assert len({key_of(A), key_of(A, "one"), key_of(A, "two")}) == 3
    assert key_of(A, "one") == key_of(A, "one")


def test_p28_a_picture_is_in_the_key_however_much_text_stands_before_it():
    system = {"role": "system", "content": "You look at pictures. " * 200}
    a, b = ({**body, "messages": [system, *body["messages"]]} for body in (A, B))
    assert read(a).request.prefix_blocks[:8] == read(b).request.prefix_blocks[:8]
    assert key_of(a) != key_of(b)


def test_a_conversation_keeps_its_key_as_it_grows():
    turns = [{"role": "user", "content": "Let us speak of dams and weirs. " * 40}]
    first = {"model": "m", "messages": turns}
    second = {"model": "m", "messages": [*turns, {"role": "assistant", "content": "Gladly. " * 99}, *turns]}
    assert key_of(first) == key_of(second) != 0
    pictures = (picture(content_hash=5), picture(content_hash=6))
    begun, grown = (request(media=pictures[:count], prefix_blocks=(1, 2, 3, 4)) for count in (1, 2))
    assert affinity_key(begun) == affinity_key(grown)


def test_short_prompts_have_no_key_and_a_picture_alone_has_one():
    assert affinity_key(request()) == 0
    assert affinity_key(request(tenant="one")) == 0
    assert affinity_key(request(media=(picture(content_hash=0),))) == 0
    assert affinity_key(request(media=(picture(content_hash=5),))) != 0
