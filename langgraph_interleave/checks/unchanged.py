"""Whether an edit changed anything at all."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_interleave.drift import reduced
from langgraph_interleave.imaging.formats import Unreadable
from langgraph_interleave.types import CheckResult, ImageBytes, Step

#: Both pictures are compared on a grid of this many places a side: enough for a small thing, too coarse for grain.
#: Over all edits of the built-in book of procedures the place that changes most changes by 76 levels or more;
#: the same picture as JPEG of quality 85, blurred, or scaled up and down, by 18 at most.
_SIDE = 64
#: The largest difference of any place, in levels of 255, that still is no change.
_LARGEST = 32


class Unchanged:
    """A check: fails on an edit whose picture is, to the eye, the very picture it was made from.

    Compared are the whole pictures on a grid of 64 x 64 places: where none of them differs by more than 32
    levels of 255, nothing was changed. It does not see whether the right thing changed, nor what else
    did; a change narrower than a 64th of the picture, or of faint colours, may escape it. A picture of
    another shape counts as changed. Not applicable to steps that draw anew. Deterministic.

    Example:
        >>> from langgraph_interleave.testing import noise_card
        >>> step = Step(index=1, op="edit", instruction="Add a bean.", prompt="add a bean", sources=("step:0",))
        >>> pot = noise_card("a pot")
        >>> Unchanged().check(step, pot, pot, (pot,)).reason
        'the edit changed nothing: the picture is the one it was made from'
    """

    name = "unchanged"

    def check(
        self, step: Step, before: ImageBytes | None, after: ImageBytes, references: Sequence[ImageBytes]
    ) -> CheckResult:
        """Compare `after` with what the step builds on, and with what it was drawn from."""
        if step.op != "edit" or before is None:
            return CheckResult(name=self.name, passed=None)
        drawn_from = {picture.sha256: picture for picture in (before, *references[:1])}
        try:
            same = any(unchanged(picture, after) for picture in drawn_from.values())
        except Unreadable:
            return CheckResult(name=self.name, passed=None, reason="A picture could not be decoded.")
        reason = "the edit changed nothing: the picture is the one it was made from" if same else ""
        return CheckResult(name=self.name, passed=not same, reason=reason)


def unchanged(before: ImageBytes, after: ImageBytes) -> bool:
    """Whether two pictures are the same to the eye."""
    return largest_difference(before, after) <= _LARGEST


def largest_difference(before: ImageBytes, after: ImageBytes) -> int:
    """The largest difference of any place of two pictures, in levels of 255; 255 where their shapes differ.

    Raises:
        Unreadable: One of them cannot be decoded.
    """
    from PIL import ImageChops
    from PIL.Image import Resampling

    if abs(before.width * after.height - after.width * before.height) > max(before.height, after.height):
        return 255
    size = (_SIDE, _SIDE)
    one, other = (reduced(picture, 4 * _SIDE).resize(size, Resampling.BOX) for picture in (before, after))
    counts = ImageChops.difference(one, other).histogram()
    return max(level % 256 for level, count in enumerate(counts) if count)
