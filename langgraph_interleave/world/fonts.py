"""The fonts of the machine: which of them has a character, and how wide a line is in them.

Found with fontconfig's `fc-list` where it is installed, else in the usual folders; read once per
process and only as far as needed. Nothing is downloaded and nothing is shipped.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

#: Height of a capital over the font size, about the same in all text fonts.
CAP = 0.72
#: What to do when characters are missing.
REMEDY = (
    "Install a font that has them (on Debian or Ubuntu `apt install fonts-noto-core fonts-noto-cjk`, elsewhere any "
    "Noto font for the script) and run again."
)
_SUFFIXES = (".ttf", ".otf", ".ttc", ".otc")
# Fonts that look well on a label come first, the rest is tried in order of name.
_LIKED = (
    "notosanscjk",
    "notosans-",
    "notosans",
    "dejavusans.",
    "liberationsans-",
    "wqy",
    "unifont",
    "arial",
    "freesans",
)
_UNWANTED = ("bold", "italic", "oblique", "mono", "serif", "black", "light", "thin", "condensed", "narrow", "emoji")
_MEASURE = 40


@dataclass(frozen=True, slots=True)
class Font:
    """One face of a font file: its number in the file, its family, and the ranges of characters it has."""

    path: str
    face: int
    family: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def has(self, character: str) -> bool:
        """Whether it has a glyph for the character."""
        index = bisect_right(self.starts, ord(character)) - 1
        return index >= 0 and ord(character) <= self.ends[index]


def font_for(character: str, context: str = "") -> Font | None:
    """The font a character is set in, `None` when no font of this machine has it.

    Args:
        character: One character.
        context: The text around it; tells Japanese and Korean from Chinese where characters are shared.
    """
    return _first_with(character, _country(context or character))


def width(line: str) -> float:
    """About how wide a line is when set, in heights of a capital."""
    total = 0.0
    for run, font in _runs(line):
        if font is None:
            total += len(run) / CAP
        else:
            total += _loaded(font.path, font.face).getlength(run) / _MEASURE / CAP
    return total


@lru_cache(maxsize=1)
def files() -> tuple[str, ...]:
    """The font files of this machine, the liked ones first."""
    found = {path for path in _listed() or _scanned() if path.lower().endswith(_SUFFIXES)}
    return tuple(sorted(found, key=_order))


@lru_cache(maxsize=512)
def faces(path: str) -> tuple[Font, ...]:
    """The faces of a font file; none when it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(12)
            if data[:4] != b"ttcf":
                offsets = [0]
            else:
                count = struct.unpack(">I", data[8:12])[0]
                offsets = list(struct.unpack(f">{count}I", file.read(4 * count)))
            found = [_face(path, number, _tables(file, offset)) for number, offset in enumerate(offsets)]
    except (OSError, struct.error, ValueError, IndexError):
        # A file that is damaged, or not a font: as good as absent.
        return ()
    return tuple(font for font in found if font is not None)


@lru_cache(maxsize=4096)
def _first_with(character: str, country: str) -> Font | None:
    for path in files():
        for font in faces(path):
            if font.has(character) and (" CJK " not in font.family or font.family.endswith(country)):
                return font
    return None


def _country(text: str) -> str:
    if any("\u3040" <= character <= "\u30ff" for character in text):
        return "JP"
    if any("\uac00" <= character <= "\ud7af" or "\u1100" <= character <= "\u11ff" for character in text):
        return "KR"
    return "SC"


def _runs(line: str) -> Iterator[tuple[str, Font | None]]:
    run = ""
    last: Font | None = None
    for character in line:
        font = last if character == " " and run else font_for(character, line)
        if run and font != last:
            yield run, last
            run = ""
        run, last = run + character, font
    if run:
        yield run, last


@lru_cache(maxsize=16)
def _loaded(path: str, face: int) -> FreeTypeFont:
    from PIL import ImageFont

    return ImageFont.truetype(path, _MEASURE, index=face, layout_engine=ImageFont.Layout.BASIC)


def _listed() -> list[str]:
    command = shutil.which("fc-list")
    if command is None:
        return []
    try:
        answer = subprocess.run([command, "--format", "%{file}\n"], capture_output=True, timeout=20, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return []
    return answer.stdout.decode("utf-8", "replace").splitlines()


def _scanned() -> list[str]:
    home = Path.home()
    if sys.platform == "win32":
        folders = [
            Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts",
            home / "AppData/Local/Microsoft/Windows/Fonts",
        ]
    elif sys.platform == "darwin":
        folders = [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"]
    else:
        folders = [
            Path("/usr/share/fonts"),
            Path("/usr/local/share/fonts"),
            home / ".local/share/fonts",
            home / ".fonts",
        ]
    return [str(path) for folder in folders if folder.is_dir() for path in folder.rglob("*") if path.is_file()]


def _order(path: str) -> tuple[int, int, str]:
    name = Path(path).name.lower()
    liked = next((index for index, word in enumerate(_LIKED) if name.startswith(word)), len(_LIKED))
    return sum(word in name for word in _UNWANTED), liked, name


def _tables(file: BinaryIO, offset: int) -> dict[str, bytes]:
    """The two tables of a face that are needed, by tag."""
    file.seek(offset)
    count = struct.unpack(">4xH6x", file.read(12))[0]
    records = [struct.unpack(">4s4xII", file.read(16)) for _ in range(count)]
    found: dict[str, bytes] = {}
    for tag, where, length in records:
        if tag in (b"cmap", b"name"):
            file.seek(where)
            found[tag.decode()] = file.read(length)
    return found


def _face(path: str, number: int, tables: dict[str, bytes]) -> Font | None:
    ranges = _ranges(tables.get("cmap", b""))
    if not ranges:
        return None
    family = _family(tables.get("name", b"")) or Path(path).stem
    return Font(path, number, family, tuple(first for first, _ in ranges), tuple(last for _, last in ranges))


def _ranges(cmap: bytes) -> list[tuple[int, int]]:
    """The characters of a `cmap` table as ascending ranges; from its largest Unicode subtable."""
    if len(cmap) < 4:
        return []
    best: dict[int, int] = {}
    for index in range(struct.unpack(">H", cmap[2:4])[0]):
        platform, encoding, offset = struct.unpack(">HHI", cmap[4 + 8 * index : 12 + 8 * index])
        kind = struct.unpack(">H", cmap[offset : offset + 2])[0]
        # Symbol fonts (3, 0) map letters to pictures: they have no letters.
        if kind in (4, 12) and (platform == 0 or (platform == 3 and encoding in (1, 10))):
            best[kind] = offset
    if 12 in best:
        table = best[12]
        count = struct.unpack(">I", cmap[table + 12 : table + 16])[0]
        groups = struct.iter_unpack(">III", cmap[table + 16 : table + 16 + 12 * count])
        return sorted((first, last) for first, last, _ in groups)
    if 4 in best:
        return _segments(cmap[best[4] :])
    return []


def _segments(table: bytes) -> list[tuple[int, int]]:
    count = struct.unpack(">H", table[6:8])[0] // 2
    ends = struct.unpack(f">{count}H", table[14 : 14 + 2 * count])
    starts = struct.unpack(f">{count}H", table[16 + 2 * count : 16 + 4 * count])
    return sorted((first, last) for first, last in zip(starts, ends, strict=True) if first != 0xFFFF)


def _family(name: bytes) -> str:
    """The family name out of a `name` table."""
    if len(name) < 6:
        return ""
    count, storage = struct.unpack(">HH", name[2:6])
    found: dict[int, str] = {}
    for index in range(count):
        record = name[6 + 12 * index : 18 + 12 * index]
        platform, _, language, identifier, length, offset = struct.unpack(">6H", record)
        if platform == 3 and identifier in (1, 16) and (language == 0x409 or identifier not in found):
            found[identifier] = name[storage + offset : storage + offset + length].decode("utf-16-be", "replace")
    return found.get(16) or found.get(1, "")
