"""How a bad configuration is reported."""


class ConfigError(Exception):
    """A fault in the configuration. Its text names the place, what is wrong there, and the cure."""

    def __init__(self, place: str, problem: str, cure: str = "") -> None:
        """`place` is `file:line:column: path`; `cure` is what to write instead, or empty."""
        self.place, self.problem, self.cure = place, problem, cure
        super().__init__(f"{place}: {problem}" + (f": {cure}" if cure else ""))
