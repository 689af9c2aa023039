"""Whether the words a step wants to be read in its picture are there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from langgraph_interleave.types import CheckResult, ImageBytes, Step

Reader = Callable[[ImageBytes], str]

#: Words of a picture and words asked for are the same from this likeness on: readers take `l` for `1`.
_LIKE = 0.8
_QUOTED = re.compile(r"“([^”]{1,200})”|„([^“”]{1,200})[“”]|«([^»]{1,200})»|\"([^\"]{1,200})\"")
_WRITTEN = re.compile(
    r"\b(read|reads|reading|say|says|saying|label|labels|labell?ed|title|titled|text|word|words|caption|captioned|"
    r"write|writes|written|writing|lettering|letters|sign|heading|headline|inscription|spell|spells|spelling|"
    r"print|printed|marked)\W+(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
#: Letters and figures that readers take for one another.
_ALIKE = str.maketrans("0|1i5", "ollls")


class TextPresent:
    """A check: fails on a picture in which words that were asked for cannot be read.

    Asked for is what an instruction has in quotation marks shortly after a word of writing (`a sign that
    reads "Open"`); a quotation without one may be a title or a saying, and is not looked for. Case,
    punctuation and line breaks do not matter, and a fifth of the letters may be read wrongly. Not
    applicable without such words, and without a reader: this package reads no letters itself.

    Args:
        reader: Reads all text in a picture, such as `lambda picture: pytesseract.image_to_string(
            PIL.Image.open(io.BytesIO(picture.data)))`. Runs in a worker thread.

    Example:
        >>> from langgraph_interleave.testing import noise_card
        >>> step = Step(index=0, op="generate", instruction='A shop; its sign reads "Open".', prompt="a shop")
        >>> check = TextPresent(reader=lambda picture: "CLOSED")
        >>> check.check(step, None, noise_card("a shop"), ()).reason
        'the words “Open” cannot be read in the picture; what can be read is “CLOSED”'
    """

    name = "text"

    def __init__(self, reader: Reader | None = None) -> None:
        self.reader = reader

    def check(
        self, step: Step, before: ImageBytes | None, after: ImageBytes, references: Sequence[ImageBytes]
    ) -> CheckResult:
        """Read `after` and look for what the instruction wants to be written in it."""
        wanted = asked_for(step.instruction or "")
        if not wanted or self.reader is None:
            reason = "Nothing here reads text; make the check with a reader." if wanted else ""
            return CheckResult(name=self.name, passed=None, reason=reason)
        read = " ".join(self.reader(after).split())
        missing = [words for words in wanted if not can_be_read(words, read)]
        if not missing:
            return CheckResult(name=self.name, passed=True)
        named = ", ".join(f"“{words}”" for words in missing)
        seen = f"what can be read is “{read[:200]}”" if read else "nothing can be read in it"
        return CheckResult(
            name=self.name, passed=False, reason=f"the words {named} cannot be read in the picture; {seen}"
        )


def asked_for(instruction: str) -> tuple[str, ...]:
    """The words an instruction wants to be read in the picture, in order.

    Example:
        >>> asked_for('A poster titled “Beans”, in the manner of "The Starry Night".')
        ('Beans',)
    """
    found: list[str] = []
    for match in _QUOTED.finditer(instruction):
        words = next(group for group in match.groups() if group is not None)
        if _WRITTEN.search(instruction[: match.start()]) and _WORD.search(words):
            found.append(" ".join(words.split()))
    return tuple(dict.fromkeys(found))


def can_be_read(words: str, read: str) -> bool:
    r"""Whether words are among those that were read, up to letters misread.

    Example:
        >>> can_be_read("Day 1: sow", "DAY l\nS0W it")
        True
    """
    wanted, there = (_WORD.findall(text.casefold().translate(_ALIKE)) for text in (words, read))
    target = " ".join(wanted)
    for size in (len(wanted), len(wanted) + 1, max(1, len(wanted) - 1)):
        for start in range(max(1, len(there) - size + 1)):
            if SequenceMatcher(None, target, " ".join(there[start : start + size]), autojunk=False).ratio() >= _LIKE:
                return True
    return False
