"""The fonts a drawing's words are set in, and the characters no font of this machine has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from langgraph_interleave.world.fonts import REMEDY, Font, faces, files, font_for

_SERIF = ("dejavuserif.", "liberationserif-regular", "notoserif-regular", "freeserif.", "times", "georgia")
_MONO = ("dejavusansmono.", "liberationmono-regular", "notosansmono-regular", "freemono.", "cour", "consola", "menlo")
_STYLES = ("-bold", "-bolditalic", "-boldoblique", "-italic", "-oblique", "bold", "italic")
_KANA, _HANGUL = re.compile("[\u3040-\u30ff]"), re.compile("[\uac00-\ud7af\u1100-\u11ff]")
#: Characters that are never drawn.
_UNSEEN = frozenset("\t\n\r \u00a0\u200b\u200c\u200d\u2060\ufe0e\ufe0f\ufeff")


@dataclass(frozen=True, slots=True)
class Fonts:
    """The font files a drawing needs, the names of the three families, and what no font has."""

    files: tuple[str, ...]
    sans: str | None
    serif: str | None
    mono: str | None
    missing: tuple[str, ...]

    def warning(self) -> str | None:
        """What cannot be drawn, in words."""
        if not self.missing:
            return None
        some = " ".join(self.missing[:12]) + (" …" if len(self.missing) > 12 else "")
        return f"No font of this machine has {some}: the words of the drawing have gaps. {REMEDY}"


def fonts_for(written: Iterable[str], families: Collection[str], *, styled: bool) -> Fonts:
    """Choose fonts.

    Args:
        written: The words.
        families: `sans-serif`, `serif`, `monospace`, as far as they are used.
        styled: Whether bold or slanted faces are wanted too.
    """
    sans = font_for("A")
    serif = (_liked(_SERIF) if "serif" in families else None) or sans
    mono = (_liked(_MONO) if "monospace" in families else None) or sans
    found: dict[str, None] = {}
    missing: dict[str, None] = {}
    for font in (sans, serif, mono):
        if font is None:
            continue
        found[font.path] = None
        if styled:
            found.update(dict.fromkeys(_siblings(font.path)))
    for line in written:
        # Each character once: a drawing may hold a book, and all of a line tells no more than this of it.
        context = _telling(line)
        for character in dict.fromkeys(line):
            if character in _UNSEEN:
                continue
            font = font_for(character, context)
            if font is None:
                missing[character] = None
            else:
                found[font.path] = None
    return Fonts(
        tuple(found),
        sans.family if sans else None,
        serif.family if serif else None,
        mono.family if mono else None,
        tuple(missing),
    )


def _telling(line: str) -> str:
    """What of a line tells whose characters those are that several scripts share: a kana, else a hangul."""
    telling = _KANA.search(line) or _HANGUL.search(line)
    return telling[0] if telling else "A"


@lru_cache(maxsize=8)
def _liked(names: tuple[str, ...]) -> Font | None:
    for name in names:
        for path in files():
            if Path(path).name.lower().startswith(name):
                for font in faces(path):
                    if font.has("A"):
                        return font
    return None


@lru_cache(maxsize=32)
def _siblings(path: str) -> tuple[str, ...]:
    """The bold and slanted faces beside a regular one."""
    own = Path(path)
    stem = own.stem.lower().removesuffix("-regular").removesuffix("-book")
    wanted = {f"{stem}{style}" for style in _STYLES}
    return tuple(other for other in files() if Path(other).parent == own.parent and Path(other).stem.lower() in wanted)
