"""Remarks: what a critic says of the parts of a picture, as sentences and as scores."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_interleave.types import Scores

from langgraph_interleave_miniature.captions import place
from langgraph_interleave_miniature.judging import Part
from langgraph_interleave_miniature.naming import listed
from langgraph_interleave_miniature.parsing import Mention, Said
from langgraph_interleave_miniature.reading import Reading
from langgraph_interleave_miniature.words import BACKGROUND_WORDS, COLUMN_WORDS, ROW_WORDS

#: Findings that are told; a picture with more is told about in general.
_TOLD = 2
#: What is less likely right than this is called unsure.
DOUBT = 0.75


def sentence(part: Part, reading: Reading) -> str:
    """What is wrong with a part, as a sentence.

    Example:
        >>> from langgraph_interleave_miniature.reading import certain
        >>> from langgraph_interleave_miniature.scenes import Scene
        >>> sentence(Part("missing", 0.0, True, Mention("ball", "red", 0, 0)), certain(Scene("night")))
        'The red ball is missing; it should be at the top left.'
    """
    thing = part.thing
    if part.what == "background":
        wanted = "it should have stayed as it was" if part.kept else "that is not what was asked for"
        return f"The picture is {BACKGROUND_WORDS[str(part.seen)][0]}; {wanted}."
    if thing is None:
        return "There may be something nobody asked for."
    if not isinstance(thing, Mention):
        return f"There is {_a(f'{thing.color} {thing.kind}')} {place(thing.cell)} that nobody asked for."
    noun, where = f"the {_colored(thing)}", _where(thing)
    if part.what == "color":
        verb = "have stayed" if part.kept else "be"
        return f"The {thing.kind} is {part.seen}; it should {verb} {thing.color}."
    if part.what == "place":
        assert isinstance(part.seen, int)
        should = f"{'have stayed' if part.kept else 'be'} {where or 'elsewhere'}"
        return f"The {thing.kind} is {place(part.seen)}; it should {should}."
    stands = next((one for one in reading.scene.things if thing.cell == one.cell), None)
    if stands is not None:
        return f"There is {_a(f'{stands.color} {stands.kind}')} {where}, where {noun} should be."
    if part.kept:
        return f"{_capital(noun)} is gone; it should have stayed."
    return f"{_capital(noun)} is missing{f'; it should be {where}' if where else ''}."


def reasoning(parts: Sequence[Part], reading: Reading, wanted: Said, *, checks: Sequence[str] = ()) -> str:
    """What is wrong, or that nothing is, and of what the critic is not sure; one to four sentences."""
    findings = worst(parts)
    told = [sentence(part, reading) for part in findings[:_TOLD]]
    if len(findings) > _TOLD:
        told.append("More than that is not as it should be.")
    elif not findings:
        doubts = doubted(parts)
        seen = listed([f"the {_colored(thing)}" for thing in wanted.things]) or "nothing, as it should"
        told.append(f"I see {seen}." if wanted.things else f"I see {seen} be.")
        if doubts:
            told.append(f"I am not sure of {listed([_named(part) for part in doubts[:3]])}.")
        elif not checks:
            told.append("Everything is as the step asks.")
    told.extend(f"A check failed: {reason.rstrip('.')}." for reason in checks)
    return " ".join(told)


def worst(parts: Sequence[Part]) -> list[Part]:
    """The parts that are wrong, the worst first."""
    return sorted((part for part in parts if part.wrong), key=lambda part: -part.cost)


def doubted(parts: Sequence[Part]) -> list[Part]:
    """The parts that look right, and may well not be; the most doubtful first."""
    return sorted((part for part in parts if not part.wrong and part.right < DOUBT), key=lambda part: part.right)


def scores(parts: Sequence[Part], *, before: bool) -> Scores:
    """Expected costs as scores; how well something is drawn is not judged.

    Args:
        parts: Of the picture.
        before: Whether there is a picture before, of which something had to stay.
    """
    asked = sum(part.cost for part in parts if not part.kept and (part.what != "extra" or not before))
    lost = sum(part.cost for part in parts if part.kept or part.what == "extra")
    return Scores(
        semantics=round(max(0.0, 10 - asked), 1), consistency=round(max(0.0, 10 - lost), 1) if before else None
    )


def _named(part: Part) -> str:
    if part.what == "background":
        return "the background"
    if not isinstance(part.thing, Mention):
        return "there being nothing else"
    return f"the {part.thing.kind}'s color" if part.what == "color" else f"the {part.thing.kind}"


def _colored(thing: Mention) -> str:
    return f"{thing.color} {thing.kind}" if thing.color else thing.kind


def _where(thing: Mention) -> str:
    if thing.cell is not None:
        return place(thing.cell)
    row = f"at the {ROW_WORDS[thing.row][0]}" if thing.row is not None else ""
    column = f"on the {COLUMN_WORDS[thing.column][0]}" if thing.column is not None else ""
    return row or column


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
