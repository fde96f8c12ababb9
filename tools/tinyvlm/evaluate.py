"""Measure accuracy on held-out questions, kind by kind, and whether two engines agree.

Three uses:

PYTHONPATH=tools python -m tinyvlm.evaluate llama --model M.gguf --projector P.gguf --answers llama.json
PYTHONPATH=tools python -m tinyvlm.evaluate transformers --folder HF --answers hf.json
PYTHONPATH=tools python -m tinyvlm.evaluate agree llama.json hf.json
"""

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path

from tinyvlm import engines, heldout

SEED = 20261202


def measure(ask: engines.Ask, chosen: list[heldout.Item]) -> list[dict[str, str]]:
    """Ask every item; a record each of kind, question, truth and what the engine said."""
    return [
        {"kind": i.kind, "question": i.question, "truth": i.answer, "said": ask(i), "size": _size(i)}
        for i in chosen
    ]


def accuracy(records: list[dict[str, str]], by: str = "kind") -> dict[str, tuple[int, int]]:
    """Right answers and questions asked, for each value of the field `by`."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for record in records:
        counts[record[by]][0] += record["said"] == record["truth"]
        counts[record[by]][1] += 1
    return {name: (right, asked) for name, (right, asked) in counts.items()}


def table(records: list[dict[str, str]]) -> str:
    """The accuracy table, in Markdown, with the commonest errors."""
    lines = ["| Kind | Right | Asked | Share | Commonest errors (truth: said) |", "|---|---|---|---|---|"]
    for kind, (right, asked) in accuracy(records).items():
        wrong = Counter(
            (r["truth"], r["said"]) for r in records if r["kind"] == kind and r["said"] != r["truth"]
        )
        errors = "; ".join(f"{truth}: {said}" for (truth, said), _ in wrong.most_common(3))
        lines.append(f"| {kind} | {right} | {asked} | {right / asked:.1%} | {errors} |")
    return "\n".join(lines)


def agreement(one: list[dict[str, str]], other: list[dict[str, str]]) -> dict[str, tuple[int, int]]:
    """How often two engines said the same, for each kind; both must have been asked the same items."""
    if [r["question"] for r in one] != [r["question"] for r in other]:
        raise ValueError("the two files answer different questions: use the same --seed and --per-kind")
    return accuracy([a | {"truth": b["said"]} for a, b in zip(one, other, strict=True)])


def _size(item: heldout.Item) -> str:
    return "x".join(str(n) for n in item.pictures[0].shape[:2]) if item.pictures else "none"


def _ask_engine(options: argparse.Namespace) -> None:
    kinds = tuple(options.kinds.split(",")) if options.kinds else tuple(heldout.SCENES_OF)
    chosen = list(heldout.items(options.per_kind, options.seed, kinds))
    if options.scale != 1:
        chosen = [heldout.resized(item, options.scale) for item in chosen]
    if options.engine == "llama":
        alive = engines.start_llama(options.model, options.projector, options.port)
        records = measure(
            engines.http_asker(f"http://127.0.0.1:{options.port}", system=options.system), chosen
        )
        del alive
    elif options.engine == "http":
        records = measure(engines.http_asker(options.url, options.name, options.system), chosen)
    else:
        records = measure(engines.transformers_asker(options.folder, options.system), chosen)
    print(table(records))
    if options.answers:
        options.answers.write_text(json.dumps(records, indent=0))


def _compare(options: argparse.Namespace) -> None:
    shares = agreement(*(json.loads(path.read_text()) for path in (options.one, options.other)))
    for kind, (same, asked) in shares.items():
        print(f"{kind}: {same} of {asked}")
    print(f"all: {sum(s for s, _ in shares.values())} of {sum(a for _, a in shares.values())}")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for engine in ("llama", "http", "transformers"):
        command = commands.add_parser(engine)
        command.set_defaults(engine=engine, do=_ask_engine)
        command.add_argument("--per-kind", type=int, default=500)
        command.add_argument("--seed", type=int, default=SEED)
        command.add_argument("--scale", type=float, default=1, help="ask of pictures resized by this factor")
        command.add_argument("--kinds", default="", help="comma-separated; all where not given")
        command.add_argument("--system", default="", help="a system prompt for every question")
        command.add_argument("--answers", type=Path, help="where to write every answer, as JSON")
        if engine == "llama":
            command.add_argument("--model", type=Path, required=True)
            command.add_argument("--projector", type=Path, required=True)
            command.add_argument("--port", type=int, default=18431)
        elif engine == "http":
            command.add_argument("--url", required=True)
            command.add_argument("--name", default="tinyvlm", help="the model's name at the engine")
        else:
            command.add_argument("--folder", type=Path, required=True)
    command = commands.add_parser("agree")
    command.set_defaults(do=_compare)
    command.add_argument("one", type=Path)
    command.add_argument("other", type=Path)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
