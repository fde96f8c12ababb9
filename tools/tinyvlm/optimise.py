"""The optimiser: Muon in float32 for matrices, AdamW for the rest, one learning rate for both."""

from collections.abc import Iterable

import torch
from torch import nn

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)


class Muon(torch.optim.Optimizer):
    """Momentum made orthogonal by Newton-Schulz steps, scaled to the step size of AdamW.

    In float32: `torch.optim.Muon` works in bfloat16, which is several times slower on a CPU.
    """

    def __init__(
        self, params: Iterable[nn.Parameter], lr: float, decay: float = 0.02, momentum: float = 0.95
    ) -> None:
        super().__init__(list(params), {"lr": lr, "decay": decay, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        """Update every matrix that has a gradient."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                average = self.state[p].setdefault("average", torch.zeros_like(p))
                average.lerp_(p.grad, 1 - group["momentum"])
                step = orthogonal(p.grad.lerp(average, group["momentum"]))
                p.mul_(1 - group["lr"] * group["decay"])
                p.add_(step, alpha=-group["lr"] * 0.2 * max(p.shape) ** 0.5)


def orthogonal(matrix: torch.Tensor, rounds: int = 5) -> torch.Tensor:
    """The nearest orthogonal matrix, roughly: all singular values near 1."""
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix
    x = x / (x.norm() + 1e-7)
    a, b, c = NEWTON_SCHULZ
    for _ in range(rounds):
        square = x @ x.T
        x = a * x + (b * square + c * (square @ square)) @ x
    return x.T if tall else x


def optimisers(named: dict[str, nn.Parameter], lr: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside, AdamW for embeddings, heads, norms and biases."""
    outer = ("embed", "lm_head", "merger.mlp.0", "label")
    inner = [p for n, p in named.items() if p.ndim == 2 and not any(word in n for word in outer)]
    chosen = {id(p) for p in inner}
    rest = [p for p in named.values() if id(p) not in chosen]
    return [Muon(inner, lr), torch.optim.AdamW(rest, lr=lr, betas=(0.9, 0.98), weight_decay=0.0)]
