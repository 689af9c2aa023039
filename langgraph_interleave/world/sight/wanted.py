"""What a picture must show once a reviewer has said something about it."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types import CheckResult, CritiqueRequest
from langgraph_interleave.world.grammar import describe, target
from langgraph_interleave.world.grammar.remark import Remark, carry_out
from langgraph_interleave.world.scene import Scene

#: The check that a reviewer's remark comes as.
REVIEWER = "reviewer"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The scene a step's picture must show, with all that reviewers have said of it.

    Attributes:
        scene: What the instruction says, with every remark carried out that was understood.
        plain: What the instruction says by itself.
        states_all: Whether the instruction says the whole picture, or only a change of the picture before.
        remarks: What reviewers said of this attempt, with what was understood of it.
    """

    scene: Scene
    plain: Scene
    states_all: bool
    remarks: tuple[tuple[str, Remark], ...] = ()

    @property
    def understood(self) -> bool:
        """Whether anything of what was said of this attempt was understood."""
        return any(remark.done for _, remark in self.remarks)

    @property
    def missed(self) -> tuple[str, ...]:
        """What of that was not understood."""
        return tuple(piece for words, one in self.remarks for piece in (one.missed or (() if one.done else (words,))))


def wanted_of(request: CritiqueRequest) -> Wanted:
    """What an attempt must show: a remark stays in force for the attempts after the one it was made of.

    Args:
        request: Its instruction, checks and earlier attempts are read.

    Example:
        >>> from langgraph_interleave.types import ImageBytes
        >>> blue = CheckResult(name="reviewer", passed=False, reason="the ball should be blue")
        >>> words, nothing = "On a meadow: a red ball.", ImageBytes(b"", "image/png", 1, 1)
        >>> wanted = wanted_of(CritiqueRequest(instruction=words, prompt=words, after=nothing, checks=(blue,)))
        >>> [thing.color for thing in wanted.scene.things], wanted.understood
        (['blue'], True)
    """
    plain = target(request.instruction)
    scene = plain
    for attempt in request.earlier:
        for check in attempt.checks:
            if is_remark(check):
                scene = carry_out(check.reason, scene).scene
    states_all = _states_all(request.instruction, plain)
    remarks: list[tuple[str, Remark]] = []
    for check in request.checks:
        if is_remark(check):
            remark = carry_out(check.reason, scene)
            if not states_all:
                # What is there is not known, so that nothing can be said against it.
                remark = Remark(remark.scene, done=(check.reason,))
            scene = remark.scene
            remarks.append((check.reason, remark))
    return Wanted(scene, plain, states_all, tuple(remarks))


def is_remark(check: CheckResult) -> bool:
    """Whether a check is what a reviewer said of a picture."""
    return check.name == REVIEWER and check.passed is False


def _states_all(instruction: str, scene: Scene) -> bool:
    try:
        return describe(scene)[1:] in instruction
    except ConfigError:
        return False
