"""Speech from text. The reply is sound, passed on as it is made, or events that carry it."""

from forebay.domain.request import Api
from forebay.intake.content import read_content
from forebay.intake.form import Replies
from forebay.intake.json_form import COMMON, JsonForm
from forebay.intake.members import Members
from forebay.intake.prompt import Prompt

SENSITIVE = frozenset(["input", "instructions"])


def read_speech(members: Members, prompt: Prompt) -> None:
    """Read what is to be said, and how. Raises a Refusal."""
    read_content(members, prompt, "instructions", "input")


FORM = JsonForm(Api.SPEECH, read_speech, COMMON | SENSITIVE, replies=Replies.BYTES)
