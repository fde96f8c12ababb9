"""Ids of responses that name their engine to who holds the key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.gateway.response_ids import Home, ResponseIds
from forebay.intake.form import Seat
from forebay.intake.refusal import Refusal

HOMES = [Home("m", 0, "http://10.0.0.1:8000"), Home("n", 7, "http://10.0.0.2:8000")]
IDS = ResponseIds(b"key", HOMES)


def refused(ids, sealed, tenant=""):
    with pytest.raises(Refusal) as caught:
        ids.seat_of(sealed, tenant, "p")
    assert (caught.value.status, caught.value.code, caught.value.param) == (404, "response_not_found", "p")
    return caught.value.message


@given(st.text(min_size=1).filter(lambda text: text not in {".", ".."}), st.sampled_from(HOMES), st.text())
def test_what_is_sealed_comes_back_in_every_process_with_the_key(engine_id, home, tenant):
    sealed = IDS.sealed(engine_id, home.slot, tenant)
    moved = ResponseIds(b"key", [Home(home.model, 99, home.url)])
    assert moved.seat_of(sealed, tenant) == Seat(home.model, 99, engine_id)
    assert len(sealed) == len(engine_id) + 21


@given(st.text(max_size=40))
def test_anything_else_is_unknown(text):
    refused(IDS, text)


@given(st.integers(0, 30), st.characters(codec="ascii"))
def test_one_changed_sign_makes_it_unknown(at, sign):
    sealed = IDS.sealed("resp_0123", 0, "t")
    changed = sealed[: at % len(sealed)] + sign + sealed[at % len(sealed) + 1 :]
    if changed != sealed:
        refused(IDS, changed, "t")


def test_another_spelling_of_the_same_bytes_is_unknown():
    ids = (f"resp_{number}" for number in range(99))
    sealed = next(name for name in (IDS.sealed(each, 0, "t") for each in ids) if "-" in name[-20:])
    refused(IDS, sealed[:-20] + sealed[-20:].replace("-", "+"), "t")


def test_another_tenant_and_another_key_do_not_know_it():
    sealed = IDS.sealed("resp_1", 0, "one")
    refused(IDS, sealed, "two")
    refused(ResponseIds(b"other", HOMES), sealed, "one")


@pytest.mark.parametrize("engine_id", [".", ".."])
def test_ids_that_would_climb_out_of_their_path_are_unknown_though_they_are_sealed(engine_id):
    ids = ResponseIds(b"", HOMES)  # without a key anyone can seal
    refused(ids, ids.sealed(engine_id, 0, ""))


def test_an_endpoint_that_left_is_told():
    assert "fleet" in refused(ResponseIds(b"key", HOMES[1:]), IDS.sealed("resp_1", 0, ""))


def test_an_unknown_slot_leaves_the_id_as_it_is():
    assert IDS.sealed("resp_1", 5, "") == "resp_1"
