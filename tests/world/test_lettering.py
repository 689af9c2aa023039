"""Lettering: any script is written, what cannot be is named."""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.world import fonts
from langgraph_interleave.world.glyphs import ACCENTS, ALIKE, GLYPHS
from langgraph_interleave.world.lettering import LEADING, fit, font_files, letter, missing_glyphs, wrap

CHINESE = "\u4e2d\u6587"


def font_bytes(characters: str, family: str = "Tester") -> bytes:
    """A font file that has these characters (adjoining code points) and a name, and nothing else."""
    first, last = ord(characters[0]), ord(characters[-1])
    groups = struct.pack(">HHIIIIII", 12, 0, 28, 0, 1, first, last, 1)
    cmap = struct.pack(">HHHHI", 0, 1, 3, 10, 12) + groups
    text = family.encode("utf-16-be")
    name = struct.pack(">HHH", 0, 1, 18) + struct.pack(">6H", 3, 1, 0x409, 1, len(text), 0) + text
    start = 12 + 2 * 16
    tables = [(b"cmap", cmap, start), (b"name", name, start + len(cmap))]
    head = struct.pack(">IHHHH", 0x00010000, 2, 0, 0, 0)
    return head + b"".join(struct.pack(">4sIII", tag, 0, at, len(data)) for tag, data, at in tables) + cmap + name


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A machine whose only fonts are those put into this folder."""
    monkeypatch.setattr(fonts, "_listed", list)
    monkeypatch.setattr(fonts, "_scanned", lambda: [str(path) for path in tmp_path.iterdir()])
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    for cached in (fonts.files, fonts.faces, fonts._first_with):
        cached.cache_clear()


def test_every_glyph_can_be_drawn() -> None:
    for character, (width, _) in GLYPHS.items():
        drawn = letter(fit(character, 100, 40, cap=20), 50, 20, color="#333333")
        numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", drawn.split('"')[1])]
        assert numbers, character
        assert all(-20 < number < 120 for number in numbers), character
        assert 0.3 < width <= 12


def test_accents_and_look_alikes_lead_to_glyphs() -> None:
    assert all(known in GLYPHS or known in "- ." for known in ALIKE.values())
    assert all(unicodedata.combining(mark) for mark in ACCENTS)


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog 0123456789",
        "Crème brûlée — l’œuf: ½ litre, 3 €…",
        "Łódź, Åse, Þór, Đakovo, straße, İstanbul, žluťoučký",
        "ΞΕΣΚΕΠΑΖΩ την ψυχοφθόρα βδελυγμία",
        "Съешь ещё этих мягких французских булок, да выпей чаю; їжак, ґанок",
        "a+b=c; x<y>z (50%) #1 @home [ok] → ← ✓ 20°",
    ],
)
def test_latin_greek_and_cyrillic_need_no_font(only: Path, text: str) -> None:
    assert missing_glyphs(text) == ""
    assert font_files(text) == []
    assert fit(text, 100, 100, cap=10).by_hand


def test_what_no_font_has_is_named_once_and_in_order(only: Path) -> None:
    assert missing_glyphs(f"Tea: {CHINESE}{CHINESE[0]}") == CHINESE
    # An empty box for each, lettered like the rest.
    plain, boxed = (letter(fit(text, 100, 40, cap=20), 50, 20, color="#333333") for text in ("Tea", f"Tea{CHINESE}"))
    assert boxed.count("M") == plain.count("M") + 2


def test_a_font_is_found_by_what_it_has(only: Path) -> None:
    (only / "tester.ttf").write_bytes(font_bytes("\u4e2d\u4e2e"))
    assert missing_glyphs(CHINESE) == CHINESE[1]
    assert font_files(CHINESE) == [str(only / "tester.ttf")]
    font = fonts.font_for(CHINESE[0])
    assert font is not None
    assert (font.family, font.face) == ("Tester", 0)
    assert not font.has("a")


def test_a_collection_has_several_faces(only: Path) -> None:
    single = font_bytes("\u4e2d\u4e2d", "Second")
    # The face lies 16 bytes into the file; its tables are addressed from the file's start.
    shifted = bytearray(single)
    for record in (12, 28):
        at = struct.unpack(">I", single[record + 8 : record + 12])[0]
        shifted[record + 8 : record + 12] = struct.pack(">I", at + 16)
    (only / "many.ttc").write_bytes(b"ttcf" + struct.pack(">III", 0x00010000, 1, 16) + bytes(shifted))
    assert [font.family for font in fonts.faces(str(only / "many.ttc"))] == ["Second"]


@pytest.mark.parametrize("data", [b"", b"not a font at all", b"ttcf\0\0\0\1\xff\xff\xff\xff", font_bytes("ab")[:40]])
def test_a_damaged_font_is_as_good_as_absent(only: Path, data: bytes) -> None:
    (only / "broken.otf").write_bytes(data)
    assert fonts.faces(str(only / "broken.otf")) == ()
    assert missing_glyphs(CHINESE) == CHINESE


def test_segments_of_an_older_character_map() -> None:
    ends, starts = (0x4E2E, 0xFFFF), (0x4E2D, 0xFFFF)
    table = struct.pack(">HHHHHHH", 4, 0, 0, 4, 0, 0, 0)
    table += struct.pack(">2H", *ends) + b"\0\0" + struct.pack(">2H", *starts)
    cmap = struct.pack(">HHHHI", 0, 1, 3, 1, 12) + table
    assert fonts._ranges(cmap) == [(0x4E2D, 0x4E2E)]


def test_the_language_decides_between_faces() -> None:
    assert fonts._country("\u6f22\u5b57") == "SC"
    assert fonts._country("\u6f22\u5b57\u304b\u306a") == "JP"
    assert fonts._country("\ud55c\uad6d\u6f22") == "KR"


def test_without_fontconfig_the_usual_folders_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fonts.shutil, "which", lambda name: None)
    monkeypatch.setattr(fonts.sys, "platform", "linux")
    monkeypatch.setattr(fonts.Path, "home", lambda: tmp_path)
    (tmp_path / ".fonts").mkdir()
    (tmp_path / ".fonts" / "mine.ttf").write_bytes(b"x")
    assert fonts._listed() == []
    assert str(tmp_path / ".fonts" / "mine.ttf") in fonts._scanned()


def test_liked_fonts_go_first() -> None:
    names = ["zebra.ttf", "NotoSerif-Bold.ttf", "NotoSans-Regular.ttf", "NotoSansCJK-Regular.ttc", "NotoSans-Bold.ttf"]
    assert sorted(names, key=fonts._order)[:2] == ["NotoSansCJK-Regular.ttc", "NotoSans-Regular.ttf"]


def test_breaks_are_between_words() -> None:
    assert wrap("a red ball and a blue cube", 8) == ["a red ball", "and a blue", "cube"]
    assert wrap("one\ntwo", 20) == ["one", "two"]


def test_scripts_without_spaces_break_anywhere_but_before_a_stop(only: Path) -> None:
    text = "\u5149\u5408\u4f5c\u7528\u7684\u8fc7\u7a0b\u3002"
    lines = wrap(text, 4.2, by_hand=False)
    assert "".join(lines) == text
    assert len(lines) > 1
    assert all(not line.startswith("\u3002") for line in lines)


def test_a_word_is_torn_only_when_it_must_be() -> None:
    # Smaller letters first …
    assert fit("photosynthesis", 72, 40, cap=12).lines == ("photosynthesis",)
    # … then a hyphen.
    torn = fit("Donaudampfschifffahrtsgesellschaft", 60, 40, cap=12).lines
    assert len(torn) > 1
    assert torn[0].endswith("-")


def test_no_last_line_of_one_letter() -> None:
    lines = fit("a b c d e f g h i j k l m n o p q r s t u v", 60, 60, cap=10).lines
    assert len(lines) > 1
    assert len(lines[-1]) > 0.5 * len(lines[0])


@given(st.text(max_size=200), st.floats(20, 200), st.floats(10, 80))
def test_any_text_fits_its_box(text: str, width: float, height: float) -> None:
    fitted = fit(text, width, height, cap=min(14.0, height))
    assert fitted.height <= height + 1e-6 or len(fitted.lines) == 1
    assert fitted.cap <= 14
    svg = letter(fitted, 0, 0, color="#333333")
    assert svg == letter(fitted, 0, 0, color="#333333")


def test_long_text_ends_in_an_ellipsis() -> None:
    fitted = fit("word " * 200, 80, 30, cap=12)
    assert fitted.lines[-1].endswith("…")
    assert fitted.cap >= 12 * 0.34 - 1e-9


def test_height_counts_lines() -> None:
    assert fit("a\nb\nc", 100, 100, cap=10).height == pytest.approx(10 * (1 + 2 * LEADING))


def test_markup_in_text_stays_text(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (only / "tester.ttf").write_bytes(font_bytes(" \u4e2e"))
    monkeypatch.setattr(fonts, "width", len)
    svg = letter(fit(f"<b>&{CHINESE[0]}", 200, 40, cap=12), 0, 0, color="#333333")
    assert "<b>" not in svg
    assert "&lt;b&gt;&amp;" in svg
