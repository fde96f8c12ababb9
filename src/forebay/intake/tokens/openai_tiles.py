"""OpenAI's models that see pictures as tiles of 512 pixels.

Source: the guide "Images and vision" at developers.openai.com, tile-based image tokenization. That sides are rounded to whole
pixels, and that small pictures are not enlarged, is read off published bills:
community.openai.com/t/1281361 and /t/1262691.
"""

from typing import ClassVar

from forebay.intake.tokens.family import MediaCost, Positive
from forebay.intake.tokens.openai_detail import OpenAIPictures, shrunk

# Not published: as many as the patches of 32 pixels, by which the sibling models count, that cover a tile.
TILE_PATCHES = (512 // 32) ** 2


class OpenAITiles(OpenAIPictures, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`base_tokens`, and `tile_tokens` for each tile of a picture shrunk into 2,048 pixels, its shorter side into 768.

    A picture of `low` `detail` costs the base alone. `auto` leaves it to the model: it is priced as `high`, and not exact.
    """

    name: ClassVar[str] = "gpt-4o"
    base_tokens: Positive = 85
    tile_tokens: Positive = 170
    tile_size: Positive = 512
    max_shorter_side: Positive = 768

    def picture(self, width: int, height: int) -> MediaCost:
        """See ImageRules."""
        if self.detail == "low":
            return MediaCost(self.base_tokens, 0, TILE_PATCHES)
        width, height = shrunk(width, height, self.max_side / max(width, height))
        width, height = shrunk(width, height, self.max_shorter_side / min(width, height))
        tiles = -(-width // self.tile_size) * -(-height // self.tile_size)
        tokens = self.base_tokens + self.tile_tokens * tiles
        return MediaCost(tokens, 0, TILE_PATCHES * (1 + tiles), exact=self.detail != "auto")


class GPT4oMini(OpenAITiles, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """GPT-4o mini, whose tokens are cheaper and more."""

    name: ClassVar[str] = "gpt-4o-mini"
    base_tokens: Positive = 2_833
    tile_tokens: Positive = 5_667


class OpenAIReasoning(OpenAITiles, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """o1, o1-pro and o3."""

    name: ClassVar[str] = "o3"
    base_tokens: Positive = 75
    tile_tokens: Positive = 150


class GPT5(OpenAITiles, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """GPT-5 and its chat variant; its mini and nano count patches."""

    name: ClassVar[str] = "gpt-5"
    base_tokens: Positive = 70
    tile_tokens: Positive = 140


class ComputerUse(OpenAITiles, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """computer-use-preview."""

    name: ClassVar[str] = "computer-use-preview"
    base_tokens: Positive = 65
    tile_tokens: Positive = 129
