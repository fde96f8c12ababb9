"""APIs whose bodies are forms with files: how any of them is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forebay.domain.ability import Ability
from forebay.domain.request import Api, InferenceRequest
from forebay.intake.form import Incoming, Replies, Understood
from forebay.intake.json_form import needs_of
from forebay.intake.media_reader import MediaReader, Place
from forebay.intake.members import Span
from forebay.intake.multipart import Part, boundary_of, parts_of
from forebay.intake.refusal import bad_request
from forebay.intake.skeleton import Skeleton
from forebay.intake.splice import EditPoints
from forebay.intake.text import measure

# A name is shorter, and a prompt of more than this has no use: it is cut by every model that hears.
_MAX_TEXT_BYTES = 1 << 20
# What Python's engines read as true (pydantic).
_TRUE = frozenset(["true", "1", "on", "yes", "y", "t"])
_NOTHING = Skeleton(b"")


@dataclass(frozen=True, slots=True)
class MultipartForm:
    """One API with forms. `files` are the fields that hold media, and of which kind; `texts` are those that an engine reads."""

    api: Api
    files: Mapping[str, Ability]
    texts: tuple[str, ...] = ()
    replies: Replies = Replies.TYPED

    @property
    def routes(self) -> Sequence[tuple[str, str]]:
        """See Form."""
        return (("POST", self.api.value),)

    def understand(self, incoming: Incoming) -> Understood:
        """See Form."""
        body = incoming.body
        parts = parts_of(body, boundary_of(incoming.content_type))
        fields = _Fields(body, parts)
        model = fields.text("model")
        if not model:
            raise bad_request("missing_model", "the name of a model is needed", "model")
        media = MediaReader(incoming.family_of(model), incoming.settings, _NOTHING)
        self._read_files(body, parts, media)
        media.check_budget()
        texts = [text for name in self.texts if (text := fields.text(name))]
        request = InferenceRequest(
            request_id=incoming.request_id,
            api=self.api,
            model=model,
            needs=needs_of(self.api) | media.needs,
            text=measure(texts, len(texts)),
            media=tuple(media.items),
            stream=fields.text("stream").lower() in _TRUE,
            body_bytes=len(body),
            tenant=incoming.tenant,
        )
        return Understood(request, EditPoints(fields.span("model"), bare=True), self.replies)

    def _read_files(self, body: bytes | bytearray, parts: Sequence[Part], media: MediaReader) -> None:
        view = memoryview(body)
        for index, part in enumerate(parts):
            modality = self.files.get(part.name)
            if modality is not None:
                place = Place(-1, index, part.name)
                media.file(modality, view[part.start : part.stop], part.head.content_type, place)


class _Fields:
    """Fields that hold text. Those that are read come once: readers differ in which of two they take."""

    def __init__(self, body: bytes | bytearray, parts: Sequence[Part]) -> None:
        self._body = body
        self._parts = parts

    def text(self, name: str) -> str:
        """The text of a field, empty when it is absent. Raises a Refusal that names it."""
        part = self._one(name)
        if part is None:
            return ""
        if part.head.is_file or part.stop - part.start > _MAX_TEXT_BYTES:
            raise bad_request("invalid_type", f"Expected text of at most {_MAX_TEXT_BYTES} bytes", name)
        try:
            return self._body[part.start : part.stop].decode()
        except UnicodeDecodeError:
            raise bad_request("invalid_form", "the text is not valid UTF-8", name) from None

    def span(self, name: str) -> Span:
        """Where the text of a field lies, which is there."""
        part = self._one(name)
        assert part is not None
        return Span(part.start, part.stop)

    def _one(self, name: str) -> Part | None:
        found = [part for part in self._parts if part.name == name]
        if len(found) > 1:
            raise bad_request("duplicate_key", "the field comes more than once", name)
        return found[0] if found else None
