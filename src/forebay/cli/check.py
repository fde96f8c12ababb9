"""`forebay check FILE`: say what a configuration means, or what is wrong with it and where."""

import argparse
from pathlib import Path

from forebay.config.assemble import Assembly, PoolAssembly, load
from forebay.telemetry.words import counted


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `check` to the command line."""
    parser = subparsers.add_parser(
        "check", help="validate a configuration and print its plan", description=__doc__
    )
    parser.add_argument("file", type=Path, metavar="FILE")


def run(options: argparse.Namespace) -> int:
    """Print the plan. A fault is raised as ConfigError, and ends with status 2."""
    print(described(load(options.file)))
    return 0


def described(assembly: Assembly) -> str:
    """The plan in words. Never shows a secret."""
    file = assembly.file
    lines = [
        f"listen {file.listen}   admin {file.admin}   keys {'asked for' if assembly.keys else 'not asked for'}",
        f"bodies up to {file.inbound.max_body_bytes:,} bytes, {file.inbound.max_buffered_bytes:,} held at once",
    ]
    for pool in assembly.pools:
        lines += _pool(pool)
    pools, endpoints = counted(len(assembly.pools), "pool"), counted(len(assembly.endpoints()), "endpoint")
    lines.append(f"{pools}, {endpoints}: all is well")
    return "\n".join(lines)


def _pool(pool: PoolAssembly) -> list[str]:
    plan, timeouts = pool.plan, pool.file.timeouts
    aliases = f" (also {', '.join(plan.aliases)})" if plan.aliases else ""
    note = "" if pool.family_found else "  <- not recognised: media are priced approximately; set `family`"
    total = f"{timeouts.total_seconds:g} s" if timeouts.total_seconds else "off"
    key = "sent" if pool.api_key else "none"
    authorization = "forwarded" if pool.file.forward_auth else "dropped"
    connect, first, idle = timeouts.connect_seconds, timeouts.first_content_seconds, timeouts.idle_seconds
    lines = [
        f"pool {plan.model}{aliases}",
        f"  family {pool.family_name}{note}",
        f"  profile {plan.profile.name}   key {key}   client's Authorization {authorization}",
        f"  timeouts: connect {connect:g} s, first content {first:g} s, idle {idle:g} s, total {total}",
        f"  {counted(plan.retry.max_retries, 'retry', 'retries')} a request",
    ]
    for endpoint in plan.endpoints:
        engine = endpoint.engine or "engine found out"
        device = endpoint.device or "device unknown"
        lines.append(f"    [{endpoint.slot}] {endpoint.url}   {engine}, {device}")
    return lines
