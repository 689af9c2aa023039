"""Choosing the answer: the last complete, readable object of the wanted shape.

Several answers in one text are drafts and their correction, so the last that can be read counts.
What the text ends in the middle of is not complete and is never completed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from langgraph_interleave.parsing.data import Json, cleaned, plain, storable
from langgraph_interleave.parsing.repair import CannotRepair, mend
from langgraph_interleave.parsing.tagged import Candidate, Scanner

_MAX_MENDS = 2
#: Characters of an answer that are quoted where there is nothing else to say of it.
_QUOTED = 80
#: Where a new answer plainly begins, even when an unclosed quote before it swallowed the tag.
_RESTART = re.compile(r"</answer>\s*(?=<(?:answer|think))|</think(?:ing)?>", re.IGNORECASE)
_END = re.compile(r"</answer>|```", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GAP = re.compile(r"[\s\-]+")


class Unreadable(Exception):
    """No answer could be read. `truncated`: the text was cut off."""

    def __init__(self, message: str, *, truncated: bool = False) -> None:
        super().__init__(message)
        self.truncated = truncated

    def told(self, noun: str) -> str:
        """A sentence for people: what there is not, and why."""
        return f"No {noun}: {self}."


class Unanswered(Unreadable):
    """There is nothing in the text that could be the answer; its message quotes what there is."""

    def told(self, noun: str) -> str:
        """The message itself, which says all of it."""
        return f"{self}."


@dataclass(frozen=True, slots=True)
class Wanted:
    """What kind of answer is looked for.

    `accepts` tells whether a value has the shape; `knows` whether it knows every field of it, which
    a mended answer must pass; `noun` names it in messages ("a plan with a list of steps"), `what` in a
    word ("plan").
    """

    what: str
    noun: str
    accepts: Callable[[Json], bool]
    knows: Callable[[Json], bool]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer found.

    `thoughts` are stretches of reasoning with their places, `start` is the answer's own place.
    `repairs` say what was mended or tolerated; `skipped` that a later answer could not be read. `others` are the
    further objects of the shape outside closed thinking, quoted or not, and `None` for each that cannot be read and
    begins before this one, or around it.
    """

    value: Json
    start: int
    thoughts: tuple[tuple[int, str], ...]
    repairs: tuple[str, ...] = ()
    skipped: bool = False
    others: tuple[Json, ...] = ()


def find_answer(text: str, wanted: Wanted) -> Answer:
    """Find the answer in a model's text.

    Raises:
        Unreadable: There is none that is complete and has the shape.
    """
    scanner = _scanned(text)
    thoughts = _thoughts(scanner)
    if scanner.thinking:
        raise Unreadable("the reasoning is not closed, so there is no answer yet", truncated=True)
    pool = _countable(scanner)
    if (found := _last_complete(pool, wanted)) is not None:
        skipped = any(later.fault for later in pool if later.start > found.start)
        return replace(_answer(found, thoughts, skipped=skipped), others=_others(scanner, found, wanted))
    if (restarted := _restarted(text, pool, wanted)) is not None:
        return Answer(
            restarted.value, restarted.start, (*thoughts, *restarted.thoughts), restarted.repairs, restarted.skipped,
            (None,),
        )  # fmt: skip
    cut = False
    for broken in [one for one in reversed(pool) if not one.nested and _may_be_mended(one, text)][:_MAX_MENDS]:
        try:
            value, repairs = mend(text[broken.start : broken.end])
        except CannotRepair as error:
            cut |= error.cut
            continue
        if wanted.accepts(value) and wanted.knows(value):
            return Answer(value, broken.start, thoughts, repairs)
    raise _why_not(text, scanner, pool, wanted, cut)


def structured_answer(value: object) -> Answer:
    """Take structured output as the answer.

    Raises:
        Unreadable: It is no object, or not plain data.
    """
    if not isinstance(value, Mapping):
        raise Unreadable(f"it is {type(value).__name__}, neither text nor an object")
    try:
        return Answer(plain(value), 0, ())
    except ValueError as error:
        raise Unreadable(f"the structured output cannot be read: {error}") from error


def fields(value: Mapping[str, Json]) -> dict[str, Json]:
    """Spell field names one way: `Step Name`, `step-name` and `stepName` are `step_name`.

    Raises:
        Unreadable: Two spellings of one name carry different values.
    """
    spelled: dict[str, Json] = {}
    for key, inner in value.items():
        name = spelling(key)
        if name in spelled and spelled[name] != inner:
            raise Unreadable(f"the field {name[:40]!r} is given twice, with different values")
        spelled[name] = inner
    return spelled


def spelling(key: str) -> str:
    """One spelling of a field name."""
    return _GAP.sub("_", _CAMEL.sub("_", key.strip())).lower()


def place(text: str, offset: int) -> str:
    """Name a place in a text for a message."""
    return f"line {text.count(chr(10), 0, offset) + 1}, column {offset - text.rfind(chr(10), 0, offset)}"


def reasoning_of(thoughts: tuple[tuple[int, str], ...]) -> str:
    """All stretches in order, empty ones left out, a blank line between."""
    return "\n\n".join(text for _, text in sorted(thoughts, key=lambda thought: thought[0]) if text)


def _scanned(text: str) -> Scanner:
    scanner = Scanner()
    scanner.feed(text, final=True)
    return scanner


def _thoughts(scanner: Scanner, shift: int = 0) -> tuple[tuple[int, str], ...]:
    return tuple(
        (thought.start + shift, cleaned(storable("".join(thought.parts))).strip()) for thought in scanner.thoughts
    )


def _countable(scanner: Scanner) -> list[Candidate]:
    """The candidates that may be the answer at all (rules 3 and 4 of `tagged`)."""
    if scanner.answers:
        return [one for one in scanner.candidates if one.tagged and not one.quoted]
    quoted = [one for one in scanner.candidates if one.quoted]
    if quoted and scanner.fences == 1 and not scanner.remarks:
        return quoted
    return [one for one in scanner.candidates if not one.quoted]


def _last_complete(pool: list[Candidate], wanted: Wanted) -> Candidate | None:
    for one in reversed(pool):
        # A list inside a broken object may be its steps without its style guide: not an answer.
        if one.fault is None and not (one.nested and isinstance(one.value, list)) and wanted.accepts(one.value):
            return one
    return None


def _others(scanner: Scanner, found: Candidate, wanted: Wanted) -> tuple[Json, ...]:
    """What else may be meant as the answer."""
    others = [one for one in (*scanner.thought_of, *scanner.candidates) if one is not found]
    readable = [one.value for one in others if one.fault is None and wanted.accepts(one.value)]
    return (*readable, *(None for one in others if one.fault is not None and one.start < found.start))


def _answer(found: Candidate, thoughts: tuple[tuple[int, str], ...], *, skipped: bool) -> Answer:
    return Answer(found.value, found.start, thoughts, found.notes, skipped)


def _restarted(text: str, pool: list[Candidate], wanted: Wanted) -> Answer | None:
    """Look once more behind the last plain start of a new answer, if an unreadable one hides it."""
    broken = [one.start for one in pool if one.fault is not None]
    starts = [mark.end() for mark in _RESTART.finditer(text, broken[0])] if broken else []
    if not starts:
        return None
    scanner = _scanned(text[starts[-1] :])
    found = None if scanner.thinking else _last_complete(_countable(scanner), wanted)
    if found is None:
        return None
    found.start += starts[-1]
    return _answer(found, _thoughts(scanner, starts[-1]), skipped=False)


def _may_be_mended(one: Candidate, text: str) -> bool:
    if one.fault is None or one.fault.kind == "refused":
        return False
    if one.fault.kind == "cut":
        # An unclosed quote may have swallowed the end of the room; without any end it was cut off.
        ends = [mark.start() for mark in _END.finditer(text, one.start)]
        if not ends:
            return False
        one.end = ends[-1]
    return True


def _why_not(text: str, scanner: Scanner, pool: list[Candidate], wanted: Wanted, cut: bool) -> Unreadable:
    faults = [(one.start + one.fault.at, one.fault) for one in pool if one.fault is not None and not one.nested]
    if faults:
        at, fault = faults[-1]
        end = ", and its end is missing" if cut and fault.kind != "cut" else ""
        return Unreadable(f"{fault.message} ({place(text, at)}){end}", truncated=cut or fault.kind == "cut")
    if pool:
        last = pool[-1].value
        names = ", ".join(list(last)[:8])[:200] if isinstance(last, dict) else "a list"
        return Unreadable(f"there is an object ({names}), but not {wanted.noun}")
    if not text.strip():
        return Unreadable("the text is empty")
    cut = scanner.answering or text.rstrip().endswith(("{", "["))
    quoted = " ".join(cleaned(storable(text)).split())
    quoted = quoted if len(quoted) <= _QUOTED else f"{quoted[: _QUOTED - 1]}…"
    return Unanswered(f"The model answered no {wanted.what}: {quoted!r}", truncated=cut)
