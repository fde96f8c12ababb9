"""A served model's own files, as they stand in its folder."""

import msgspec

from forebay.config.companions import Companions
from forebay.config.errors import ConfigError
from forebay.intake.tokens.served import Layer, Served, served

CONFIG = "config.json"
PROCESSOR = "processor_config.json"
PREPROCESSOR = "preprocessor_config.json"
VIDEO = "video_preprocessor_config.json"


def read_served(place: str, beside: Companions, path: str) -> Served:
    """What the model's folder at `path` says, or the one file there. Raises ConfigError at `place`."""
    alone = _layer(place, beside, path)
    if alone is not None:
        return msgspec.structs.replace(served(processor=alone), whole=False)
    folder = path.rstrip("/")
    found = {
        name: _layer(place, beside, f"{folder}/{name}") for name in (CONFIG, PROCESSOR, PREPROCESSOR, VIDEO)
    }
    if not any(found.values()):
        problem = f"{path} is no file, and no folder with {PREPROCESSOR}, {PROCESSOR} or {CONFIG}"
        raise ConfigError(place, problem, "name the served model's folder, relative to this file")
    return served(
        config=found[CONFIG],
        processor=found[PROCESSOR],
        preprocessor=found[PREPROCESSOR],
        video=found[VIDEO],
    )


def _layer(place: str, beside: Companions, path: str) -> Layer | None:
    text = beside.text(place, path)
    if text is None:
        return None
    try:
        data = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ConfigError(place, f"{path} is not JSON", str(error)) from None
    if not isinstance(data, dict):
        raise ConfigError(place, f"{path} holds no JSON object", "name a preprocessor_config.json")
    return Layer(path, data)
