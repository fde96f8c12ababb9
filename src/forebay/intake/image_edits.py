"""Pictures made from pictures: a form with up to 16 of them, a mask and a prompt."""

from forebay.domain.ability import Ability
from forebay.domain.request import Api
from forebay.intake.form import Replies
from forebay.intake.multipart_form import MultipartForm

FORM = MultipartForm(
    Api.IMAGE_EDITS,
    files=dict.fromkeys(("image", "image[]", "mask"), Ability.IMAGE),
    texts=("prompt",),
    replies=Replies.BYTES,
)
