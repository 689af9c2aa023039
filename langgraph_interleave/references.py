"""The reference policy: which pictures a step is drawn from, and in which order. Pure functions of the plan.

A plan says what each step builds on. That is the policy `explicit`; the others overrule or extend it,
because pictures drawn one from the other drift, and pictures drawn from nothing do not match:

  explicit  what the plan says
  previous  the picture before, and nothing else of the steps; inputs the plan names stay
  first     each edit is drawn from the picture its chain began with, with all changes since then asked
            for at once; what starts from nothing is given the first picture of the sequence
  all       what the plan says, then every input, then every earlier picture, the nearest first
  sheet     what the plan says, then a sheet of characters that is drawn before anything else,
            wherever one of them shows

The order of the references is always: what the step is drawn from, then inputs that are anchored, then
the sheet, then further pictures, the nearest first. Where a backend takes fewer, the end is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from langgraph_interleave.types import ArtifactRef, Step, StyleGuide, parse_source

References = Literal["explicit", "previous", "first", "all", "sheet"]


@dataclass(frozen=True, slots=True)
class Policy:
    """What a run does beside what its plan says.

    Attributes:
        references: Which pictures a step is drawn from.
        anchor_inputs: Give the pictures of the request to every step.
        reanchor_every: Draw every k-th edit of a chain from the picture the chain began with.
    """

    references: References = "explicit"
    anchor_inputs: bool = False
    reanchor_every: int | None = None


@dataclass(frozen=True, slots=True)
class Basis:
    """What one step is drawn from.

    Attributes:
        drawn_from: Sources in order; a step without one of these pictures cannot be drawn.
        added: Further sources in order; one that has no picture is left out.
        before: What the critic compares with, where that is not the first of `drawn_from`.
        again: Steps whose changes are asked for once more, in order, before the step's own.
        depth: How many edits lie between this picture and one that was drawn or given: 0 for a new one.
        root: The source the chain of edits began with; `None` for what is no edit.
    """

    drawn_from: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    before: str | None = None
    again: tuple[int, ...] = ()
    depth: int = 0
    root: str | None = None

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps that must have their outcome first, each once."""
        named = (*self.drawn_from, *self.added, *((self.before,) if self.before else ()))
        found = [number for kind, number in map(parse_source, named) if kind == "step"]
        # Of those that are asked for again, the prompts are needed.
        return tuple(dict.fromkeys((*found, *self.again)))

    @property
    def shown(self) -> tuple[str, ...]:
        """All sources in the order the backend is given them."""
        return (*self.drawn_from, *self.added)


def basis(
    step: Step, steps: Sequence[Step], policy: Policy = Policy(), *, inputs: int = 0, sheet: int | None = None
) -> Basis:
    """What a step is drawn from under a policy. Depends on no step after it, so a plan may still be written.

    Args:
        step: The step.
        steps: The plan's steps, at least all before this one.
        policy: The policy.
        inputs: How many pictures the request has.
        sheet: Index of the sheet among the run's steps, where it shows a thing of this step.

    Example:
        >>> plan = [Step(index=0, op="generate", instruction="A pot.", prompt="a pot")]
        >>> plan += [
        ...     Step(index=n, op="edit", instruction="One more.", prompt="one more", sources=(f"step:{n - 1}",))
        ...     for n in (1, 2, 3)
        ... ]
        >>> basis(plan[3], plan).drawn_from
        ('step:2',)
        >>> again = basis(plan[3], plan, Policy("first"))
        >>> again.drawn_from, again.before, again.again
        (('step:0',), 'step:2', (1, 2))
    """
    if step.op == "text":
        return Basis()
    own = _own(step, steps, policy)
    edits, root = _chain(step, steps, policy)
    drawn_from, before, again = own, None, ()
    if _starts_again(len(edits), policy):
        assert root is not None
        drawn_from, before, again = tuple(dict.fromkeys((root, *own[1:]))), own[0], edits[:-1]
    earlier = _pictures(steps, step.index)
    further: list[str] = []
    if policy.anchor_inputs or policy.references == "all":
        further += [f"input:{number}" for number in range(inputs)]
    if sheet is not None and sheet != step.index:
        further.append(f"step:{sheet}")
    if policy.references == "first" and not edits:
        further += earlier[:1]
    if policy.references == "all":
        further += reversed(earlier)
    added = tuple(source for source in dict.fromkeys(further) if source not in drawn_from)
    depth = _depth(len(edits), policy)
    return Basis(drawn_from, added, before, again, depth, root)


def _pictures(steps: Sequence[Step], index: int) -> list[str]:
    return [f"step:{other.index}" for other in steps[:index] if other.op != "text"]


def _own(step: Step, steps: Sequence[Step], policy: Policy) -> tuple[str, ...]:
    """What the step is drawn from before anything is anchored or added."""
    if policy.references != "previous":
        return step.sources
    nearest = _pictures(steps, step.index)[-1:]
    given = [source for source in step.sources if source.startswith("input:")]
    return tuple(dict.fromkeys((*nearest, *given))) if nearest else step.sources


def _chain(step: Step, steps: Sequence[Step], policy: Policy) -> tuple[tuple[int, ...], str | None]:
    """The edits from a new picture to this step, it included, and the source they began with."""
    edits: list[int] = []
    root: str | None = None
    current: Step | None = step
    while current is not None:
        own = _own(current, steps, policy)
        if not own or (current.op != "edit" and policy.references != "previous"):
            break
        edits.append(current.index)
        root = own[0]
        kind, number = parse_source(root)
        current = steps[number] if kind == "step" else None
    return tuple(reversed(edits)), root


def _starts_again(edits: int, policy: Policy) -> bool:
    """Whether the n-th edit of a chain is drawn from where the chain began; the first always is, anyway."""
    if edits < 2:
        return False
    every = 1 if policy.references == "first" else policy.reanchor_every
    return every is not None and edits % every == 0


def _depth(edits: int, policy: Policy) -> int:
    """How many edits the n-th of a chain really has behind it, itself included."""
    depth = 0
    for number in range(1, edits + 1):
        depth = 1 if _starts_again(number, policy) else depth + 1
    return depth


# --- from sources to pictures -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chosen:
    """The pictures of one attempt: `references` for the backend, `before` for the critic where it is another.

    `left_out` names, in words, what the backend is not given because it takes fewer.
    """

    references: tuple[ArtifactRef, ...] = ()
    before: ArtifactRef | None = None
    left_out: str | None = None


def choose(
    found: Basis, pictures: Callable[[str], ArtifactRef | None], *, at_most: int | None = None, first_number: int = 1
) -> Chosen | None:
    """The pictures of an attempt.

    Args:
        found: What the step is drawn from.
        pictures: The picture of a source; `None` where there is none.
        at_most: How many references the backend takes; the first that the plan names is never left out,
            so that a backend that takes none says so.
        first_number: What the first step is called.

    Returns:
        The pictures, or `None` while one that is needed is not there.
    """
    needed = [pictures(source) for source in found.drawn_from]
    before = pictures(found.before) if found.before else None
    if any(picture is None for picture in needed) or (found.before and before is None):
        return None
    named = [(source, picture) for source in found.shown if (picture := pictures(source)) is not None]
    left_out: str | None = None
    if at_most is not None and len(named) > (most := max(at_most, 1 if found.drawn_from else 0)):
        gone = ", ".join(_in_words(source, first_number) for source, _ in named[most:])
        takes = "no reference" if not at_most else f"{at_most} reference{'s' if at_most > 1 else ''}"
        left_out = f"The backend takes {takes}; of {len(named)}, it was not given: {gone}."
        named = named[:most]
    references = tuple(picture for _, picture in named)
    return Chosen(references, before if before not in references[:1] else None, left_out)


def _in_words(source: str, first_number: int) -> str:
    kind, number = parse_source(source)
    return f"picture {number + 1} of the request" if kind == "input" else f"the picture of step {number + first_number}"


# --- the sheet --------------------------------------------------------------------------------


def sheet_step(index: int, style: StyleGuide) -> Step | None:
    """The step that draws the sheet of characters; `None` where the style guide names none.

    Args:
        index: Its place: after the last of the plan, because no step of the plan changes its number for it.
        style: The style guide.
    """
    characters = style.characters.strip().rstrip(".")
    if not characters:
        return None
    look = f", in this look: {style.look.strip().rstrip('.')}" if style.look.strip() else ""
    said = f"Each of these by itself, whole, beside one another on a plain ground, for reference{look}: {characters}."
    return Step(index=index, op="generate", title="Reference sheet", instruction=said, prompt=said)


def shows_a_character(step: Step, style: StyleGuide, steps: Sequence[Step] = ()) -> bool:
    """Whether a step's picture shows one of the style guide's characters, as far as its words tell.

    Characters are what stands between semicolons, commas and line breaks; a step shows one when its
    instruction or prompt has the word it is named by (anywhere, in scripts that write no spaces), or when
    it is an edit of a step that shows one.
    Where no name is found at all, every step does.

    Args:
        step: The step.
        style: The style guide.
        steps: The steps before it.

    Example:
        >>> style = StyleGuide(characters="Mira: a girl with red boots; the old kettle")
        >>> step = Step(index=0, op="generate", instruction="Mira waits.", prompt="A girl waits at a bus stop.")
        >>> shows_a_character(step, style)
        True
        >>> shows_a_character(step.model_copy(update={"instruction": "A bus.", "prompt": "An empty bus."}), style)
        False
    """
    names = _names(style.characters)
    if not names:
        return True
    current: Step | None = step
    while current is not None:
        words = f"{current.instruction or ''} {current.prompt or ''}".casefold()
        spoken = set(_WORD.findall(words))
        if spoken & names or any(f"{name}{ending}" in spoken for name in names for ending in ("s", "es")):
            return True
        # Where no spaces are written between words, a name stands anywhere.
        if any(name in words for name in names if _UNSPACED.search(name)):
            return True
        kind, number = parse_source(current.sources[0]) if current.op == "edit" else ("input", 0)
        current = steps[number] if kind == "step" and number < len(steps) else None
    return False


_WORD = re.compile(r"\w+")
#: Scripts without spaces between words: Han, kana, Thai, Lao, Myanmar, Khmer.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_HEAD = re.compile(r"\s[-–—]\s|[:：（]|\(| with | in | of | who | that | is | are ")


def _names(characters: str) -> set[str]:
    """The last word of what each character is called: `the old kettle` is named by `kettle`."""
    names: set[str] = set()
    for entry in re.split(r"[;,\n；，、。]| and ", characters):
        words = _WORD.findall(_HEAD.split(entry, maxsplit=1)[0].casefold())
        if words and (len(words[-1]) > 1 or _UNSPACED.search(words[-1])):
            names.add(words[-1])
    return names
