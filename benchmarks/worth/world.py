"""World: what the ablation needs of a place where pictures are asked for, drawn, judged and told right or wrong.

There are two: the built-in one, whose truth is known because every fault is rolled (`builtin.py`), and that of the
miniature, a really trained model whose pictures have to be looked at (`miniature/`). Arms, bootstrap and break-even are
the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.critic import Critic
from langgraph_interleave.types import CritiqueRequest, ImageRequest, Plan, PlanFinished

Error: TypeAlias = tuple[float, float]
"""A critic's rates of false accepts and of false rejects, 0-1, exact: it knows the truth and flips a coin."""

#: The critic that comes with the world, and sees pixels only.
OWN: Final = "own"

Judging: TypeAlias = Error | Literal["own"] | None
"""Who judges; `None` where nobody does."""


@dataclass(frozen=True, slots=True)
class Task:
    """One request and its truth.

    Attributes:
        name: Where it comes from.
        request: The words every arm is given.
        scenes: What each asked picture must show, in the world's own terms.
    """

    name: str
    request: str
    scenes: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """One cell: an artist, a critic, and the arms to run with them.

    Attributes:
        preset: Name of the artist, or of what it is asked for.
        scale: What its rates of faults are multiplied by, where they are rates.
        helps: How much words help: what the preset's two figures are multiplied by, or 1 where the critic's prompts
            are used; 0 is pure resampling.
        error: The critic's rates of false accepts and false rejects, or `OWN`; `None` for arms without one.
        arms: What is run.
        tasks: How many tasks.
        seeds: How many seeds each.
        attempts: Per step, in the arms with a loop.
    """

    preset: str
    scale: float
    helps: float
    error: Judging
    arms: tuple[str, ...]
    tasks: int
    seeds: int = 1
    attempts: int = 3


class Artist(ImageBackend, Protocol):
    """Draws, counts, and knows or finds out what its pictures show."""

    @property
    def drawings(self) -> int:
        """Pictures drawn so far."""
        ...

    def shown(self, sha256: str) -> Any | None:
        """What a picture of its own shows; `None` for any other."""
        ...

    def faultless(self, request: CritiqueRequest) -> bool:
        """Whether a picture of its own is what its step asked for."""
        ...


class World(Protocol):
    """Where the ablation takes place. Objects of it travel to other processes."""

    @property
    def name(self) -> str:
        """As on the command line."""
        ...

    @property
    def style_in_prompts(self) -> bool | None:
        """Whether the graph adds the style guide to prompts; `None` for its default."""
        ...

    def tasks(self, count: int, preset: str) -> Sequence[Task]:
        """The first so many tasks of the jobs with this preset, always the same."""
        ...

    def planned(self, words: str) -> PlanFinished:
        """What the world's planner makes of a request; it answers the same every time."""
        ...

    def alone(self, plan: Plan) -> Sequence[str]:
        """A prompt for each step that says the whole picture, for an artist who is given no other."""
        ...

    def setting(self, job: Job) -> Any:
        """How the artist of a job draws."""
        ...

    def luck(self, task: Task, seed: int) -> int:
        """Seed of everything that is drawn for a task. Equal seeds are equal luck in every arm."""
        ...

    def side(self, *, own: bool) -> int:
        """Side of the pictures in pixels; `own` says that the world's own critic looks at them."""
        ...

    def artist(self, setting: Any, *, seed: int, own: bool) -> Artist:
        """An artist who has drawn nothing yet."""
        ...

    def critic(self, artist: Any, judging: Error | Literal["own"], *, seed: int) -> Critic:
        """Who judges what this artist draws."""
        ...

    def instruction(self, request: ImageRequest, plan: Plan, seed: int) -> str:
        """What the step that is drawn at its first attempt has to achieve, in words for the critic."""
        ...

    def rightness(self, shown: Sequence[Any | None], asked: Sequence[Any]) -> tuple[bool, ...]:
        """For each asked step, whether its picture is right; a step without a picture is wrong."""
        ...

    def contains(self, shown: Any | None, asked: Any) -> bool:
        """The lenient rule: all things asked for are somewhere in the picture."""
        ...

    def jobs(self, tasks: int, seeds: int, *, quick: bool) -> list[Job]:
        """Every cell that is run."""
        ...

    def is_headline(self, row: dict[str, Any]) -> bool:
        """Whether a row of the results belongs in the table for people."""
        ...

    def parameters(self) -> dict[str, Any]:
        """What else the results depend on."""
        ...

    def notes(self, result: dict[str, Any]) -> list[str]:
        """What a reader might stumble over; each is said only where the figures say it."""
        ...

    def draw(self, result: dict[str, Any], path: Path) -> None:
        """Draw the figure."""
        ...
