"""Loop: a training loop with a budget, that checkpoints itself, resumes after a kill, and shows how far it is."""

from __future__ import annotations

import json
import logging
import math
import os
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Budget:
    """How long to train: seconds of the wall clock (pauses between two runs do not count), or steps. One of the two."""

    seconds: float = math.inf
    steps: float = math.inf

    def fraction(self, step: int, seconds: float) -> float:
        """How much of it is used up, 0 to 1."""
        return min(1.0, max(step / self.steps, seconds / self.seconds))


class Stateful(Protocol):
    """What a checkpoint can hold."""

    def state_dict(self) -> Any: ...
    def load_state_dict(self, state: Any, /) -> Any: ...


class Chance:
    """The sources of chance of a run: one of Python's and one of torch's, both seeded and saved with the checkpoint."""

    def __init__(self, seed: int, device: str = "cpu") -> None:
        self.python = random.Random(seed)
        self.torch = torch.Generator(device).manual_seed(seed)
        self.device = device

    def uniform(self, *shape: int) -> torch.Tensor:
        """Uniform numbers, 0 to 1."""
        return torch.rand(*shape, generator=self.torch, device=self.device)

    def normal(self, like: torch.Tensor) -> torch.Tensor:
        """Normal numbers in the shape of another tensor, in float32."""
        return torch.randn(like.shape, generator=self.torch, device=self.device)

    def indices(self, below: int, count: int) -> torch.Tensor:
        """Random whole numbers, on the CPU."""
        return torch.randint(below, (count,), generator=self.torch, device=self.device).cpu()

    def state_dict(self) -> dict[str, Any]:
        return {"python": self.python.getstate(), "torch": self.torch.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.python.setstate(state["python"])
        self.torch.set_state(state["torch"])


class Average:
    """A moving average of a module's weights: what is kept in the end. Early on it follows fast."""

    def __init__(self, live: torch.nn.Module, average: torch.nn.Module, decay: float) -> None:
        self.module = average.eval().requires_grad_(False)
        self.decay = decay
        self._live = list(live.parameters())
        self._average = list(average.parameters())

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Takes in the live weights."""
        weight = 1 - min(self.decay, (1 + step) / (10 + step))
        for kept, now in zip(self._average, self._live, strict=True):
            kept.lerp_(now, weight)

    def state_dict(self) -> Any:
        return self.module.state_dict()

    def load_state_dict(self, state: Any) -> None:
        self.module.load_state_dict(state)


class Loop:
    """Steps until the budget is used up, with a checkpoint every so often.

    The loop body may stop being run at any moment: a new process with the same folder goes on from the last
    checkpoint, with the same chance, and (for a budget of steps) ends with the same weights.

    Args:
        folder: Where checkpoint and log go: `<name>.ckpt`, `<name>.json`.
        name: Name of the stage.
        budget: How long.
        parts: What a checkpoint holds, by name; loaded here if there is a checkpoint.
        every_s: Seconds between checkpoints.
        show_every: Steps between two lines of progress.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        budget: Budget,
        parts: Mapping[str, Stateful],
        *,
        every_s: float = 60,
        show_every: int = 50,
    ) -> None:
        self.name = name
        self.step = 0
        self.seconds = 0.0
        self.history: list[dict[str, float]] = []
        self._budget = budget
        self._parts = parts
        self._file = folder / f"{name}.ckpt"
        self._log_file = folder / f"{name}.json"
        self._every_s = every_s
        self._show_every = show_every
        self._sums: dict[str, list[float]] = defaultdict(list)
        folder.mkdir(parents=True, exist_ok=True)
        if self._file.exists():
            self._load()

    @property
    def fraction(self) -> float:
        """How much of the budget is used up, 0 to 1."""
        return self._budget.fraction(self.step, self.seconds)

    def __iter__(self) -> Iterator[int]:
        saved = last = time.monotonic()
        while self.fraction < 1:
            yield self.step
            self.step += 1
            now = time.monotonic()
            self.seconds += now - last
            last = now
            if self.step % self._show_every == 0:
                self._show()
            if now - saved > self._every_s:
                self.save()
                saved = last = time.monotonic()
        self.save()

    def note(self, **values: float | torch.Tensor) -> None:
        """Numbers of this step; means over `show_every` steps are shown and kept."""
        for key, value in values.items():
            self._sums[key].append(float(value.detach() if isinstance(value, torch.Tensor) else value))

    def record(self, **values: float) -> None:
        """Numbers to keep and show as they are, such as an evaluation."""
        row = {"step": self.step, "seconds": round(self.seconds, 1), **{k: round(v, 4) for k, v in values.items()}}
        self.history.append(row)
        _log.info("%s %s", self.name, " ".join(f"{key}={value:g}" for key, value in row.items()))

    def save(self) -> None:
        """Writes the checkpoint: whole or not at all."""
        state = {
            "step": self.step,
            "seconds": self.seconds,
            "history": self.history,
            "sums": dict(self._sums),
            "parts": {name: part.state_dict() for name, part in self._parts.items()},
        }
        fresh = self._file.with_suffix(".new")
        torch.save(state, fresh)
        os.replace(fresh, self._file)  # noqa: PTH105 - the one call that replaces a file atomically
        self._log_file.write_text(json.dumps(self.history))

    def _load(self) -> None:
        state = torch.load(self._file, weights_only=False)  # our own file
        self.step, self.seconds, self.history = state["step"], state["seconds"], state["history"]
        self._sums.update(state["sums"])
        for name, part in self._parts.items():
            part.load_state_dict(state["parts"][name])
        _log.info("%s goes on at step %d, %.0f s", self.name, self.step, self.seconds)

    def _show(self) -> None:
        means = {key: sum(values) / len(values) for key, values in self._sums.items() if values}
        self._sums.clear()
        left = self.seconds / max(self.fraction, 1e-9) - self.seconds
        self.record(**means, left_s=round(left))
