"""Instructions: what a step must achieve, in words that say the whole picture, and what they say."""

from __future__ import annotations

from langgraph_interleave_miniature.captions import command, describe
from langgraph_interleave_miniature.parsing import Said, said
from langgraph_interleave_miniature.scenes import Edit, Scene

#: After the change, what the picture shows in all.
LEAD = "The picture shows:"


def instruction_of(scene: Scene, edit: Edit | None = None) -> str:
    """The instruction of a step that leads to a scene, by an edit or from nothing.

    Example:
        >>> instruction_of(Scene("night"))
        'The picture shows: nothing at night.'
    """
    whole = f"{LEAD} {describe(scene)}."
    if edit is None:
        return whole
    change = command(edit)
    return f"{change[:1].upper()}{change[1:]}. {whole}"


def target_of(instruction: str) -> Said:
    """What an instruction wants: the whole picture where it says so, else what its words say.

    Example:
        >>> target_of("Remove the ball. The picture shows: nothing at night.").scene.background
        'night'
    """
    _, lead, whole = instruction.partition(LEAD)
    return said(whole if lead else instruction)
