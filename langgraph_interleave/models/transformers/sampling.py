"""Choosing the next token, with random numbers of its own.

`generate` samples from torch's global state, which everything in the process shares: a picture drawn at the
same time would change a plan, seed or not. So the choice is made here, and `generate` is left to be greedy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langgraph_interleave.models.libraries import library


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen.

    Attributes:
        temperature: 0 takes the likeliest.
        top_p: Only the likeliest that together have this probability.
        top_k: Only so many; 0 for all.
        min_p: Only those at least this likely, as a share of the likeliest.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0


def sampling_of(defaults: Any, temperature: float | None, top_p: float | None, top_k: int | None) -> Sampling:
    """What was asked for, and for the rest what the model's authors recommend (its generation configuration)."""
    samples = bool(getattr(defaults, "do_sample", False))
    told = {name: getattr(defaults, name, None) for name in ("temperature", "top_p", "top_k", "min_p")}
    own_temperature = 1.0 if told["temperature"] is None else float(told["temperature"])
    return Sampling(
        temperature=(own_temperature if samples else 0.0) if temperature is None else temperature,
        top_p=float(told["top_p"] or 1.0) if top_p is None and samples else (1.0 if top_p is None else top_p),
        top_k=int(told["top_k"] or 0) if top_k is None and samples else (top_k or 0),
        min_p=float(told["min_p"] or 0.0) if samples else 0.0,
    )


class Sampler:
    """A logits processor that leaves one token: the one it drew.

    The numbers are drawn on the CPU in 32 bits, so that a seed means the same on every device, as far as the
    model's own numbers are the same there.
    """

    def __init__(self, sampling: Sampling, seed: int) -> None:
        self._sampling = sampling
        self._generator = library("torch").Generator("cpu").manual_seed(seed)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Keep one token of each row."""
        torch = library("torch")
        logits = scores.detach().to("cpu", torch.float32) / self._sampling.temperature
        logits = self._narrowed(torch, logits)
        drawn = torch.multinomial(torch.softmax(logits, dim=-1), 1, generator=self._generator)
        kept = torch.full_like(scores, -float("inf"))
        return kept.scatter(-1, drawn.to(scores.device), 0.0)

    def _narrowed(self, torch: Any, logits: Any) -> Any:
        how = self._sampling
        if 0 < how.top_k < logits.shape[-1]:
            least = torch.topk(logits, how.top_k, dim=-1).values[..., -1:]
            logits = logits.masked_fill(logits < least, -float("inf"))
        if how.min_p > 0:
            likely = torch.softmax(logits, dim=-1)
            logits = logits.masked_fill(likely < how.min_p * likely.amax(dim=-1, keepdim=True), -float("inf"))
        if how.top_p < 1:
            ordered, order = torch.sort(logits, dim=-1, descending=True)
            mass = torch.softmax(ordered, dim=-1)
            # The first that goes over is still in.
            out = mass.cumsum(dim=-1) - mass >= how.top_p
            logits = logits.masked_fill(out.scatter(-1, order, out), -float("inf"))
        return logits
