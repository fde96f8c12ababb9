"""From the file's shape to what each room is given."""

import hashlib
import ssl
from pathlib import Path
from typing import Any

import msgspec

from forebay.conductor.plan import Plan, PoolPlan
from forebay.config.addresses import check_media_host
from forebay.config.companions import Companions
from forebay.config.discover import Discover
from forebay.config.document import Document
from forebay.config.endpoints import Endpoints, Found
from forebay.config.errors import ConfigError
from forebay.config.families import PoolFamily, pool_family
from forebay.config.listeners import WayIn, ways_in
from forebay.config.schema import File, PoolFile
from forebay.config.secret import KeyRing, Secret, read_key_ring, read_secret
from forebay.config.shapes import convert, named
from forebay.config.slots import MAX_SLOTS, Lease, SlotBook
from forebay.config.tls import EngineTls, engine_context
from forebay.domain.endpoint import Endpoint
from forebay.intake.settings import IntakeSettings, MediaUrlSettings
from forebay.placement.catalogue import PROFILES
from forebay.placement.profile import Profile

NO_SLOTS = SlotBook()


class PoolAssembly(msgspec.Struct, frozen=True):
    """A pool as each room wants it: the conductor's plan of it, and what the wire must know."""

    plan: PoolPlan
    file: PoolFile
    family: PoolFamily
    api_key: Secret | None
    tls: ssl.SSLContext | None  # what its engines are talked to with, where their addresses are https

    def sources(self) -> tuple[Discover, ...]:
        """Where further endpoints of it are found out from."""
        return tuple(entry.discover for entry in self.file.endpoints if entry.discover is not None)


class Recipe(msgspec.Struct, frozen=True):
    """Plain values, from which another process on this host puts the very same assembly together."""

    data: Any
    name: str
    leases: tuple[Lease, ...]
    found: Found
    version: int
    beside: dict[str, str | None] = {}


class Assembly(msgspec.Struct, frozen=True):
    """Everything that a gateway is started with, and the recipe that it was made by."""

    plan: Plan
    pools: tuple[PoolAssembly, ...]
    file: File
    keys: KeyRing
    intake: IntakeSettings
    slots: SlotBook
    recipe: Recipe
    public: WayIn
    admin: WayIn
    by_slot: dict[int, PoolAssembly]
    id_key: bytes = b""

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Every endpoint of every pool, in the order of the file."""
        return tuple(endpoint for pool in self.plan.pools for endpoint in pool.endpoints)

    def sources(self) -> tuple[Discover, ...]:
        """Where further endpoints are found out from."""
        return tuple(source for pool in self.pools for source in pool.sources())

    def tls_of(self, endpoint: Endpoint) -> ssl.SSLContext | None:
        """What the endpoint is talked to with, None where that is plain HTTP."""
        pool = self.by_slot.get(endpoint.slot)
        return pool.tls if pool is not None and endpoint.url.startswith("https:") else None

    def certificate_files(self) -> tuple[str, ...]:
        """Files that the listeners' certificates were read from."""
        ways = (self.public.tls, self.admin.tls)
        return tuple(path for way in ways for path in (way.cert_file, way.key_file) if path)

    def secret_files(self) -> tuple[str, ...]:
        """Files that keys and certificates were read from."""
        named = [self.file.keys_file, self.file.id_key_file, *self.certificate_files()]
        named += [path for pool in self.pools for path in (pool.file.api_key_file, pool.file.tls.ca_file)]
        return tuple(path for path in named if path)

    def api_key_of(self, endpoint: Endpoint) -> str | None:
        """The key that this endpoint's pool wants, in clear."""
        pool = self.by_slot.get(endpoint.slot)
        return None if pool is None or pool.api_key is None else pool.api_key.reveal()


def load(path: Path) -> Assembly:
    """Read a configuration file. Raises ConfigError naming the place and the cure."""
    return assemble(Document.read(path))


def assemble(document: Document, slots: SlotBook = NO_SLOTS, version: int = 1, found: Found = ()) -> Assembly:
    """Validate `document` and put the plan together. Raises ConfigError.

    `slots` are those in use: their endpoints keep them, and the book itself stays as it is. The assembly has the new one.
    `found` is what the document's sources of endpoints have given.
    """
    file = convert(document.data, File, document, "$")
    _check_names(document, file)
    slots = slots.copy()
    endpoints = Endpoints(document, slots, found)
    pools = []
    for index, pool in enumerate(file.pools):
        path = f"$.pools[{index}]"
        declared = endpoints.declared(f"{path}.endpoints", pool.model, pool.endpoints)
        pools.append(_pool(document, path, pool, declared))
    keys = read_key_ring(document.place("$.keys_env"), file.keys_env, file.keys_file)
    plan = Plan(version, tuple(pool.plan for pool in pools))
    by_slot = {endpoint.slot: pool for pool in pools for endpoint in pool.plan.endpoints}
    if file.workers > 1 and max(by_slot, default=0) >= MAX_SLOTS:
        wrong = f"several workers share {MAX_SLOTS} endpoints at most, those that still drain among them"
        raise ConfigError(document.place("$.workers"), wrong, "name fewer endpoints, or set `workers: 1`")
    recipe = Recipe(document.data, document.name, slots.leases, found, version, document.beside.texts)
    return Assembly(
        plan,
        tuple(pools),
        file,
        keys,
        _intake(document, file),
        slots,
        recipe,
        *ways_in(document, file),
        by_slot,
        _id_key(document, file, keys),
    )


def follow(recipe: Recipe) -> Assembly:
    """The assembly that `recipe` came with. Raises ConfigError: the files that it names may have changed since."""
    return assemble(document_of(recipe), SlotBook(recipe.leases), recipe.version, recipe.found)


def document_of(recipe: Recipe) -> Document:
    """The document that an assembly was made from, without the places of its values."""
    return Document.of(recipe.data, recipe.name, Companions(texts=recipe.beside))


def _id_key(document: Document, file: File, keys: KeyRing) -> bytes:
    secret = read_secret(document.place("$.id_key_env"), file.id_key_env, file.id_key_file)
    return hashlib.blake2b(secret.reveal().encode()).digest() if secret is not None else keys.id_key()


def _intake(document: Document, file: File) -> IntakeSettings:
    if file.intake.media_urls != MediaUrlSettings():
        place = document.place("$.intake.media_urls")
        raise ConfigError(
            place, "`media_urls` belongs at the top level of the file", "move it out of `intake`"
        )
    for index, entry in enumerate(file.media_urls.allow):
        check_media_host(document.place(f"$.media_urls.allow[{index}]"), entry)
    return msgspec.structs.replace(file.intake, media_urls=file.media_urls)


def _pool(document: Document, path: str, file: PoolFile, endpoints: tuple[Endpoint, ...]) -> PoolAssembly:
    plan = PoolPlan(
        model=file.model,
        aliases=file.aliases,
        adapters=file.adapters,
        endpoints=endpoints,
        profile=_profile(document, f"{path}.profile", file.profile),
        retry=file.retry,
        breaker=file.breaker,
        queue=file.queue,
        residency=file.residency,
        slow_start_seconds=file.slow_start_seconds,
        expected_output_tokens=file.expected_output_tokens,
    )
    key = read_secret(document.place(path), file.api_key_env, file.api_key_file)
    tls = None
    if file.tls != EngineTls() or any(endpoint.url.startswith("https:") for endpoint in endpoints):
        tls = engine_context(document.place(f"{path}.tls"), file.tls)
    return PoolAssembly(plan, file, pool_family(document, path, file), key, tls)


def _check_names(document: Document, file: File) -> None:
    seen: dict[str, str] = {}
    for index, pool in enumerate(file.pools):
        named = [(pool.model, f"$.pools[{index}].model")]
        named += [(alias, f"$.pools[{index}].aliases[{i}]") for i, alias in enumerate(pool.aliases)]
        named += [(adapter, f"$.pools[{index}].adapters[{i}]") for i, adapter in enumerate(pool.adapters)]
        for name, path in named:
            if name in seen:
                raise ConfigError(
                    document.place(path), f"`{name}` already names {seen[name]}", "each name once"
                )
            seen[name] = path.removeprefix("$.")


def _profile(document: Document, path: str, given: str | dict[str, Any]) -> Profile:
    name, settings = named(document, path, given, PROFILES)
    recipe = PROFILES[name]
    try:
        return recipe.build(convert(settings, recipe.settings, document, path))
    except ValueError as error:
        raise ConfigError(document.place(path), str(error)) from None
