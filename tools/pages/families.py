"""Model families: what they charge, and their parameters."""

import inspect
import json
from collections.abc import Iterable, Mapping

from forebay.domain.ability import MODALITIES, names
from forebay.intake.tokens.family import MediaCost, Rules
from forebay.intake.tokens.registry import FAMILIES, build
from forebay.intake.tokens.sampling import AssumedClip, FrameSampling
from pages.settings import settings_table
from pages.text import prose, table


def families() -> str:
    sizes = ((224, 224), (640, 480), (1280, 720), (1920, 1080), (1080, 1920))
    text = "# Model families\n\nHow a picture, a sound or a clip is priced, family by family, with the parameters' defaults. Numbers are "
    text += "placeholder tokens, without the marks around them, or tokens that are attended to across and take no place in the "
    text += "prompt. The first table is computed with the defaults.\n\n## Pictures\n\n"
    seeing = {name: build(name) for name in FAMILIES if build(name).image(224, 224) is not None}
    rows = [
        [f"`{name}`", *(_tokens(family.image(*size)) for size in sizes)] for name, family in seeing.items()
    ]
    text += table(["Family", *(f"{width}x{height}" for width, height in sizes)], rows)
    lengths = [
        ("sound of 10 s", lambda f: f.audio(10_000_000)),
        ("clip of 10 s, 1280x720, 30 fps", lambda f: f.video(1280, 720, 300, 10_000_000)),
    ]
    rows = [
        [f"`{name}`", *(_tokens(cost) if (cost := ask(build(name))) else "-" for _, ask in lengths)]
        for name in FAMILIES
    ]
    text += "## Sounds and clips\n\n" + table(["Family", *(title for title, _ in lengths)], rows)
    for cls in dict.fromkeys(FAMILIES.values()):
        text += _section(cls)
    text += f"## Sampling of clips\n\n{prose(FrameSampling)}{settings_table(FrameSampling)}"
    return text + f"## Clips of unknown measures\n\n{prose(AssumedClip)}{settings_table(AssumedClip)}"


def _tokens(cost: MediaCost) -> str:
    return f"{cost.tokens} across" if cost.cross_attended else str(cost.tokens)


def _read_at(places_of: Mapping[str, Iterable[str]]) -> str:
    return ", ".join(_place(parameter, tuple(places)) for parameter, places in places_of.items())


def _place(parameter: str, places: tuple[str, ...]) -> str:
    at = " or ".join(f"`{place}`" for place in places)
    return at if places == (parameter,) else f"`{parameter}` at {at}"


def _section(cls: type[Rules]) -> str:
    title = ", ".join(f"`{name}`" for name, family in FAMILIES.items() if family is cls)
    takes = ", ".join(names(each)[0] for each in MODALITIES if each in cls.abilities)
    source = " ".join((inspect.getmodule(cls).__doc__ or "").split())
    text = f"## {title}\n\n{source}\n\n{prose(cls)}Takes: {takes}.\n\n{settings_table(cls)}"
    for files, places_of in (("", cls.configured_at), (", for clips", cls.clips_configured_at)):
        if places_of:
            text += f"In the served model's files{files}: {_read_at(places_of)}.\n\n"
    for engine, departs in cls.engine_settings.items():
        words = ", ".join(f"`{key}` is `{json.dumps(value)}`" for key, value in departs.items())
        text += f"On `{engine}`: {words}, unless the pool's settings say otherwise.\n\n"
    return text
