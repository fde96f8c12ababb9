"""Requests are what the intake would have made."""

from forebay.domain.ability import Ability
from forebay.intake.prefix import MAX_BLOCKS
from forebay.simulator.workloads.ask import Ask, Block, Medium
from forebay.simulator.workloads.requests import visit

PICTURE = Medium(Ability.IMAGE, 400, 77)
SOUND = Medium(Ability.AUDIO, 150, 78)


def test_the_engine_finds_all_and_the_request_tells_what_a_client_would():
    made = visit(3, 1.5, Ask(1000, 40, (PICTURE, SOUND)))
    assert (made.at, made.prompt_tokens, made.output_tokens, made.patches) == (1.5, 1550, 40, (1600, 600))
    request = made.request
    assert request.request_id == "v3"
    assert request.text.ascii_bytes == 4000
    assert request.max_output_tokens == 0
    assert request.needs == Ability.TEXT | Ability.CHAT | Ability.IMAGE | Ability.AUDIO
    assert [(item.tokens, item.encoder_patches, item.content_hash) for item in request.media] == [
        (400, 1600, 77),
        (150, 600, 78),
    ]
    assert (request.media[0].width, request.media[1].width) == (640, 0)
    assert request.body_bytes > 4000 + 64 * 2200


def test_only_text_needs_only_text():
    assert visit(0, 0.0, Ask(10, 1)).request.needs == Ability.TEXT | Ability.CHAT


def test_prompts_that_begin_alike_share_their_first_blocks():
    shared = (Block(5, 512),)
    one, other = visit(0, 0.0, Ask(1000, 1, shared=shared)), visit(1, 0.0, Ask(900, 1, shared=shared))
    common = [
        mine
        for mine, theirs in zip(one.request.prefix_blocks, other.request.prefix_blocks, strict=False)
        if mine == theirs
    ]
    assert len(common) == 512 // 64
    assert one.request.prefix_tokens[:8] == tuple(range(64, 513, 64))
    assert (one.blocks, one.block_ends) == (other.blocks, (512,))


def test_pictures_end_the_chain_behind_the_text():
    made = visit(0, 0.0, Ask(130, 1, (PICTURE,)))
    assert made.request.prefix_tokens == (64, 128, 528)
    assert made.blocks == ()


def test_the_gateway_looks_at_the_first_blocks_only_and_the_engine_at_all():
    made = visit(0, 0.0, Ask(20_480, 1, shared=tuple(Block(1 + at, 512) for at in range(40))))
    assert len(made.request.prefix_blocks) == len(made.request.prefix_tokens) == MAX_BLOCKS
    assert len(made.blocks) == 40
    assert made.block_ends[-1] == 20_480
