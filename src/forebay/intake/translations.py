"""Sound to text in English."""

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake.multipart_form import MultipartForm

FORM = MultipartForm(Api.TRANSLATIONS, files={"file": Ability.AUDIO}, texts=("prompt",))
