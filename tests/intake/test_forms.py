"""The table of forms."""

from pathlib import Path

from forebay.domain.request import Api
from forebay.intake.forms import ABILITIES, FORM_OF, FORMS, PATHS, route


def test_every_api_has_one_form_that_its_path_leads_to():
    assert set(FORM_OF) == set(Api)
    for api in Api:
        assert route(api.value).forms["POST"] is FORM_OF[api]
        assert ABILITIES[api.value] == api.ability


def test_no_two_forms_share_a_route():
    routes = [pair for form in FORMS for pair in form.routes]
    assert len(routes) == len(set(routes))
    assert {path for _, path in routes} == set(PATHS)


def test_every_path_is_in_the_reference():
    page = (Path(__file__).parents[2] / "docs/reference/http-api.md").read_text(encoding="utf-8")
    assert [path for path in PATHS if f"`{path}`" not in page] == []


def test_other_paths_lead_nowhere():
    for path in ("/", "/v1", "/v1/chat", "/v1/chat/completions/", "/v1/responses/{id}", "/v1/files"):
        assert route(path) is None
