"""Scoring pairs: vLLM's `text_1` and `text_2`, `queries` and `documents` or `data_1` and `data_2`; SGLang's `query` and `items`."""

from forebay.domain.request import Api
from forebay.intake.content import read_content
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

_KEYS = ("text_1", "text_2", "queries", "documents", "data_1", "data_2", "query", "items")


def read_score(members: Members, prompt: Prompt) -> None:
    """Read both sides. Raises a Refusal."""
    read_content(members, prompt, *_KEYS)


FORM = JsonForm(Api.SCORE, read_score, COMMON | set(_KEYS), replies=Replies.TYPED, paths=("/score",))
