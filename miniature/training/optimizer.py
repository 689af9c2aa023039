"""Muon: orthogonalised momentum for matrices and convolutions; everything else is left to AdamW."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch

#: Coefficients of the quintic iteration that brings singular values to about 1, step by step.
_QUINTIC = (3.4445, -4.7750, 2.0315)


def orthogonalised(stack: torch.Tensor, steps: int) -> torch.Tensor:
    """Every matrix of a stack with its singular values brought to about 1, by Newton-Schulz in bfloat16."""
    a, b, c = _QUINTIC
    x = stack.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.mT if tall else x).to(stack.dtype)


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov momentum. A convolution's weight counts as a matrix of its outputs by everything else.

    The update is scaled so that learning rates mean the same as AdamW's. Matrices of one shape go through the
    iteration together, which is what makes it affordable for many small ones.
    """

    def __init__(
        self, params: Iterable[torch.nn.Parameter], lr: float, *, momentum: float = 0.95, steps: int = 5
    ) -> None:
        super().__init__(list(params), {"lr": lr, "momentum": momentum, "steps": steps})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Takes one step with the gradients there are."""
        for group in self.param_groups:
            shapes: dict[tuple[int, int], list[torch.nn.Parameter]] = defaultdict(list)
            for param in group["params"]:
                if param.grad is not None:
                    shapes[(param.shape[0], param[0].numel())].append(param)
            for (rows, columns), params in shapes.items():
                self._step_together(params, rows, columns, group)

    def _step_together(self, params: list[torch.nn.Parameter], rows: int, columns: int, group: dict[str, Any]) -> None:
        momentum = group["momentum"]
        moved: list[torch.Tensor] = []
        for param in params:
            assert param.grad is not None
            state = self.state[param]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(param)
            state["momentum"].lerp_(param.grad, 1 - momentum)
            moved.append(param.grad.lerp(state["momentum"], momentum).reshape(rows, columns))
        scale = 0.2 * max(rows, columns) ** 0.5
        for param, update in zip(params, orthogonalised(torch.stack(moved), group["steps"]), strict=True):
            param.add_(update.reshape(param.shape), alpha=-group["lr"] * scale)


class Both:
    """Muon for the inner weights and AdamW for the rest, stepped as one, with one learning rate."""

    def __init__(self, inner: list[torch.nn.Parameter], rest: list[torch.nn.Parameter], *, steps: int = 5) -> None:
        self.params = [*inner, *rest]
        self._optimizers: list[torch.optim.Optimizer] = [
            Muon(inner, lr=0.0, steps=steps),
            torch.optim.AdamW(rest, lr=0.0, betas=(0.9, 0.98), weight_decay=0.0),
        ]

    def step(self, lr: float, *, clip: float = 1.0) -> None:
        """Clips the gradients, takes a step and forgets them."""
        torch.nn.utils.clip_grad_norm_(self.params, clip)
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = lr
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    def state_dict(self) -> Any:
        return [optimizer.state_dict() for optimizer in self._optimizers]

    def load_state_dict(self, state: Any) -> None:
        for optimizer, one in zip(self._optimizers, state, strict=True):
            optimizer.load_state_dict(one)
