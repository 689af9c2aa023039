"""Lettering: words in a picture, in any script.

Latin, Greek and Cyrillic text is lettered by hand in capitals, from our own strokes (`glyphs`), and
needs no font. Everything else is set in the fonts of the machine (`fonts`); characters that no font
has are drawn as empty boxes and named by `missing_glyphs`, so that the caller can say so.
"""

from __future__ import annotations

import random
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from xml.sax.saxutils import escape

from langgraph_interleave.world import fonts
from langgraph_interleave.world.drawing.outline import Point, bezier
from langgraph_interleave.world.glyphs import ACCENTS, ALIKE, GLYPHS, SPELLED

#: Height of a line of lettering over the height of its capitals.
LEADING = 1.62
_TRACKING = 2.1
_SPACE = 3.6
#: Thickness of the strokes, share of the height of a capital.
_THICK = 0.115
_MISSING = "□"
# More than this is never legible in a picture.
_MOST = 600


@dataclass(frozen=True, slots=True)
class Lettered:
    """Lines of text made to fit a box. Lengths are in the units of the box.

    `cap` is the height of a capital. `by_hand` tells strokes from fonts.
    """

    lines: tuple[str, ...]
    cap: float
    by_hand: bool

    @property
    def height(self) -> float:
        """From the top of the first line's capitals to the last line's foot."""
        return self.cap * (1 + LEADING * (len(self.lines) - 1))


def missing_glyphs(text: str) -> str:
    """The characters of a text that can neither be lettered nor set in any font of this machine.

    Args:
        text: Any text.

    Returns:
        Each such character once, in order; empty when all is well.

    Example:
        >>> missing_glyphs("Crème brûlée, 3 €")
        ''
    """
    return "".join(
        dict.fromkeys(c for c in _clean(text) if c not in " \n" and not _strokes(c) and not fonts.font_for(c))
    )


def fit(text: str, width: float, height: float, *, cap: float) -> Lettered:
    """Break a text into lines and choose the largest size at which it fits.

    Args:
        text: What to letter.
        width: Of the box.
        height: Of the box.
        cap: Height of a capital at most.

    Returns:
        The lines. Very long text is cut with an ellipsis once capitals would be below a third of `cap`.
    """
    text = _clean(text)[:_MOST]
    by_hand = _is_by_hand(text)
    size, least = cap, cap * 0.34
    while True:
        lines = wrap(text, width / size, by_hand=by_hand)
        most = max((_measure(line, by_hand) for line in lines), default=0.0) * size
        tall = size * (1 + LEADING * (len(lines) - 1))
        # Rather smaller letters than a word torn in two.
        torn = size > cap * 0.5 and _longest_word(text, by_hand) * size > width
        if (most <= width + 1e-6 and tall <= height and not torn) or size <= least:
            break
        size = max(least, size * 0.93)
    lines = _balanced(text, lines, width / size, by_hand)
    rows = max(1, int((height / size - 1) / LEADING + 1e-9) + 1)
    if len(lines) > rows:
        last = lines[rows - 1]
        while last and _measure(last + "…", by_hand) * size > width:
            last = last[:-1]
        lines = [*lines[: rows - 1], last.rstrip() + "…"]
    return Lettered(tuple(lines), size, by_hand)


def wrap(text: str, width: float, *, by_hand: bool = True) -> list[str]:
    """Break a text into lines no wider than `width` (in heights of a capital).

    Breaks between words, between any two characters of scripts written without spaces, and inside
    a word only when it is wider than a whole line.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for piece in _pieces(paragraph):
            if line and _measure((line + piece).rstrip(), by_hand) > width:
                lines.append(line.rstrip())
                line = ""
            piece = piece if line else piece.lstrip()
            while len(piece) > 1 and _measure(piece.rstrip(), by_hand) > width:
                # Found by halving: a word may be as long as a page.
                cut = max(1, bisect_left(range(1, len(piece)), width, key=lambda n: _measure(piece[:n] + "-", by_hand)))
                lines.append(piece[:cut] + ("-" if by_hand and piece[cut - 1 : cut + 1].isalpha() else ""))
                piece = piece[cut:]
            line += piece
        if line.strip() or not lines:
            lines.append(line.rstrip())
    return lines


def letter(text: Lettered, x: float, y: float, *, color: str, seed: int = 1, scale: float = 1.0) -> str:
    """Draw fitted text as SVG, its lines centred about (x, y).

    Args:
        text: From `fit`.
        x: Middle of the lines.
        y: Middle of the block.
        color: `#rrggbb`.
        seed: Of the unsteadiness of the strokes.
        scale: Canvas units per unit of the box it was fitted to.
    """
    text = Lettered(text.lines, text.cap * scale, text.by_hand)
    top = y - text.height / 2
    if not text.by_hand:
        return "".join(
            _set(line, x, top + text.cap * (1 + LEADING * row), text.cap, color) for row, line in enumerate(text.lines)
        )
    rng = random.Random(seed)
    data = "".join(
        _written(line, x - _measure(line, True) * text.cap / 2, top + text.cap * LEADING * row, text.cap, rng)
        for row, line in enumerate(text.lines)
    )
    if not data:
        return ""
    return (
        f'<path d="{data}" fill="none" stroke="{color}" stroke-width="{text.cap * _THICK:.2f}" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def font_files(text: str) -> list[str]:
    """The font files that text needs; none when it is lettered by hand."""
    text = _clean(text)
    if _is_by_hand(text):
        return []
    found = (fonts.font_for(character, text) for character in text if character not in " \n")
    return list(dict.fromkeys(font.path for font in found if font is not None))


def _written(line: str, x: float, y: float, cap: float, rng: random.Random) -> str:
    unit = cap / 10
    shake = 0.16
    parts: list[str] = []
    for character in line:
        if character == " ":
            x += _SPACE * unit
            continue
        # Each letter sits a little high or low, like a hand's.
        rise, lean = rng.uniform(-0.18, 0.18), rng.uniform(-0.012, 0.02)
        width, strokes = _strokes(character) or _BOX
        for curved, points in strokes:
            moved: list[Point] = [
                (
                    x + (px + rng.uniform(-shake, shake) + (10 - py) * lean) * unit,
                    y + (py + rise + rng.uniform(-shake, shake)) * unit,
                )
                for px, py in points
            ]
            start = f"M{moved[0][0]:.2f} {moved[0][1]:.2f}"
            if len(moved) == 1:
                parts.append(start + "h.01")
            elif curved:
                closed = points[0] == points[-1]
                if closed:
                    moved[-1] = moved[0]
                pieces = bezier(moved, closed=closed)
                parts.append(start + "".join(
                    f"C{a[0]:.2f} {a[1]:.2f} {b[0]:.2f} {b[1]:.2f} {c[0]:.2f} {c[1]:.2f}" for _, a, b, c in pieces
                ))  # fmt: skip
            else:
                parts.append(start + "".join(f"L{px:.2f} {py:.2f}" for px, py in moved[1:]))
        x += (width + _TRACKING) * unit
    return "".join(parts)


def _set(line: str, x: float, base: float, cap: float, color: str) -> str:
    found = [font for character in line if (font := fonts.font_for(character, line)) is not None]
    families = list(dict.fromkeys(font.family for font in found))
    known = "".join(character if character == " " or _has_font(character, line) else _MISSING for character in line)
    family = ", ".join(f"'{name}'" for name in families) or "sans-serif"
    return (
        f'<text x="{x:.1f}" y="{base:.1f}" text-anchor="middle" font-family="{escape(family)}" '
        f'font-size="{cap / fonts.CAP:.2f}" fill="{color}">{escape(known)}</text>'
    )


def _is_by_hand(text: str) -> bool:
    """Whether no font would help: every character is lettered, or missing everywhere."""
    return all(_strokes(one) or one in " \n" or fonts.font_for(one, text) is None for one in text)


def _has_font(character: str, line: str) -> bool:
    return fonts.font_for(character, line) is not None


def _balanced(text: str, lines: list[str], width: float, by_hand: bool) -> list[str]:
    """As many lines, of about equal length: no last line of one character."""
    if len(lines) > 1:
        for share in (0.55, 0.65, 0.75, 0.85, 0.93):
            narrower = wrap(text, width * share, by_hand=by_hand)
            if len(narrower) == len(lines):
                return narrower
    return lines


def _longest_word(text: str, by_hand: bool) -> float:
    pieces = [piece.strip() for line in text.split("\n") for piece in _pieces(line)]
    return max((_measure(piece, by_hand) for piece in pieces), default=0.0)


def _pieces(text: str) -> list[str]:
    """Where a line may break: words with the space before them; single characters without word spaces."""
    pieces: list[str] = []
    for character in text:
        alone = _stands_alone(character)
        if not pieces or character == " " or alone or (_stands_alone(pieces[-1][-1]) and character not in _CLOSING):
            if pieces and character in _CLOSING:
                pieces[-1] += character
            else:
                pieces.append(character)
        else:
            pieces[-1] += character
    return pieces


_CLOSING = "、。，．！？；：）」』】》〉,.!?;:)"


def _stands_alone(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF" and character not in _CLOSING


def _measure(line: str, by_hand: bool) -> float:
    """Width in heights of a capital."""
    if by_hand:
        total = sum(_SPACE if one == " " else (_strokes(one) or _BOX)[0] + _TRACKING for one in line)
        return max(0.0, total - _TRACKING) / 10
    return fonts.width(line)


def _clean(text: str) -> str:
    """Composed, without control characters, blanks joined."""
    text = unicodedata.normalize("NFC", text).replace("\t", " ").replace("\r", "\n")
    kept = (
        c for c in text if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn") or c == "\u200d"
    )
    return "\n".join(" ".join(line.split()) for line in "".join(kept).strip().split("\n"))


Strokes = tuple[float, tuple[tuple[bool, tuple[Point, ...]], ...]]
#: What stands for a character that cannot be written.
_BOX: Strokes = (7.0, ((False, ((0.0, 0.4), (7.0, 0.4), (7.0, 9.6), (0.0, 9.6), (0.0, 0.4))),))


@lru_cache(maxsize=1024)
def _strokes(character: str) -> Strokes | None:
    """Width and strokes of a character, `None` when it cannot be lettered."""
    upper = SPELLED.get(character) or character.upper()
    if len(upper) > 1:
        x, joined = 0.0, []
        for one in upper:
            known = _strokes(one)
            if known is None:
                return None
            joined.extend((curved, tuple((px + x, py) for px, py in points)) for curved, points in known[1])
            x += known[0] + _TRACKING
        return x - _TRACKING, tuple(joined)
    upper = ALIKE.get(upper, upper)
    if upper in GLYPHS:
        width, strokes = GLYPHS[upper]
        return width, _parsed(strokes, 0.0)
    base, *marks = unicodedata.normalize("NFD", upper)
    base = ALIKE.get(base, base)
    if not marks or base not in GLYPHS or any(mark not in ACCENTS for mark in marks):
        return None
    width, strokes = GLYPHS[base]
    accents = [stroke for mark in marks for stroke in _parsed(ACCENTS[mark], width / 2)]
    return width, (*_parsed(strokes, 0.0), *accents)


def _parsed(strokes: str, shift: float) -> tuple[tuple[bool, tuple[Point, ...]], ...]:
    return tuple(
        (stroke.startswith("~"), tuple(_points(stroke.lstrip("~").split(), shift))) for stroke in strokes.split("|")
    )


def _points(pairs: Sequence[str], shift: float) -> list[Point]:
    return [(float(x) + shift, float(y)) for x, y in (pair.split(",") for pair in pairs)]
