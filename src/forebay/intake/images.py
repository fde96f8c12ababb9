"""Pictures from text."""

from forebay.domain.request import Api
from forebay.intake.content import read_content
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["prompt", "negative_prompt"])


def read_images(members: Members, prompt: Prompt) -> None:
    """Read what is to be seen, and what not. Raises a Refusal."""
    read_content(members, prompt, "prompt", "negative_prompt")


FORM = JsonForm(Api.IMAGES, read_images, COMMON | SENSITIVE, replies=Replies.BYTES)
