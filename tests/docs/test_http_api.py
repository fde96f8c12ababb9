"""Every error code that a client can be given stands in the reference."""

import re
from pathlib import Path

import pytest

from forebay.admission import status
from forebay.admission.status import Answer, answer_for
from forebay.domain.outcome import FailureKind

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/http-api.md").read_text(encoding="utf-8")
EXPLAINED = (ROOT / "docs/explanation/failure-handling.md").read_text(encoding="utf-8")
# A code stands behind its status, or alone in bad_request and MediaRefusal. A few are made of a modality.
_WITH_STATUS = re.compile(r"\b[45]\d\d,\s*\"([a-z]+(?:[-_][a-z]+)+)\"")
_ALONE = re.compile(r"\b(?:bad_request|MediaRefusal)\(\s*\"([a-z_]+)\"")


def _codes():
    answers = [each for each in vars(status).values() if isinstance(each, Answer)]
    answers += [answer_for(kind) for kind in FailureKind]
    yield from (answer.code for answer in answers)
    for path in [*(ROOT / "src/forebay/gateway").rglob("*.py"), *(ROOT / "src/forebay/intake").rglob("*.py")]:
        if "streams" not in path.parts:
            text = path.read_text(encoding="utf-8")
            yield from _WITH_STATUS.findall(text)
            yield from _ALONE.findall(text)


CODES = sorted({code.replace("-", "_") for code in _codes()})


def test_codes_are_found():
    assert {"body_too_large", "url_not_allowed", "engine_reset", "model_not_found"} <= set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_the_code_is_listed(code):
    assert f"`{code}`" in PAGE


@pytest.mark.parametrize("kind", FailureKind)
def test_the_failure_is_explained(kind):
    assert f"`{kind.value}`" in EXPLAINED
