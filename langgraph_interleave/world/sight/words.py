"""What the critic says: findings as sentences, and as scores."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_interleave.types import Scores
from langgraph_interleave.world.alternatives import shown_color
from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.grammar.phrases import BACKDROPS, CELLS, listed
from langgraph_interleave.world.grammar.prose import phrase, place
from langgraph_interleave.world.grammar.tokens import quote
from langgraph_interleave.world.naming import be, capital, named, the
from langgraph_interleave.world.palette import COLORS
from langgraph_interleave.world.scene import Scene, Thing
from langgraph_interleave.world.sight.guesses import Finding, What

#: Findings that are told; a picture with more is told about in general.
_TOLD = 2
#: What each kind of finding costs, of ten points.
_COSTS: dict[What, float] = {
    "missing": 4.5, "other": 4.5, "photo": 4.5, "swap": 4.0, "count": 3.5, "color": 3.5, "state": 3.5, "place": 3.0,
    "backdrop": 3.0, "words": 3.0, "size": 2.0, "extra": 2.0, "unclear": 2.0,
}  # fmt: skip


def reasoning(
    findings: Sequence[Finding],
    target: Scene,
    *,
    checks: Sequence[str] = (),
    earlier: str = "",
    remarks: Sequence[str] = (),
    missed: Sequence[str] = (),
) -> str:
    """One to three sentences: what is wrong, or that nothing is; and what was said by somebody else.

    Args:
        findings: What the critic sees to be wrong.
        target: What the picture should show.
        checks: Why checks failed.
        earlier: What was said of the attempt before; what is still wrong is called so.
        remarks: What reviewers want otherwise.
        missed: What of that is not understood.

    Example:
        >>> balls = Thing(id="ball", kind="ball", color="red", count=3)
        >>> two = balls.model_copy(update={"count": 2})
        >>> reasoning([Finding("count", balls, two)], Scene(things=(balls,)))
        'There are two red balls; the step asks for three.'
    """
    told = [sentence(finding, target) for finding in findings[:_TOLD]]
    told = [f"Still: {words}" if words in earlier else words for words in told]
    if len(findings) > _TOLD:
        told.append("More than that is not as it should be.")
    elif not findings and not checks and not remarks:
        told.append(_praise(target))
    told.extend(f"A check failed: {reason.rstrip('.')}." for reason in checks)
    told = told[:3]
    wishes = [f"The reviewer says: {_stopped(words.strip())}" for words in remarks if words.strip()]
    if missed:
        quoted = listed([quote(words) for words in missed])
        wishes.append(f"What {quoted} asks of the picture is not understood, so nothing is changed for it.")
    return " ".join((*wishes, *told))


def sentence(finding: Finding, target: Scene) -> str:
    """One finding as a sentence."""
    thing, seen = finding.thing, finding.seen
    if thing is None:
        return _of_the_picture(finding, target)
    if thing.kind == "photo":
        return "The given photo is missing."
    is_, kept = be(thing.count), finding.kept
    match finding.what:
        case "missing":
            words = (
                f"{the(thing)} {is_} gone; {_it(thing)} should have stayed" if kept else f"{the(thing)} {is_} missing"
            )
        case "count" if seen is not None:
            wanted = "there should still be" if kept else "the step asks for"
            words = f"there {be(seen.count)} {named(seen)}; {wanted} {in_words(thing.count)}"
        case "color" if seen is not None:
            wanted = thing.color or _own(thing)
            still = "stayed" if kept else "be"
            words = f"{the(thing, color=False)} {is_} {seen.color}; {_it(thing)} should {_have(still)} {wanted}"
        case "swap" if finding.second is not None:
            other = finding.second
            words = (
                f"the colours are swapped: {the(thing, color=False)} should be {thing.color} and "
                f"{the(other, color=False)} {other.color}"
            )
        case "place" if seen is not None:
            where = place(seen, target) or "elsewhere"
            wanted = place(thing, target)
            if kept or not wanted:
                words = f"{the(thing)} moved and {is_} now {where}"
            else:
                words = f"{the(thing)} {is_} {where}; the step asks for {_it(thing, accusative=True)} {wanted}"
        case "state" if seen is not None:
            wanted = f"{_it(thing)} should still be" if kept else "the step asks for"
            words = f"there {is_} {_in_state(seen)}; {wanted} {_in_state(thing)}"
        case "size" if seen is not None:
            larger = _SIZES.index(seen.size) > _SIZES.index(thing.size)
            before = " than before" if kept else " than the step asks for"
            words = f"{the(thing)} {is_} {'larger' if larger else 'smaller'}{before}"
        case _:
            words = f"{the(thing)} {is_} not to be seen as {_it(thing)} should be; something else is there"
    return f"{capital(words)}."


def scores(findings: Sequence[Finding], rest: float, *, before: bool) -> Scores:
    """Findings as scores.

    Args:
        findings: What is wrong.
        rest: Part of the picture that was not understood, in ten thousandths of full contrast.
        before: Whether there is a picture before, whose things must stay.
    """
    if any(finding.what in ("foreign", "blank", "broken", "unchanged") for finding in findings):
        return Scores(semantics=0.0, quality=1.0, consistency=0.0 if before else None)
    changed = [finding for finding in findings if finding.kept or finding.what == "extra"]
    asked = sum(_COSTS.get(finding.what, 2.0) for finding in findings if not finding.kept)
    lost = sum(_COSTS.get(finding.what, 2.0) for finding in changed)
    return Scores(
        semantics=round(max(0.0, 10 - asked), 1),
        quality=round(max(2.0, 9.5 - min(6.0, rest / 60)), 1),
        consistency=round(max(0.0, 10 - lost), 1) if before else None,
    )


def _stopped(words: str) -> str:
    return words if words[-1] in ".!?。！？…" else f"{words}."


_SIZES = ("small", "medium", "large")


def _of_the_picture(finding: Finding, target: Scene) -> str:
    match finding.what:
        case "extra":
            where = CELLS[finding.cell] if finding.cell else "somewhere"
            return f"There is something {where} that nobody asked for."
        case "backdrop":
            seen = BACKDROPS.get(finding.backdrop or "", "elsewhere")
            wanted = BACKDROPS.get(target.backdrop, target.backdrop)
            return f"The picture is set {seen}; it should {'have stayed' if finding.kept else 'be'} {wanted}."
        case "words":
            return f"The words {quote(finding.text or '')} are missing, or not written as they should be."
        case "unchanged":
            return "Nothing has changed from the picture before."
        case "blank":
            return "The picture is blank; nothing of what the step asks for is there."
        case "broken":
            return "The picture cannot be opened, so nothing of what the step asks for can be seen."
        case "foreign":
            return "This does not show the scene that the step asks for: hardly anything in it can be recognised."
        case _:
            where = CELLS[finding.cell] if finding.cell else "somewhere"
            return f"Something {where} does not look as it should."


def _praise(target: Scene) -> str:
    things = [the(thing) for thing in target.things[:4]]
    if not things:
        return "The picture shows what the step asks for."
    if len(target.things) > len(things):
        return "Everything the step asks for is there, where and as it should be."
    return f"Everything is as the step asks: {listed(things)}."


def _in_state(thing: Thing) -> str:
    """The thing in words with its state and nothing else: "a lit candle"; without one, in its usual state."""
    words = phrase(thing.model_copy(update={"size": "medium", "color": None, "label": None}), placed=False)
    return words if thing.state else f"{words} in {'its' if thing.count == 1 else 'their'} usual state"


def _own(thing: Thing) -> str:
    color = shown_color(thing)
    return color if color in COLORS else "of its usual colour" if thing.count == 1 else "of their usual colour"


def _it(thing: Thing, *, accusative: bool = False) -> str:
    return "it" if thing.count == 1 else "them" if accusative else "they"


def _have(verb: str) -> str:
    return "have stayed" if verb == "stayed" else verb
