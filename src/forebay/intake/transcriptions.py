"""Sound to text in its own language. Replies are JSON, text, subtitles (SRT, WebVTT) or events."""

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake.multipart_form import MultipartForm

FORM = MultipartForm(Api.TRANSCRIPTIONS, files={"file": Ability.AUDIO}, texts=("prompt",))
