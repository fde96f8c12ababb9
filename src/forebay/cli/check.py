"""`forebay check FILE`: say what a configuration means, or what is wrong with it and where."""

import argparse
import functools
from pathlib import Path

import msgspec

from forebay.config.addresses import shown_url
from forebay.config.assemble import Assembly, PoolAssembly, load
from forebay.config.families import BY_SETTING, PoolFamily
from forebay.config.listeners import WayIn
from forebay.intake.tokens.registry import FAMILIES
from forebay.telemetry.words import counted

# Longer values, such as a list of grids, are cut off.
MAX_VALUE_LENGTH = 60


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `check` to the command line."""
    parser = subparsers.add_parser(
        "check", help="validate a configuration and print its plan", description=__doc__
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="configuration file, in YAML")


def run(options: argparse.Namespace) -> int:
    """Print the plan. A fault is raised as ConfigError, and ends with status 2."""
    print(described(load(options.file)))
    return 0


def described(assembly: Assembly) -> str:
    """The plan in words. Never shows a secret."""
    file, keys = assembly.file, "asked for" if assembly.keys else "not asked for"
    lines = [
        f"listen {_way(assembly.public)}   admin {_way(assembly.admin)}   keys {keys}",
        f"bodies up to {file.inbound.max_body_bytes:,} bytes, {file.inbound.max_buffered_bytes:,} held at once",
    ]
    if file.workers > 1:
        lines.append(f"{file.workers} workers, each a process, and a supervisor")
    for pool in assembly.pools:
        lines += _pool(pool)
    pools, endpoints = counted(len(assembly.pools), "pool"), counted(len(assembly.endpoints()), "endpoint")
    lines.append(f"{pools}, {endpoints}: all is well")
    return "\n".join(lines)


def _way(way: WayIn) -> str:
    addresses = ", ".join(map(str, way.addresses))
    return f"{addresses} (TLS)" if way.context is not None else addresses


def _pool(pool: PoolAssembly) -> list[str]:
    plan, timeouts = pool.plan, pool.file.timeouts
    aliases = f" (also {', '.join(plan.aliases)})" if plan.aliases else ""
    total = f"{timeouts.total_seconds:g} s" if timeouts.total_seconds else "off"
    key = "sent" if pool.api_key else "none"
    authorization = "forwarded" if pool.file.forward_auth else "dropped"
    connect, first, idle = timeouts.connect_seconds, timeouts.first_content_seconds, timeouts.idle_seconds
    lines = [
        f"pool {plan.model}{aliases}",
        *_family(pool.family),
        f"  profile {plan.profile.name}   key {key}   client's Authorization {authorization}",
        f"  timeouts: connect {connect:g} s, first content {first:g} s, idle {idle:g} s, total {total}",
        f"  {counted(plan.retry.max_retries, 'retry', 'retries')} a request",
    ]
    for endpoint in plan.endpoints:
        engine = endpoint.engine or "engine found out"
        device = endpoint.device or "device unknown"
        budget = endpoint.encoder_budget_tokens
        encoder = f", encoder budget {budget:,} tokens" if budget else ""
        lines.append(f"    [{endpoint.slot}] {shown_url(endpoint.url)}   {engine}, {device}{encoder}")
    lines += [f"    further ones from {source}" for source in pool.sources()]
    if pool.file.tls.insecure:
        lines.append(
            "    <- certificates of engines are not looked at: anyone in between can read and change all"
        )
    return lines


def _family(family: PoolFamily) -> list[str]:
    """The token rules, what named them, and each parameter that differs from the published checkpoints'."""
    if not family.found_by:
        return ["  family generic  <- not recognised: media are priced approximately; set `family`"]
    doubt = f"  <- the model's files say {family.doubt}: set `family`" if family.doubt else ""
    lines = [f"  family {family.name}, named by {family.found_by}{doubt}"]
    usual = FAMILIES[family.name]()
    stated = {parameter: (each.value, each.file) for parameter, each in family.stated.items()}
    given = {parameter: (value, BY_SETTING) for parameter, value in family.given.items()}
    for parameter, (value, source) in {**stated, **given}.items():
        default = msgspec.to_builtins(functools.reduce(getattr, parameter.split("."), usual))
        if value != default:
            lines.append(f"    {parameter} {_short(value)} by {source}, in place of {_short(default)}")
    return lines


def _short(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}..."
