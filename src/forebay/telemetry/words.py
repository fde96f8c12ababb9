"""Numbers with their nouns, for people."""


def counted(count: int, one: str, many: str = "") -> str:
    """`count` and its noun: `one` for 1, else `many`, which is `one` with an s when left out."""
    return f"{count} {one if count == 1 else many or one + 's'}"
