"""Secrets: read once at the start, never shown."""

import hashlib
import hmac
import os
from pathlib import Path

from forebay.config.errors import ConfigError

# 64 bits: a million keys collide with a chance of 3e-8, n^2 / 2^65.
TENANT_SIGNS = 16


class Secret:
    """A text that no log, error, trace or JSON will show."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        """Wrap `text`."""
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the wire."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"


def read_secret(place: str, env: str, file: str) -> Secret | None:
    """The secret named by an environment variable or a file, None when neither is named. Raises ConfigError."""
    if env and file:
        raise ConfigError(place, f"a key is given twice, by variable {env} and by file {file}", "keep one")
    text = _from_env(place, env) if env else _from_file(place, file) if file else ""
    if (env or file) and not text:
        raise ConfigError(place, f"the key in {env or file} is empty")
    if any(ord(c) < 0x21 or ord(c) > 0x7E for c in text):
        raise ConfigError(
            place, f"the key in {env or file} holds a blank or a sign that no HTTP header can carry"
        )
    return Secret(text) if text else None


def _from_env(place: str, env: str) -> str:
    if env not in os.environ:
        raise ConfigError(place, f"environment variable {env} is not set", f"export {env}=...")
    return os.environ[env].strip()


def _from_file(place: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise ConfigError(place, f"cannot read {file}", type(error).__name__) from None


class KeyRing:
    """The keys that clients of the gateway must show. Empty: none is asked for.

    Only digests are kept, and they are compared in constant time.
    """

    def __init__(self, keys: list[str]) -> None:
        """`keys` in clear; they are forgotten here."""
        self._digests = [hashlib.sha256(key.encode()).digest() for key in keys]

    def __bool__(self) -> bool:
        return bool(self._digests)

    def id_key(self) -> bytes:
        """A secret that all gateways with these keys share; empty without any."""
        if not self._digests:
            return b""
        return hashlib.blake2b(b"".join(sorted(self._digests)), person=b"response ids").digest()

    def admits(self, authorization: bytes | None, api_key: bytes | None) -> bool:
        """Whether `Authorization: Bearer KEY` or `x-api-key: KEY` (Anthropic's way) carries a known key."""
        return bool(self.tenant_of(authorization, api_key))

    def tenant_of(self, authorization: bytes | None, api_key: bytes | None) -> str:
        """A name for the known key that is shown, the same in every gateway; empty when none is.

        It is the beginning of the key's digest, from which the key cannot be had back.
        """
        shown = api_key
        if authorization is not None and authorization[:7].lower() == b"bearer ":
            shown = authorization[7:].strip()
        if shown is None:
            return ""
        digest = hashlib.sha256(shown).digest()
        found = [
            hmac.compare_digest(digest, known) for known in self._digests
        ]  # all, whatever the first says
        return digest.hex()[:TENANT_SIGNS] if any(found) else ""


def read_key_ring(place: str, env: str, file: str) -> KeyRing:
    """Keys separated by white space in an environment variable or a file. Raises ConfigError."""
    if not env and not file:
        return KeyRing([])
    if env and file:
        raise ConfigError(place, "keys_env and keys_file are both given", "keep one")
    text = _from_env(place, env) if env else _from_file(place, file)
    if not text.split():
        raise ConfigError(
            place, f"{env or file} holds no key", "list one key a line, or leave the setting out"
        )
    return KeyRing(text.split())
