"""Text from models and users made safe to print, and the few forms the command line prints it in."""

from __future__ import annotations

import json
import re
import unicodedata

#: Escape sequences of terminals: CSI, OSC (with either end), and two-character ones.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d).*?(?:\x07|\x1b\\|\x9c|$)|\x1b[ -/]*[0-~]", re.DOTALL
)
#: Windows refuses these as names of files.
_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})
_SLUG_LENGTH = 48
#: Shorter beginnings than this many words are shown again.
_SAME_WORDS = 4


def clean(text: str) -> str:
    r"""Drop what a terminal would obey rather than show: escape sequences, controls, text direction.

    Line breaks stay; tabs become spaces.

    Example:
        >>> clean("a\x1b[31mred\x1b[0m\tb\x07")
        'ared b'
    """
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\t", " ")
    return "".join(char for char in text if char == "\n" or not _obeyed(char))


def one_line(text: str, width: int | None = None) -> str:
    r"""As `clean`, on one line, cut to `width` characters with an ellipsis.

    Example:
        >>> one_line("a long\n  story", width=8)
        'a long…'
    """
    line = " ".join(clean(text).split())
    if width is None or len(line) <= width:
        return line
    return line[: max(width - 1, 0)].rstrip() + "…"


def json_line(value: object) -> str:
    r"""One JSON text on one line, lossless, with every character a terminal would obey written as an escape.

    Example:
        >>> json_line({"text": "豆\x9b31m"})
        '{"text": "豆\\u009b31m"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # Outside strings JSON is ASCII, so only characters within strings are touched.
    return "".join(_escaped(char) if _obeyed(char) else char for char in text)


def slug(text: str) -> str:
    """A name for a folder, from the words of a request; in any script.

    Example:
        >>> slug("How to plant a bean, in 5 steps!")
        'how-to-plant-a-bean-in-5-steps'
    """
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).lower())
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word[:_SLUG_LENGTH]
        if len(longer) > _SLUG_LENGTH:
            break
        name = longer
    return name if name and name not in _RESERVED else f"document-{name}".rstrip("-")


def news(before: str, after: str) -> str:
    """What a rewritten text adds: without the words it begins with as before.

    Example:
        >>> news("A pot of soil on a table.", "A pot of soil on a table. Make sure: one pot.")
        '… Make sure: one pot.'
    """
    old, new = before.split(), after.split()
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return f"… {' '.join(new[same:])}" if same >= _SAME_WORDS and new[same:] else after


def count(number: int, noun: str) -> str:
    """A number with its noun.

    Example:
        >>> count(1, "step"), count(2, "step")
        ('1 step', '2 steps')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _obeyed(char: str) -> bool:
    # Cc: controls; Cs: lone surrogates, which no stream can encode; Zl and Zp: line breaks; Cf with
    # a direction: they would turn the rest of the line around.
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in (
        "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}"
