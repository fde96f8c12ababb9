"""The table of every API, and the way from a path to its form."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake import (
    anthropic,
    classify,
    completions,
    count_tokens,
    detokenize,
    embeddings,
    image_edits,
    image_variations,
    images,
    kept_responses,
    openai_chat,
    pooling,
    rerank,
    responses,
    score,
    speech,
    tokenize,
    transcriptions,
    translations,
)
from forebay.intake.form import Form

FORMS: tuple[Form, ...] = (
    openai_chat.FORM,
    completions.FORM,
    embeddings.FORM,
    responses.FORM,
    kept_responses.FORM,
    anthropic.FORM,
    count_tokens.FORM,
    transcriptions.FORM,
    translations.FORM,
    speech.FORM,
    images.FORM,
    image_edits.FORM,
    image_variations.FORM,
    rerank.FORM,
    score.FORM,
    classify.FORM,
    pooling.FORM,
    tokenize.FORM,
    detokenize.FORM,
)
# The first form of an API is the one that makes something.
FORM_OF: Mapping[Api, Form] = {form.api: form for form in reversed(FORMS)}


class Route(NamedTuple):
    """Where a path leads: the form for each method, and the id that the path holds."""

    forms: Mapping[str, Form]
    held_id: str = ""


def _table() -> dict[str, dict[str, Form]]:
    table: dict[str, dict[str, Form]] = {}
    for form in FORMS:
        for method, path in form.routes:
            table.setdefault(path, {})[method] = form
    return table


_BY_TEMPLATE = _table()
PATHS: tuple[str, ...] = tuple(_BY_TEMPLATE)
"""Every path, for people: `{id}` stands for one segment."""
ABILITIES: Mapping[str, Ability] = {
    path: form.api.ability for form in FORM_OF.values() for method, path in form.routes if method == "POST"
}
"""What an endpoint that offers a path can do."""
_PLAIN = {path: Route(forms) for path, forms in _BY_TEMPLATE.items() if "{id}" not in path}
_WITH_ID = [
    (re.compile(re.escape(path).replace(r"\{id\}", "([A-Za-z0-9._~-]{1,256})")), forms)
    for path, forms in _BY_TEMPLATE.items()
    if "{id}" in path
]


def route(path: str) -> Route | None:
    """Where `path` leads, None for nowhere."""
    return _PLAIN.get(path) or _route_with_id(path)


def _route_with_id(path: str) -> Route | None:
    for template, forms in _WITH_ID:
        found = template.fullmatch(path)
        if found is not None:
            return Route(forms, found[1])
    return None
