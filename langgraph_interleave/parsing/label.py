"""Step labels that models put in front of titles and captions: "Step 3:", "3.", "第3步：".

The document numbers its steps itself, so a label would show twice, or a wrong number once.
"""

from __future__ import annotations

import re

_STEP = (
    "step|schritt|[ée]tape|paso|passo|passaggio|pas|stap|steg|trin|krok|шаг|крок|korak|ad[ıi]m|vaihe|"
    "b[ưu][ớo]c|langkah|ステップ|手順|단계|步骤|步驟|الخطوة|चरण"
)
_NUMBER = (
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[ivx]{1,5}|[一二三四五六七八九十]{1,3})"
)
_OF = r"(?:\s*(?:/|of|von|de|di|из)\s*\d{1,3})?"
#: What ends a label: punctuation (a dash only with a gap), a line break, or the end of the text.
_ENDS = r"(?:\s*[:：.．、)）\]】,，;；–—]+(?!\d)\s*|\s*-+\s+|\s*\n\s*|\s*\Z)"
_NAMED = re.compile(
    rf"[\[(【（]?(?:(?:{_STEP})\s*(?:no\.?|nr\.?|n[º°]|\#)?\s*{_NUMBER}{_OF}{_ENDS}"
    rf"|第\s*{_NUMBER}\s*(?:步骤|步驟|步|歩|ステップ)(?:{_ENDS}|\s+)"
    rf"|(?:步骤|步驟|ステップ|手順)\s*{_NUMBER}(?:{_ENDS}|\s+)"
    rf"|\d{{1,3}}\s*단계(?:{_ENDS}|\s+))",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"[\[(（【]?\#?(?P<number>\d{1,3})(?:\s*[.．)）\]】、](?![\d.])|(?P<weak>(?:\s*[:：]|\s+[-–—]+(?=\s))(?!\s*\d)))\s*"
)
_EMPHASIS = re.compile(r"(?:\#{1,6}\s+)?(\*{1,3}|_{1,3})?\s*")
_CLOSING = re.compile(r"(?:\*{1,3}|_{1,3})\s*[:：.]?\s*")


def without_label(text: str, number: int | None = None, place: int | None = None) -> str:
    """Remove step labels from the start of a title or caption.

    A bare number is a label only where it can be one: "3." and "3)" must agree with `number`, if the
    model gave one ("1. FC Köln" in step 4 stays); "3:" and "3 -" must agree with `number` or `place`.

    Args:
        text: The title or caption.
        number: The number the model gave the step.
        place: The step's place in the plan, from 1.

    Returns:
        The rest, unchanged where there is no label; empty when a label was all there was.

    Example:
        >>> [without_label(t) for t in ("Step 3: Water it", "3) Water it", "第3步：浇水", "Step ladder", "7-Up cake")]
        ['Water it', 'Water it', '浇水', 'Step ladder', '7-Up cake']
    """
    emphasis = _EMPHASIS.match(text)
    marker = emphasis[1] if emphasis else None
    start = pos = emphasis.end() if emphasis else 0
    while label := _NAMED.match(text, pos) or _bare_label(text, pos, number, place):
        pos = label.end()
    if pos == start:
        return text
    if marker:
        if closing := _CLOSING.match(text, pos):
            return text[closing.end() :]
        return text[pos:].removesuffix(marker)
    return text[pos:]


def _bare_label(text: str, pos: int, number: int | None, place: int | None) -> re.Match[str] | None:
    label = _BARE.match(text, pos)
    if label is None or label.end() == len(text):
        return None
    value = int(label["number"])
    agrees = value in (number, place) if label["weak"] else number is None or value in (number, place)
    return label if agrees else None
