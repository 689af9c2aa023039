"""Flow: what the transformer is given and asked, in training as in the pipeline: noise levels, position ids, text."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import pairwise

import torch

from training.loop import Chance
from training.models import TEXT_LAYERS, TOKENS_SIDE, TextEncoder, Transformer

#: The pipeline pads every prompt to this many tokens unless told otherwise.
PADDED = 512
#: Padding tokens that stand for all others in training.
STAND_INS = 3
_HIDDEN = -1e4


def shifted(level: torch.Tensor, shift: float) -> torch.Tensor:
    """Noise levels moved towards 1, as the scheduler does."""
    return shift * level / (1 + (shift - 1) * level)


def image_ids(references: int, device: str = "cpu") -> torch.Tensor:
    """Position ids of a picture's tokens and its references', as the pipeline makes them."""
    side = torch.arange(TOKENS_SIDE)
    times = [torch.tensor([10 * index]) for index in range(references + 1)]
    return torch.cat([torch.cartesian_prod(time, side, side, torch.arange(1)) for time in times]).to(device)


@dataclass(frozen=True, slots=True)
class Padding:
    """Positions of a batch's text tokens, and how much attention each may get.

    The pipeline pads prompts to 512 tokens and masks none of them. Training on 512 would cost ten times as much, so
    a few padding tokens at random places stand for all the rest, each with the weight of those it stands for.

    Args:
        positions: Position of every text token.
        bias: Added to attention logits, by key: the logarithm of how many tokens one stands for.
    """

    positions: torch.Tensor
    bias: torch.Tensor

    @classmethod
    def none(cls, length: int) -> Padding:
        """Text as long as it is given."""
        return cls(torch.arange(length), torch.zeros(length))

    @classmethod
    def drawn(cls, rng: random.Random, length: int) -> Padding:
        """Room for `length` tokens and stand-ins: for a random length up to 512, often for either end."""
        chance = rng.random()
        padded = length if chance < 0.35 else PADDED
        if chance > 0.75:
            padded = round(math.exp(rng.uniform(math.log(length + 2 * STAND_INS), math.log(PADDED))))
        more = padded - length
        places = [length + int(more * (i + rng.random()) / STAND_INS) for i in range(STAND_INS)]
        weight = math.log(more / STAND_INS) if more else _HIDDEN
        return cls(
            torch.cat([torch.arange(length), torch.tensor(places)]),
            torch.cat([torch.zeros(length), torch.full((STAND_INS,), weight)]),
        )

    def filled(self, ids: torch.Tensor, mask: torch.Tensor, pad: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids and mask with the stand-ins behind them."""
        more = len(self.positions) - ids.shape[1]
        return torch.nn.functional.pad(ids, (0, more), value=pad), torch.nn.functional.pad(mask, (0, more))


def text_states(model: TextEncoder, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """What the pipeline takes from the text encoder: the outputs of its trained layers, side by side."""
    output = model.model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=positions.unsqueeze(0).expand(len(ids), -1),
        output_hidden_states=True,
        use_cache=False,
    )
    return torch.cat(output.hidden_states[1 : 1 + TEXT_LAYERS], -1)


def velocity(
    model: Transformer,
    noisy: torch.Tensor,
    level: torch.Tensor,
    text: torch.Tensor,
    padding: Padding,
    reference: torch.Tensor | None = None,
) -> torch.Tensor:
    """The transformer's answer for a picture's tokens: noise minus picture."""
    device = str(noisy.device.type)
    count = noisy.shape[1]
    positions = torch.zeros(len(padding.positions), 4, dtype=torch.long)
    positions[:, 3] = padding.positions
    given = noisy if reference is None else torch.cat([noisy, reference], 1)
    bias = torch.cat([padding.bias, torch.zeros(given.shape[1])]).to(device, text.dtype)
    return model(
        hidden_states=given,
        timestep=level,
        encoder_hidden_states=text,
        txt_ids=positions.to(device),
        img_ids=image_ids(0 if reference is None else 1, device),
        joint_attention_kwargs={"attention_mask": bias.view(1, 1, 1, -1)},
        return_dict=False,
    )[0][:, :count]


#: Noise levels of a picture in four steps: the pipeline's own for 16 tokens.
STEPS, _SHIFT = 4, math.exp(1.8985)


@torch.no_grad()
def sampled(
    model: Transformer,
    text: torch.Tensor,
    chance: Chance,
    *,
    shape: tuple[int, int],
    reference: torch.Tensor | None = None,
    steps: int = STEPS,
) -> torch.Tensor:
    """Latent tokens of new pictures, by the pipeline's own steps without its padding."""
    like = torch.empty(len(text), *shape, device=text.device)
    latents, padding = chance.normal(like), Padding.none(text.shape[1])
    levels = [float(shifted(torch.tensor(1 - i / steps), _SHIFT)) for i in range(steps)] + [0.0]
    for level, following in pairwise(levels):
        at = torch.full((len(text),), level, device=text.device)
        latents = latents + (following - level) * velocity(model, latents, at, text, padding, reference).float()
    return latents
