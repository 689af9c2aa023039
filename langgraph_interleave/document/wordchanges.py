"""What changed from one prompt to the next, word by word."""

from __future__ import annotations

import difflib
import re
from typing import Literal, NamedTuple

# Chinese and Japanese have no spaces between words: each character counts as one.
_TOKENS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|[^\w\s]")
_MOST = 1500
#: Share of the words that must have stayed.
_LIKE_ENOUGH = 0.25


class Piece(NamedTuple):
    """Some words that stayed, came, or went."""

    kind: Literal["same", "new", "gone"]
    text: str


def word_changes(before: str, after: str) -> list[Piece]:
    """Compare two prompts.

    Returns:
        Pieces in reading order; all but the `gone` ones make up `after`. One `same` piece when the
        two are too different, or too long, for a comparison to help the reader.

    Example:
        >>> [tuple(piece) for piece in word_changes("a red pot", "a blue pot")]
        [('same', 'a '), ('gone', 'red'), ('new', 'blue'), ('same', ' pot')]
    """
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    if len(old) > _MOST or len(new) > _MOST:
        return [Piece("same", after)]
    operations = difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    stayed = [token for tag, _, _, b0, b1 in operations if tag == "equal" for token in new[b0:b1]]
    if _words(stayed) < _LIKE_ENOUGH * max(_words(old), _words(new)):
        return [Piece("same", after)]
    pieces: list[Piece] = []
    for tag, a0, a1, b0, b1 in operations:
        if tag == "equal":
            pieces.append(Piece("same", "".join(new[b0:b1])))
            continue
        if a1 > a0:
            pieces.append(Piece("gone", "".join(old[a0:a1])))
        if b1 > b0:
            pieces.append(Piece("new", "".join(new[b0:b1])))
    return pieces


def _words(tokens: list[str]) -> int:
    return sum(not token.isspace() for token in tokens)
