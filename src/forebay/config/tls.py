"""Files of certificates made into contexts, each fault with its place and its cure."""

import ssl

import msgspec

from forebay.config.errors import ConfigError
from forebay.config.ways_in import ListenerTls

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


class EngineTls(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the engines of a pool prove who they are, where their URLs begin with https."""

    # Certificates of the authorities that are trusted, PEM; the system's own when left out.
    ca_file: str = ""
    # Take any certificate. Whoever sits between can then read and change everything: for tests, and warned of.
    insecure: bool = False


def engine_context(place: str, settings: EngineTls) -> ssl.SSLContext:
    """What to talk to engines with. Raises ConfigError naming `place`."""
    if settings.insecure and settings.ca_file:
        raise ConfigError(
            place, "with `insecure` no certificate is looked at", "remove `ca_file` or `insecure`"
        )
    try:
        context = ssl.create_default_context(cafile=settings.ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            place, f"cannot use {settings.ca_file}: {error}", "it holds certificates as PEM"
        ) from None
    if settings.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def listener_context(place: str, settings: ListenerTls) -> ssl.SSLContext | None:
    """What a listener talks to its clients with, None without TLS. Raises ConfigError naming `place`."""
    settings.check(place)
    if not settings.on:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = VERSIONS[settings.min_version]
    context.set_alpn_protocols(["http/1.1"])
    # A renegotiation costs the server more than the client (RFC 5246 clients may ask for one at any time).
    context.options |= ssl.OP_NO_RENEGOTIATION
    load_pair(place, context, settings)
    if settings.client_ca_file:
        context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_verify_locations(settings.client_ca_file)
        except (OSError, ssl.SSLError) as error:
            problem = f"cannot use {settings.client_ca_file}: {error}"
            raise ConfigError(place, problem, "it holds certificates as PEM") from None
    return context


def load_pair(place: str, context: ssl.SSLContext, settings: ListenerTls) -> None:
    """Have `context` show this certificate from its next handshake on. Raises ConfigError naming `place`."""
    try:
        context.load_cert_chain(settings.cert_file, settings.key_file, password=_no_password)
    except (OSError, ssl.SSLError, ValueError) as error:
        pair = f"{settings.cert_file} and {settings.key_file}"
        cure = "both are PEM, the key without a password and of that certificate"
        raise ConfigError(place, f"cannot use {pair}: {error}", cure) from None


def _no_password() -> str:
    # Without this, OpenSSL would ask at the terminal, and hang.
    raise ValueError("the key wants a password")
