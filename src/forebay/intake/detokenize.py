"""The text of tokens."""

from forebay.domain.request import Api
from forebay.intake.content import read_content
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["tokens"])


def read_tokens(members: Members, prompt: Prompt) -> None:
    """Read `tokens`. Raises a Refusal."""
    read_content(members, prompt, "tokens")


FORM = JsonForm(
    Api.DETOKENIZE, read_tokens, COMMON | SENSITIVE, replies=Replies.TYPED, paths=("/v1/detokenize",)
)
