"""Whether a picture shows anything at all: not black, not one flat colour, not broken."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from langgraph_interleave.imaging.color import has_transparency
from langgraph_interleave.imaging.formats import Unreadable, decode
from langgraph_interleave.types import CheckResult, ImageBytes, Step

if TYPE_CHECKING:
    from PIL.Image import Image

#: Values this close to the median count as the same: what compression does to a flat colour.
_TOLERANCE = 6
#: A picture with a smaller share of differing pixels is blank: below a 1-pixel line of a third of the width.
_LEAST = 0.0003


class NotBlank:
    """A check: fails on a picture that cannot be decoded, is transparent, or is (nearly) one flat colour.

    Deterministic; about 10 ms for 1024 × 1024 pixels. It does not notice noise or nonsense.

    Example:
        >>> from langgraph_interleave.types import ImageBytes, Step
        >>> step = Step(index=0, op="generate", instruction="A pot.", prompt="A pot.")
        >>> NotBlank().check(step, None, ImageBytes(b"<html>", "image/png", 8, 8), ()).reason
        'the picture is broken: it is an HTML page, not a picture'
    """

    name = "not_blank"

    def check(
        self, step: Step, before: ImageBytes | None, after: ImageBytes, references: Sequence[ImageBytes]
    ) -> CheckResult:
        """Test `after` alone; what the step wants, and the pictures before, do not matter here."""
        reason = _blank(after)
        return CheckResult(name=self.name, passed=reason is None, reason=reason or "")


def _blank(picture: ImageBytes) -> str | None:
    try:
        image, _ = decode(picture.data, max(64_000_000, picture.width * picture.height))
    except Unreadable as error:
        return f"the picture is broken: it is {error.reason}"
    if not has_transparency(image):
        return _flat(image if image.mode in ("L", "RGB") else image.convert("RGB"))
    layered = image.convert("RGBA")
    if layered.getchannel("A").getextrema() == (0, 0):
        return "the picture is entirely transparent: nothing was drawn"
    # What can be seen on light paper or on dark is something.
    on = [_flat(_laid_on(layered, paper)) for paper in ("white", "black")]
    return on[0] if all(on) else None


def _laid_on(layered: Image, paper: str) -> Image:
    from PIL import Image

    sheet = Image.new("RGBA", layered.size, paper)
    sheet.alpha_composite(layered)
    return sheet.convert("RGB")


def _flat(image: Image) -> str | None:
    bands, total = len(image.getbands()), image.width * image.height
    histogram = image.histogram()
    levels, different = [], 0.0
    for band in range(bands):
        counts = histogram[band * 256 : (band + 1) * 256]
        level = next(value for value, below in enumerate(accumulate(counts)) if 2 * below >= total)
        near = sum(counts[max(0, level - _TOLERANCE) : level + _TOLERANCE + 1])
        levels.append(level)
        different = max(different, (total - near) / total)
    if different >= _LEAST:
        return None
    red, green, blue = levels if bands == 3 else levels * 3
    if max(red, green, blue) <= _TOLERANCE:
        return "the picture is black: the model's output was probably not finite"
    color = f"#{red:02x}{green:02x}{blue:02x}"
    if different == 0:
        return f"the picture is one flat colour ({color}): nothing was drawn"
    return f"the picture is nearly one flat colour ({color}): {different:.3%} of its pixels differ"
