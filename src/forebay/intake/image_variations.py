"""Variations of a picture."""

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake.form import Replies
from forebay.intake.multipart_form import MultipartForm

FORM = MultipartForm(Api.IMAGE_VARIATIONS, files={"image": Ability.IMAGE}, replies=Replies.BYTES)
