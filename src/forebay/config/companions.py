"""Files that a configuration names, such as the served model's own, read once."""

from collections.abc import Mapping
from pathlib import Path

from forebay.config.errors import ConfigError

# A model's processor configuration with its chat template inside is some 20 kB.
MAX_BYTES = 4 * 1024 * 1024
_NO_FILE = (FileNotFoundError, IsADirectoryError, NotADirectoryError)


class Companions:
    """Texts of files by their paths, relative to the configuration's `folder`.

    Each is read once, so that a plan that is put together again, for new endpoints or in another process, is made of the
    same texts. None stands for a file that is not there. A configuration that is read anew begins with no `texts`.
    """

    def __init__(self, folder: Path = Path(), texts: Mapping[str, str | None] | None = None) -> None:
        """Paths are relative to `folder`; `texts` have been read before."""
        self._folder = folder
        self._texts = dict(texts or {})

    @property
    def texts(self) -> dict[str, str | None]:
        """All that was asked for, as plain values."""
        return dict(self._texts)

    def text(self, place: str, path: str) -> str | None:
        """The file's text, None where there is no such file. Raises ConfigError, at `place`, for one that cannot be read."""
        if path not in self._texts:
            self._texts[path] = self._read(place, path)
        return self._texts[path]

    def _read(self, place: str, path: str) -> str | None:
        file = self._folder / path
        try:
            if file.stat().st_size > MAX_BYTES and file.is_file():
                raise ConfigError(
                    place, f"{path} has more than {MAX_BYTES:,} bytes", "name the model's folder"
                )
            return file.read_text(encoding="utf-8")
        except _NO_FILE:
            return None
        except (OSError, UnicodeError) as error:
            raise ConfigError(place, f"{path} cannot be read", f"{type(error).__name__}: {error}") from None
