"""A modelled engine as a process of its own: `python -m forebay.testing.modelled --port 18001 --speed 0.333`."""

import argparse
import asyncio
import contextlib

import msgspec

from forebay.simulator.engine.engine import EngineSettings
from forebay.simulator.engine.shape import MODELS, QWEN3_VL_8B
from forebay.testing.modelled.server import ModelledEngine


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(prog="forebay.testing.modelled", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="TCP port on 127.0.0.1")
    parser.add_argument("--model", default="m", help="the name that it serves")
    parser.add_argument(
        "--device", default="a100-sxm", help="a device of the simulator, or the path of a file of one"
    )
    parser.add_argument("--shape", default=QWEN3_VL_8B.name, choices=sorted(MODELS), help="the model's sizes")
    parser.add_argument(
        "--slower", type=float, default=1.0, help="how many times as long as the device its steps take"
    )
    parser.add_argument(
        "--family",
        default='{"name": "qwen3-vl"}',
        help="the token rules of its media, as JSON with `name` and parameters",
    )
    parser.add_argument("--speed", type=float, default=1.0, help="divides every modelled time")
    parser.add_argument("--chunk-tokens", type=int, default=1, help="tokens of one piece of a stream")
    parser.add_argument("--settings", default="{}", help="EngineSettings as JSON")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(options))


async def _serve(options: argparse.Namespace) -> None:
    async with ModelledEngine(
        options.model,
        device=options.device,
        shape=MODELS[options.shape],
        slower=options.slower,
        family=msgspec.json.decode(options.family),
        settings=msgspec.json.decode(options.settings, type=EngineSettings),
        speed=options.speed,
        chunk_tokens=options.chunk_tokens,
        port=options.port,
    ):
        await asyncio.Event().wait()


if __name__ == "__main__":
    main()
