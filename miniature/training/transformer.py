"""Transformer: text encoder and transformer, trained together to turn noise into the picture asked for."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from langgraph_interleave_miniature.captions import Detail, caption, instruction
from langgraph_interleave_miniature.scenes import MOST, Scene, random_edit, random_scene
from training.attention import quicken
from training.autoencoder import Probe
from training.data import labels, pixels, tensor
from training.flow import Padding, sampled, shifted, text_states, velocity
from training.latents import Codec, Latents, make_latents
from training.loop import Average, Budget, Chance, Loop
from training.models import PATCH, TOKENS, build_text_encoder, build_transformer
from training.optimizer import Both
from training.tokenizer import Tokens, build_tokenizer, token_ids

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TransformerSettings:
    """What can be chosen about this stage.

    Args:
        batch: Samples a step.
        lr: Highest learning rate.
        warmup: Steps until it is reached.
        decay: Share of the budget in which it falls to nothing.
        average: Decay of the averaged weights.
        meaning: Extra weight of the latents' directions that say kind, color and background.
        shift: How far noise levels are moved towards 1; a quarter of them is not moved.
        own_from: Share of the budget after which references are also the model's own pictures.
        own: How many of those.
        check_s: Seconds between two looks at its success.
        bases: Base scenes of its data.
    """

    batch: int = 64
    lr: float = 2e-3
    warmup: int = 120
    decay: float = 0.5
    average: float = 0.998
    meaning: float = 0.5
    shift: float = 3.5
    own_from: float = 0.5
    own: int = 3000
    check_s: float = 480
    bases: int = 6000


#: What a batch is of, how often, and how many text tokens that takes: pictures with so many things, edits in
#: instructions, and edits in descriptions of what they should lead to.
_PICTURES = {0: (0.01, 16), 1: (0.16, 20), 2: (0.17, 28), 3: (0.14, 36)}
_EDITS, _EDIT_TOKENS = 0.44, 18
_REDRAW_TOKENS = 28


class Pair(torch.nn.Module):
    """Text encoder and transformer as one."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.text = build_text_encoder(vocabulary)
        self.transformer = build_transformer()

    def states(self, tokenizer: Tokens, texts: list[str], length: int) -> torch.Tensor:
        """States of texts without any padding beyond `length`."""
        ids, mask = token_ids(tokenizer, texts, length)
        device = next(self.parameters()).device
        return text_states(self.text, ids.to(device), mask.to(device), torch.arange(length, device=device))


@dataclass(slots=True)
class Batch:
    """Texts, the pictures they ask for, and the pictures they change, if they do."""

    texts: list[str]
    length: int
    wanted: torch.Tensor
    reference: torch.Tensor | None = None


class Feed:
    """Batches of all kinds, each of one kind, with texts made anew every time."""

    def __init__(self, data: Latents, chance: Chance, size: int) -> None:
        self.own: torch.Tensor | None = None
        self._data = data
        self._chance = chance
        self._size = size
        self._by_count = data.by_count()
        self._few = [row for row in data.edits if len(row[2].after.things) < MOST]

    def next(self) -> Batch:
        """A batch of a random kind."""
        left = self._chance.python.random()
        for count, (share, length) in _PICTURES.items():
            left -= share
            if left < 0 and count in self._by_count:
                return self._pictures(self._by_count[count], length)
        return self._edits() if left < _EDITS else self._redraws()

    def _ended(self, text: str) -> str:
        return f"{text}." if self._chance.python.random() < 0.1 else text

    def _detail(self) -> Detail:
        return self._chance.python.choices(("full", "some", "anywhere"), (0.6, 0.3, 0.1))[0]

    def _pictures(self, numbers: list[int], length: int) -> Batch:
        rng = self._chance.python
        chosen = rng.choices(numbers, k=self._size)
        texts = [self._ended(caption(rng, self._data.scenes[number], self._detail())) for number in chosen]
        return Batch(texts, length, self._data.clean[chosen].float())

    def _references(self, numbers: list[int]) -> torch.Tensor:
        """Clean, or as faulty as there are, and a little noise on some."""
        rng, rows = self._chance.python, []
        for number in numbers:
            choices = [self._data.clean[number]]
            if number < len(self._data.faulty):
                choices.append(self._data.faulty[number])
            if self.own is not None and number < len(self.own):
                choices = [choices[0], choices[-1], self.own[number], self.own[number]]
            rows.append(rng.choice(choices))
        tokens = torch.stack(rows).float().to(self._chance.device)
        noise = 0.25 * self._chance.uniform(len(rows), 1, 1) ** 3 * self._chance.normal(tokens)
        return (tokens + noise).cpu()

    def _edits(self) -> Batch:
        rng = self._chance.python
        chosen = rng.choices(self._data.edits, k=self._size)
        texts = [self._ended(instruction(rng, edit, "full" if rng.random() < 0.7 else "some")) for _, _, edit in chosen]
        wanted = self._data.clean[[after for _, after, _ in chosen]].float()
        return Batch(texts, _EDIT_TOKENS, wanted, self._references([before for before, _, _ in chosen]))

    def _redraws(self) -> Batch:
        rng = self._chance.python
        chosen = rng.choices(self._few, k=self._size)
        texts = [self._ended(caption(rng, edit.after)) for _, _, edit in chosen]
        wanted = self._data.clean[[after for _, after, _ in chosen]].float()
        return Batch(texts, _REDRAW_TOKENS, wanted, self._references([before for before, _, _ in chosen]))


def meaning_directions(probe: torch.Tensor) -> torch.Tensor:
    """Orthonormal directions of a picture's tokens (768, k) that the autoencoder's probe reads a scene from.

    Color is a small share of what latents hold, and is learnt last: these directions count extra in the loss. That
    changes how fast they are learnt, not what is right.
    """
    weight = probe - probe.mean(0, keepdim=True)
    _, sizes, directions = torch.linalg.svd(weight.double(), full_matrices=False)
    kept = directions[sizes > 1e-3 * sizes[0]].float()
    return kept.view(-1, PATCH, TOKENS).transpose(1, 2).reshape(len(kept), -1).T.contiguous()


def _rate(settings: TransformerSettings, step: int, fraction: float) -> float:
    return settings.lr * min(1.0, (step + 1) / settings.warmup, max(0.0, (1 - fraction) / settings.decay))


def _split(model: Pair) -> tuple[list[torch.nn.Parameter], list[torch.nn.Parameter]]:
    inner, rest = [], []
    for name, param in model.named_parameters():
        inside = param.ndim == 2 and any(part in name for part in ("blocks.", "layers.", "context_embedder"))
        (inner if inside else rest).append(param)
    return inner, rest


def train_transformer(
    work: Path, budget: Budget, *, seed: int = 0, device: str = "cpu", settings: TransformerSettings | None = None
) -> Path:
    """Trains text encoder and transformer; goes on where an earlier call was stopped.

    Returns:
        The file with the averaged weights, `<work>/pair.pt`.
    """
    chosen = settings or TransformerSettings()
    data = make_latents(work, seed=seed, device=device, bases=chosen.bases)
    tokenizer = build_tokenizer(seed)
    torch.manual_seed(seed + 3)  # initial weights
    chance = Chance(seed + 4, device)
    model = Pair(len(tokenizer)).to(device)
    average = Average(model, copy.deepcopy(model), chosen.average)
    if device == "cpu":
        quicken(model.transformer)
        model.text.set_attn_implementation("eager")
    optimizer = Both(*_split(model))
    parts = {"model": model, "average": average, "optimizer": optimizer, "chance": chance}
    loop = Loop(work, "transformer", budget, parts)
    probe = Probe().to(device)
    probe.load_state_dict(torch.load(work / "autoencoder.ckpt", weights_only=False)["parts"]["probe"])
    directions = meaning_directions(probe.weight.detach().cpu()).to(device)
    feed, codec = Feed(data, chance, chosen.batch), Codec(work / "autoencoder", device)
    checked = loop.seconds
    pad = tokenizer.pad_token_id
    assert isinstance(pad, int)
    for step in loop:
        if feed.own is None and loop.fraction > chosen.own_from:
            feed.own = _own_pictures(work, average.module, tokenizer, data, codec, chosen.own, seed)
        batch = feed.next()
        ids, mask = token_ids(tokenizer, batch.texts, batch.length)
        padding = Padding.drawn(chance.python, batch.length)
        ids, mask = padding.filled(ids, mask, pad)
        wanted = batch.wanted.to(device)
        reference = None if batch.reference is None else batch.reference.to(device)
        level = _levels(chance, len(wanted), chosen.shift)
        noise = chance.normal(wanted)
        at = level.view(-1, 1, 1)
        with torch.autocast(device, torch.bfloat16):
            text = text_states(model.text, ids.to(device), mask.to(device), padding.positions.to(device))
            answer = velocity(model.transformer, (1 - at) * wanted + at * noise, level, text, padding, reference)
        error = answer.float() - (noise - wanted)
        plain = error.pow(2).mean()
        meaning = (error.flatten(1) @ directions).pow(2).mean()
        (plain + chosen.meaning * meaning).backward()
        optimizer.step(_rate(chosen, step, loop.fraction))
        average.update(step)
        loop.note(**{f"{'edit' if batch.reference is not None else 'text'}_mse": plain, "meaning": meaning})
        if loop.seconds - checked > chosen.check_s:
            checked = loop.seconds
            loop.record(**_look(average.module, tokenizer, probe, codec))
            torch.save(average.state_dict(), work / "pair.pt")
    torch.save(average.state_dict(), work / "pair.pt")
    return work / "pair.pt"


def _levels(chance: Chance, count: int, shift: float) -> torch.Tensor:
    """Noise levels, spread evenly: three quarters of them moved towards 1, where the pipeline's few steps are."""
    even = (torch.arange(count, device=chance.device) + chance.uniform(count)) / count
    level = torch.where(chance.uniform(count) < 0.75, shifted(even, shift), 0.03 + 0.97 * even)
    return level.clamp(0.01, 1.0)


@torch.no_grad()
def _own_pictures(
    work: Path,
    model: torch.nn.Module,
    tokenizer: Tokens,
    data: Latents,
    codec: Codec,
    count: int,
    seed: int,
) -> torch.Tensor:
    """Tokens of the first scenes' pictures half lost in noise and drawn again by the model: its own faults."""
    file = work / "own.pt"
    if file.exists():
        return torch.load(file)
    assert isinstance(model, Pair)
    chance, rows = Chance(seed + 6, codec.device), []
    for start in range(0, min(count, len(data.scenes)), 64):
        clean = data.clean[start : min(start + 64, count)].float().to(codec.device)
        texts = [caption(chance.python, scene) for scene in data.scenes[start : start + len(clean)]]
        text, padding = model.states(tokenizer, texts, 36), Padding.none(36)
        level = 0.6 + 0.35 * chance.uniform(len(clean), 1, 1)
        latents = (1 - level) * clean + level * chance.normal(clean)
        for following in (level * 0.6, torch.zeros_like(level)):
            answer = velocity(model.transformer, latents, level.flatten(), text, padding)
            latents, level = latents + (following - level) * answer, following
        rows.append(codec.tokens(codec.pictures(latents)).half().cpu())
    own = torch.cat(rows)
    torch.save(own, file)
    _log.info("transformer: %d pictures of its own as references", len(own))
    return own


def _look(model: torch.nn.Module, tokenizer: Tokens, probe: Probe, codec: Codec, count: int = 48) -> dict[str, float]:
    """Share of fresh prompts that come out right, as far as the probe can tell: a curve to watch, no result."""
    assert isinstance(model, Pair)
    chance, found = Chance(99, codec.device), {}
    ask: Callable[[list[Scene], torch.Tensor], float] = lambda scenes, tokens: _right(probe, tokens, scenes)  # noqa: E731
    for things in (1, 2):
        scenes = [random_scene(chance.python, things) for _ in range(count)]
        text = model.states(tokenizer, [caption(chance.python, scene) for scene in scenes], 32)
        tokens = sampled(model.transformer, text, chance, shape=(TOKENS, PATCH))
        found[f"right_{things}"] = ask(scenes, tokens)
    edits = [random_edit(chance.python, random_scene(chance.python, 1 + i % 2)) for i in range(count)]
    before = codec.tokens(tensor(pixels([edit.before for edit in edits])))
    text = model.states(tokenizer, [instruction(chance.python, edit) for edit in edits], 20)
    tokens = sampled(model.transformer, text, chance, shape=(TOKENS, PATCH), reference=before)
    after = [edit.after for edit in edits]
    found["right_edit"] = ask(after, tokens)
    found["right_drawn"] = ask(after, codec.tokens(tensor(pixels(after))))
    return found


@torch.no_grad()
def _right(probe: Probe, tokens: torch.Tensor, scenes: list[Scene]) -> float:
    answers = probe(tokens.transpose(1, 2).flatten(1)).split(probe.sizes, 1)
    read = torch.stack([answer.argmax(1) for answer in answers], 1).cpu()
    return (read == torch.from_numpy(labels(scenes))).all(1).float().mean().item()
