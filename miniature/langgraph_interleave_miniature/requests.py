"""Requests: what a user asks for, taken apart into clauses, a number of pictures, and the wish for a story."""

from __future__ import annotations

import re
from dataclasses import dataclass

from langgraph_interleave_miniature.words import ADD_WORDS, RECOLOR_WORDS, REMOVE_WORDS

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNT = re.compile(
    rf"[,;.]?\s*(?:\b(?:in|with|as|using|over)\s+)?(?:exactly\s+)?\b(\d{{1,3}}|{'|'.join(_NUMBERS)})[\s-]+"
    r"(?:steps?|pictures?|images?|panels?|frames?|parts?|scenes?)\b",
    re.IGNORECASE,
)
_STORY = re.compile(
    r"\b(?:please\s+)?(?:tell\s+(?:me\s+|us\s+)?)?(?:an?\s+|the\s+)?(?:short\s+|little\s+|small\s+)?"
    r"(?:story|tale|adventures?|comic)\b(?:\s+(?:about|of|with|on))?",
    re.IGNORECASE,
)
_VERBS = "|".join((*ADD_WORDS, *REMOVE_WORDS, *RECOLOR_WORDS, "move", "shift"))
_BETWEEN = re.compile(
    r"(?:^|\s)\(?\d{1,3}[.)]\s+"  # a numbered list
    r"|\bstep\s+\d{1,3}\s*[:.]?"
    r"|\s*:\s*(?=first)|\s*[;\n→]+\s*|\s*->\s*|[.!?]+(?:\s+|$)"
    r"|(?:^|[\s,])(?:and\s+)?(?:then|after that|afterwards|finally|at last|later|next(?!\s+to\b))\b[,:]?"
    rf"|(?:,\s*(?:and\s+)?|\s+and\s+)(?=(?:{_VERBS})\b)",
    re.IGNORECASE,
)
_ORDER = r"first(?:ly)?|to begin with|start with|begin with|then|after that|afterwards|finally|at last|later"
_FIRST = re.compile(rf"^(?:(?:and\s+)?(?:{_ORDER}|next(?!\s+to\b))\b[\s,:]*)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for.

    Args:
        clauses: A picture, then what changes from one to the next, each in the user's words.
        count: Pictures asked for.
        story: More may be made up.
    """

    clauses: tuple[str, ...]
    count: int | None = None
    story: bool = False


def asked(text: str) -> Asked:
    """Takes a request apart.

    Example:
        >>> asked("A red ball in a meadow; then add a blue car, and make the ball green").clauses
        ('A red ball in a meadow', 'add a blue car', 'make the ball green')
        >>> asked("a story about a red car, 4 steps")
        Asked(clauses=('a red car',), count=4, story=True)
    """
    # One space and one line break at a time: long runs of either would take the patterns below quadratic time.
    text = "\n".join(filter(None, (" ".join(line.split()) for line in text.splitlines())))
    found = _COUNT.search(text)
    count = None
    if found is not None:
        word = found[1].lower()
        count = int(word) if word.isdecimal() else _NUMBERS.index(word) + 1
        text = text[: found.start()] + " " + text[found.end() :]
    story = _STORY.search(text) is not None
    text = _STORY.sub(" ", text, count=1)
    clauses = (_FIRST.sub("", part.strip(" \t,:-")) for part in _BETWEEN.split(text))
    return Asked(tuple(clause for clause in clauses if clause), count or None, story)
