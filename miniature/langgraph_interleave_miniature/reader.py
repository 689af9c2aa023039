"""Reader: the trained reader of pictures. It sees pixels and nothing else, and knows how sure it can be."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from langgraph_interleave.errors import ConfigError

from langgraph_interleave_miniature.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import torch
    from PIL import Image

    from langgraph_interleave_miniature.network import ReaderNetwork

#: Readers that come with the package, by name. `critic` is the critic's own; `independent` is for measuring: another
#: seed, other drawings, other augmentation.
READERS = {"critic": "critic_reader.safetensors", "independent": "independent_reader.safetensors"}
_REMEDY = "Give a whole folder of weights, or install langgraph-interleave-miniature again."


class TrainedReader:
    """Reads pictures by a trained network; a `reading.Reader`.

    Args:
        weights: A file of weights; `None` for those of the package.
        name: Which of the package's, one of `READERS`.

    Example:
        >>> from langgraph_interleave_miniature.drawing import draw
        >>> from langgraph_interleave_miniature.scenes import Scene, Thing
        >>> scene = Scene("night", (Thing("ball", "red", 0),))
        >>> TrainedReader()(draw(scene)).scene.shown == scene.shown
        True
    """

    def __init__(self, weights: Path | None = None, *, name: str = "critic") -> None:
        self._network = _packaged(name) if weights is None else load_network(weights)

    def __call__(self, picture: Image.Image) -> Reading:
        return self.read([picture])[0]

    def read(self, pictures: Sequence[Image.Image]) -> list[Reading]:
        """Reads several pictures at once.

        Args:
            pictures: RGB, 64 x 64 pixels; others are converted and scaled.
        """
        import torch

        with torch.no_grad():
            answers = self._network(as_tensor(pictures))
            kinds, colors, backgrounds = (answer.softmax(-1).tolist() for answer in answers)
        return [
            Reading(tuple(map(tuple, kind)), tuple(map(tuple, color)), tuple(background))
            for kind, color, background in zip(kinds, colors, backgrounds, strict=True)
        ]


def as_tensor(pictures: Sequence[Image.Image]) -> torch.Tensor:
    """Pictures as the network wants them: (count, 3, 64, 64) in [-1, 1]."""
    import numpy as np
    import torch
    from PIL import Image

    from langgraph_interleave_miniature.drawing import SIDE

    rows: list[np.ndarray] = []
    for picture in pictures:
        fitting = picture.convert("RGB")
        if fitting.size != (SIDE, SIDE):
            fitting = fitting.resize((SIDE, SIDE), Image.Resampling.BOX)
        rows.append(np.asarray(fitting))
    return torch.from_numpy(np.stack(rows)).permute(0, 3, 1, 2).float().div(127.5).sub(1.0)


def load_network(weights: Path) -> ReaderNetwork:
    """A network with the weights of a file, in float32 and ready to read.

    Raises:
        ConfigError: The file is damaged, or holds the weights of something else.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from langgraph_interleave_miniature.network import ReaderNetwork

    network = ReaderNetwork()
    try:
        stored = {name: value.float() for name, value in load_file(weights).items()}
        # Counts of batches matter to the training only, and are not stored.
        missing, unknown = network.load_state_dict(stored, strict=False)
    except (SafetensorError, OSError, RuntimeError) as error:
        raise ConfigError(f"The reader's weights {weights} cannot be loaded: {error}", remedy=_REMEDY) from error
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    if missing or unknown:
        raise ConfigError(f"{weights} holds the weights of something else than a reader.", remedy=_REMEDY)
    return network.eval()


@cache
def _packaged(name: str) -> ReaderNetwork:
    with as_file(files("langgraph_interleave_miniature") / "weights" / READERS[name]) as weights:
        return load_network(weights)
