"""From the endpoints of a file, and those that were found since, to the plan's."""

import functools
import operator
from collections.abc import Iterable, Iterator

import msgspec

from forebay.config.addresses import checked_url, name_of, socket_path
from forebay.config.document import Document
from forebay.config.errors import ConfigError
from forebay.config.schema import EndpointFile
from forebay.config.slots import SlotBook
from forebay.domain.ability import IMAGE_FORMATS, Ability, Role
from forebay.domain.endpoint import Endpoint

ROLES = {"all": Role.ALL, "encode": Role.ENCODE, "prefill": Role.PREFILL, "decode": Role.DECODE}

Found = tuple[tuple[str, tuple[EndpointFile, ...]], ...]
"""What each source, by its text, has given last; URLs are checked. A source that is not named has given nothing yet."""


class Endpoints:
    """Makes each pool's endpoints, with slots of `slots`, and refuses an address that is given twice."""

    def __init__(self, document: Document, slots: SlotBook, found: Found) -> None:
        self._document = document
        self._slots = slots
        self._found = dict(found)
        self._seen: dict[str, str] = {}  # where each URL stands

    def declared(self, path: str, model: str, files: Iterable[EndpointFile]) -> tuple[Endpoint, ...]:
        """Endpoints of one pool, the file's own and the found ones, in order. Raises ConfigError."""
        made: list[Endpoint] = []
        for index, file in enumerate(files):
            made += self._of(f"{path}[{index}]", model, file)
        return tuple(made)

    def _of(self, path: str, model: str, file: EndpointFile) -> Iterator[Endpoint]:
        if bool(file.url) == (file.discover is not None):
            raise ConfigError(
                self._document.place(path), "one address is needed", "write `url` or `discover`"
            )
        if file.discover is None:
            yield self._endpoint(path, model, file)
            return
        file.discover.check(self._document.place(f"{path}.discover"))
        for each in self._found.get(str(file.discover), ()):
            if each.url not in self._seen:  # two names may have one address; that is no fault of the file
                yield self._endpoint(path, model, _filled(each, file), file.discover.dns)

    def _endpoint(self, path: str, model: str, file: EndpointFile, host: str = "") -> Endpoint:
        place = self._document.place(f"{path}.url")
        url = checked_url(place, file.url)
        if file.metrics_port and socket_path(url):
            raise ConfigError(place, "a Unix socket has no other port", "remove `metrics_port`")
        if url in self._seen:
            raise ConfigError(place, f"{file.url} is already at {self._seen[url]}", "remove one of them")
        self._seen[url] = path.removeprefix("$.")
        return Endpoint(
            slot=self._slots.lease(model, url).slot,
            name=name_of(url),
            url=url,
            host=host,
            engine=file.engine,
            device=file.device,
            devices=file.devices,
            zone=file.zone,
            role=ROLES[file.role],
            numa_node=file.numa_node,
            preprocess_numa_node=file.preprocess_numa_node,
            max_in_flight=file.max_in_flight,
            metrics_port=file.metrics_port,
            encoder_budget_tokens=file.encoder_budget_tokens,
            image_formats=_formats(file.image_formats),
        )


def _formats(names: Iterable[str] | None) -> Ability | None:
    if names is None:
        return None
    return functools.reduce(operator.or_, (IMAGE_FORMATS[f"image/{name}"] for name in names), Ability(0))


def _filled(found: EndpointFile, template: EndpointFile) -> EndpointFile:
    """What was found, with the settings of its source's entry where it has none of its own."""
    blank = EndpointFile()
    own = {
        name: value
        for name in found.__struct_fields__
        if (value := getattr(found, name)) != getattr(blank, name)
    }
    return msgspec.structs.replace(template, discover=None, **own)
