"""Counting is read like the messages that are counted."""

from forebay.domain.ability import Ability
from forebay.domain.request import Api


def test_it_is_read_like_messages(read):
    body = {"model": "m", "system": "be brief", "messages": [{"role": "user", "content": "hi"}]}
    counted, asked = (read(body, api).request for api in (Api.COUNT_TOKENS, Api.MESSAGES))
    assert (counted.text, counted.prefix_blocks) == (asked.text, asked.prefix_blocks)
    assert counted.needs == Ability.TEXT | Ability.COUNT_TOKENS
