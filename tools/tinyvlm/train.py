"""Train in three stages: the vision tower on per-patch truth, everything on questions, a finish with barred pictures.

    PYTHONPATH=tools python -m tinyvlm.train --out build/tinyvlm --vision-steps 1800 --joint-steps 6600

Schedules count steps, data comes from (seed, step), and a checkpoint holds the optimiser: a run that was stopped and
started again from its checkpoint ends at the same weights. While the learning rate is still constant, a run may also be
resumed with another `--joint-steps`: that equals a run started with that number.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812  (the name that the library's own documents use)
from torch import Tensor, nn

from tinyvlm import architecture, batches, courses, forward, optimise
from tinyvlm.drawing import LABEL_SIZES
from tinyvlm.vocabulary import IMAGE_PAD

VISION_BATCH = 48
LABEL_WEIGHT = 0.3
EMPTY_PATCH_WEIGHT = 0.25
WARMUP = 60
VISION_DECAY_FROM = 0.55


@dataclass(frozen=True)
class Recipe:
    """All that a run depends on."""

    seed: int
    vision_steps: int
    joint_steps: int
    vision_rate: float
    joint_rate: float
    decay_from: float
    hard_from: int
    finish_steps: int
    finish_rate: float

    @property
    def total(self) -> int:
        """Steps of all three stages."""
        return self.vision_steps + self.joint_steps + self.finish_steps


@dataclass
class Tally:
    """Sums for the log: losses, and answers that were right in every token."""

    sums: dict[str, list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0, 0.0]))

    def add(self, name: str, value: float, weight: float = 1.0) -> None:
        """Count `value` out of `weight`."""
        self.sums[name][0] += value
        self.sums[name][1] += weight

    def flush(self) -> str:
        """The means since the last flush, in words."""
        text = " ".join(
            f"{name} {total / max(count, 1e-9):.3f}" for name, (total, count) in sorted(self.sums.items())
        )
        self.sums.clear()
        return text


class Trainer:
    """The networks, their optimisers and the step that comes next."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.model = architecture.new_model(recipe.seed)
        self.labels = architecture.new_label_heads()
        self.visual, self.language = self.model.model.visual, self.model.model.language_model
        self.step, self.tally = 0, Tally()
        patches, _, _ = batches.crowded_batch(batches.step_rng(recipe.seed, 0, "whiten"), 256)
        architecture.whiten_patches(self.visual, patches.reshape(-1, patches.shape[-1]))
        self.opts = self._optimisers()

    @property
    def joint(self) -> bool:
        """Whether the second stage has begun."""
        return self.step >= self.recipe.vision_steps

    @property
    def finishing(self) -> bool:
        """Whether the third stage has begun."""
        return self.step >= self.recipe.vision_steps + self.recipe.joint_steps

    def advance(self) -> None:
        """Do one step."""
        if self.step == self.recipe.vision_steps:
            self.opts = self._optimisers()
        rate = self._rate()
        for group in (g for o in self.opts for g in o.param_groups):
            group["lr"] = rate
        loss = self._joint_loss() if self.joint else self._vision_loss()
        loss.backward()
        nn.utils.clip_grad_norm_(self._parameters().values(), 1.0)
        for optimiser in self.opts:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.step += 1

    def save(self, path: Path) -> None:
        """Write a checkpoint that a resumed run continues from exactly."""
        state = {
            "model": self.model.state_dict(), "labels": self.labels.state_dict(), "step": self.step,
            "optimisers": [o.state_dict() for o in self.opts], "recipe": vars(self.recipe),
        }  # fmt: skip
        torch.save(state, path.with_suffix(".part"))
        path.with_suffix(".part").replace(path)

    def load(self, path: Path) -> None:
        """Continue from a checkpoint."""
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.labels.load_state_dict(state["labels"])
        self.step = state["step"]
        # At the border the checkpoint holds the first stage's optimisers, and the second stage starts with new ones.
        if self.step != self.recipe.vision_steps:
            self.opts = self._optimisers()
            for optimiser, saved in zip(self.opts, state["optimisers"], strict=True):
                optimiser.load_state_dict(saved)

    def _parameters(self) -> dict[str, nn.Parameter]:
        heads = {f"label.{n}": p for n, p in self.labels.named_parameters()}
        if self.joint:
            return {**dict(self.model.named_parameters()), **heads}
        tower = {n: p for n, p in self.visual.named_parameters() if "merger" not in n}
        return {**tower, **heads}

    def _optimisers(self) -> list[torch.optim.Optimizer]:
        return optimise.optimisers(self._parameters(), self.recipe.joint_rate)

    def _course(self) -> courses.Course:
        if self.finishing:
            return courses.BARRED
        hard = self.step - self.recipe.vision_steps >= self.recipe.hard_from
        return courses.HARD if hard else courses.EVEN

    def _rate(self) -> float:
        recipe, joint = self.recipe, self.joint
        if self.finishing:
            at = self.step - recipe.vision_steps - recipe.joint_steps
            return recipe.finish_rate * min(1.0, (at + 1) / WARMUP) * max(1 - at / recipe.finish_steps, 0.02)
        at = self.step - recipe.vision_steps if joint else self.step
        total = recipe.joint_steps if joint else recipe.vision_steps
        top = recipe.joint_rate if joint else recipe.vision_rate
        decay_from = recipe.decay_from if joint else VISION_DECAY_FROM
        left = (1 - at / total) / (1 - decay_from)
        return top * min(1.0, (at + 1) / WARMUP) * max(min(1.0, left), 0.02)

    def _vision_loss(self) -> Tensor:
        rng = batches.step_rng(self.recipe.seed, self.step, "vision")
        patches, labels, grid = batches.crowded_batch(rng, VISION_BATCH)
        states, _ = forward.see(self.visual, patches, *grid)
        return self._label_loss(states, labels)

    def _joint_loss(self) -> Tensor:
        rng = batches.step_rng(self.recipe.seed, self.step, "joint")
        batch = batches.draw_batch(rng, course=self._course())
        embedded = self.language.embed_tokens(batch.ids)
        label_loss = torch.zeros(())
        if batch.patches is not None and batch.labels is not None:
            states, tokens = forward.see(self.visual, batch.patches, *batch.grid)
            if not self.finishing:
                label_loss = self._label_loss(states, batch.labels)
            pictures = (batch.ids == IMAGE_PAD)[..., None]
            embedded = embedded.masked_scatter(pictures, tokens.reshape(-1, tokens.shape[-1]))
        hidden = forward.read(self.language, embedded, batch.positions, batch.mask)
        wanted = batch.targets != batches.IGNORED
        logits = self.model.lm_head(hidden[wanted])
        loss = F.cross_entropy(logits, batch.targets[wanted])
        self.tally.add("~loss", float(loss.detach()))
        self._count_right(batch, wanted, logits.detach().argmax(-1) == batch.targets[wanted])
        return loss + LABEL_WEIGHT * label_loss

    def _label_loss(self, states: Tensor, labels: Tensor) -> Tensor:
        loss = torch.zeros(())
        for index, scores in enumerate(self.labels(states).split(LABEL_SIZES, -1)):
            weight = torch.ones(LABEL_SIZES[index])
            weight[0] = EMPTY_PATCH_WEIGHT
            loss = loss + F.cross_entropy(scores.flatten(0, 1), labels[..., index].flatten(), weight=weight)
            there = labels[..., index] > 0
            right = (scores.detach().argmax(-1) == labels[..., index])[there]
            self.tally.add(
                f"~{('colour', 'kind', 'centre', 'place')[index]}", float(right.sum()), float(there.sum())
            )
        return loss

    def _count_right(self, batch: batches.Batch, wanted: Tensor, right: Tensor) -> None:
        wrong = torch.zeros_like(batch.targets, dtype=torch.bool)
        wrong[wanted] = ~right
        # A target sits one token before its own, so the last prefix token never holds one.
        for row, kinds in enumerate(batch.kinds):
            missed = set(batch.segment[row][wrong[row]].tolist())
            for number, kind in enumerate(kinds, 1):
                self.tally.add(kind, number not in missed)


def run(recipe: Recipe, out: Path, save_every: int, say: Callable[[str], None]) -> Path:
    """Train to the end, from the newest checkpoint where there is one; the path of the last checkpoint."""
    out.mkdir(parents=True, exist_ok=True)
    trainer, path = Trainer(recipe), out / "checkpoint.pt"
    if path.exists():
        trainer.load(path)
        say(f"resumed at step {trainer.step}")
    total, begun = recipe.total, time.monotonic()
    while trainer.step < total:
        trainer.advance()
        if trainer.step % 100 == 0:
            say(f"step {trainer.step}/{total} {time.monotonic() - begun:.0f} s {trainer.tally.flush()}")
        if trainer.step % save_every == 0 or trainer.step in (recipe.vision_steps, total):
            trainer.save(path)
        if trainer.step == recipe.vision_steps:
            trainer.save(out / "vision.pt")
    return path


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vision-steps", type=int, default=1800)
    parser.add_argument("--joint-steps", type=int, default=6600)
    parser.add_argument("--vision-rate", type=float, default=3e-3)
    parser.add_argument("--joint-rate", type=float, default=2.5e-3)
    parser.add_argument(
        "--decay-from", type=float, default=0.58, help="share of the joint stage after which the rate falls"
    )
    parser.add_argument("--hard-from", type=int, default=3000, help="joint step from which scenes are harder")
    parser.add_argument("--finish-steps", type=int, default=550, help="last steps, with barred pictures")
    parser.add_argument("--finish-rate", type=float, default=1e-3)
    parser.add_argument("--save-every", type=int, default=200, help="steps between checkpoints")
    parser.add_argument("--threads", type=int, default=int(os.environ.get("OMP_NUM_THREADS", "1")))
    options = vars(parser.parse_args())
    torch.set_num_threads(options.pop("threads"))
    out, save_every = options.pop("out"), options.pop("save_every")
    run(Recipe(**options), out, save_every, lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
