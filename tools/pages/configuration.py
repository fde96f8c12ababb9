"""Configuration: the file's shape, section by section, and the profiles' settings."""

import msgspec

from forebay.config.schema import File
from forebay.placement.catalogue import PROFILES
from pages.settings import sections, settings_table
from pages.text import prose


def configuration() -> str:
    text = "# Configuration\n\nThe file is YAML. Unknown settings, keys given twice and values of the wrong kind are refused, with the line, "
    text += "the path and the cure. `forebay check FILE` says what a file means.\n\n" + "".join(
        sections(File)
    )
    text += "## Profiles\n\n`profile` of a pool is a name, or a mapping with `name` and these settings. How each decides: "
    text += "[Placement](../explanation/placement.md).\n\n"
    for name, recipe in PROFILES.items():
        common = "" if recipe.settings.__base__ is msgspec.Struct else prose(recipe.settings.__base__)
        text += f"### `{name}`\n\n{prose(recipe.build)}{prose(recipe.settings)}{common}{settings_table(recipe.settings)}"
    return (
        text
        + "## Families\n\n`family` of a pool is a name, or a mapping with `name` and the settings in [Families](families.md).\n"
    )
