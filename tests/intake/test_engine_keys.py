"""Keys that steer an engine are not for clients."""

import pytest

from forebay.domain.request import Api
from forebay.intake.engine_keys import ENGINE_KEYS
from forebay.intake.plain_chat import read_plain

PLAIN = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize("key", sorted(ENGINE_KEYS))
@pytest.mark.parametrize("api", [Api.CHAT, Api.COMPLETIONS, Api.MESSAGES, Api.EMBEDDINGS, Api.RESPONSES])
def test_each_is_refused_by_name(refused, api, key):
    for value in ("x", 7, {"remote_host": "evil"}, False):
        refusal = refused({"model": "m", key: value}, api)
        assert (refusal.status, refusal.code, refusal.param) == (400, "unsupported_parameter", key)


@pytest.mark.parametrize("key", sorted(ENGINE_KEYS))
def test_the_short_way_sees_each(refused, key):
    assert refused({**PLAIN, key: 0}).param == key


def test_one_that_is_escaped_or_hidden_is_seen(refused):
    assert refused(b'{"model":"m","messages":[],"r\\u0069d":"x"}').code == "unsupported_parameter"
    assert refused(b'{"model":"m","messages":[],"rid":"x","rid":null}').code == "duplicate_key"


def test_null_and_words_of_a_prompt_are_none(read):
    assert read({**PLAIN, "rid": None}).request.model == "m"
    assert read({"model": "m", "messages": [{"role": "user", "content": '"rid": 1'}]}).request.model == "m"


def test_where_clients_are_trusted_they_pass(read):
    assert read({**PLAIN, "kv_transfer_params": {"x": 1}}, trust_engine_keys=True).request.model == "m"


def test_a_chat_without_them_stays_plain():
    assert read_plain(b'{"model":"m","messages":[{"role":"user","content":"hi"}]}', ENGINE_KEYS) is not None
