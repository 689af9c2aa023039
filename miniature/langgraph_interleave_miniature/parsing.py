"""Parsing: what a text says in the words of the miniature's world, and which of its words are none of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from langgraph_interleave_miniature.scenes import COLUMNS, Scene, Thing
from langgraph_interleave_miniature.words import (
    ADD_WORDS,
    BACKGROUND_WORDS,
    COLOR_WORDS,
    COLUMN_WORDS,
    KEEPING,
    KIND_WORDS,
    NOTHING_ELSE,
    RECOLOR_WORDS,
    REMOVE_WORDS,
    ROW_WORDS,
)

#: What a clause does; `change` is whatever its words make of it: another color, or another background.
Verb = Literal["add", "remove", "change", "move"]
#: The kind of a thing that is only called "it".
IT = "it"

_Sort = Literal["background", "kind", "color", "column", "row", "verb", "joint", "filler", "only", "nothing", "unknown"]
_Lexeme: TypeAlias = tuple[_Sort, str]

_JOINTS = ("and", ",", "with", "plus")
_FILLERS = (
    "a an the of in on at to is are be it's its there here this that one some single please now so also too again just "
    "only but by from into for all picture image drawing scene background color colour colored coloured painted same "
    "keep everything else rest corner side half part show shows showing want would like i me we us you can could let "
    "stands sits lies standing sitting lying gets get until as before away has have drawn where ground turned over"
)
_MORE_BACKGROUNDS = {
    "meadow": ("meadow", "grass", "field", "green field", "lawn", "in the meadow", "on a meadow", "on grass"),
    "night": ("night", "the dark", "dark", "nighttime", "night time", "in the night"),
    "beach": ("beach", "sand", "sandy beach", "at the beach", "on a beach", "seaside"),
    "paper": ("paper", "white paper", "plain background", "white background", "on paper", "on a white page"),
}
_MORE_VERBS: dict[Verb, tuple[str, ...]] = {
    "add": ("appears", "arrives", "comes", "joins"),
    "remove": ("take off", "take", "get rid of", "drop", "disappears", "vanishes", "leaves", "goes away", "is gone"),
    "change": ("color", "colour", "recolor", "recolour", "set", "switch", "turns", "becomes", "turn into"),
    "move": ("move", "shift", "bring", "moves"),
}
#: They turn around what follows: leaving them out would draw what is not wanted.
_NEGATIONS = frozenset({"no", "not", "never", "without", "non", "neither", "nor", "don't", "don’t"})
_WORD = re.compile(r"[^\W_](?:[^\W_]|['’-])*|[,;:.!?()]")


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing, as far as words tell of it.

    Args:
        kind: One of `KINDS`, or `IT`.
        color: One of `COLORS`, if said.
        row: 0 at the top, 1 at the bottom, if said.
        column: 0 to 2 from the left, if said.
        turns: The color it is to get.
    """

    kind: str
    color: str | None = None
    row: int | None = None
    column: int | None = None
    turns: str | None = None

    def fits(self, cell: int) -> bool:
        """Whether a cell is where the words put it, as far as they do."""
        return self.row in (None, cell // COLUMNS) and self.column in (None, cell % COLUMNS)

    @property
    def cell(self) -> int | None:
        """Its cell, if row and column are said."""
        return None if self.row is None or self.column is None else self.row * COLUMNS + self.column

    @property
    def placed(self) -> bool:
        """Whether anything is said of its place."""
        return self.row is not None or self.column is not None


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says.

    Args:
        things: In the text's order.
        background: One of `BACKGROUNDS`, if said.
        verb: What is done, if the text says so.
        nothing: It says that there is nothing.
        unknown: Words that stand for something this world does not have.
        unshown: Words that only qualify something it has ("big"), and cannot be shown.
    """

    things: tuple[Mention, ...] = ()
    background: str | None = None
    verb: Verb | None = None
    nothing: bool = False
    unknown: tuple[str, ...] = ()
    unshown: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it says nothing of this world."""
        return not self.things and self.background is None and not self.nothing

    @property
    def scene(self) -> Scene | None:
        """The scene, if the text describes all of one: every color and cell, the background, and no change."""
        placed = [(thing.kind, thing.color, thing.cell) for thing in self.things if thing.turns is None]
        whole = [Thing(kind, color, cell) for kind, color, cell in placed if color is not None and cell is not None]
        described = bool(whole) or self.nothing
        if self.background is None or self.unknown or self.verb in ("remove", "change", "move") or not described:
            return None
        apart = {thing.cell for thing in whole}, {thing.kind for thing in whole}
        if len(whole) < len(self.things) or any(len(one) < len(whole) for one in apart):
            return None
        return None if any(thing.kind == IT for thing in whole) else Scene(self.background, tuple(whole))


def said(text: str) -> Said:
    """Reads a text: a description of a picture, or of one change to it.

    Example:
        >>> said("Paint the ball at the top blue").things
        (Mention(kind='ball', color=None, row=0, column=None, turns='blue'),)
        >>> said("a big red ball and a dog").unknown, said("a big red ball").unshown
        (('dog',), ('big',))
    """
    return _Reader(_lexemes(text)).read()


def scene_of(text: str) -> Scene | None:
    """The scene a text describes in full; `None` when it leaves something open, or describes a change.

    Example:
        >>> scene_of("at night, a red ball top left")
        Scene(background='night', things=(Thing(kind='ball', color='red', cell=0, dx=0.0, dy=0.0, radius=9.0),))
    """
    return said(text).scene


def _phrases() -> dict[tuple[str, ...], _Lexeme]:
    found: dict[tuple[str, ...], _Lexeme] = {}

    def put(phrases: tuple[str, ...] | list[str], sort: _Sort, value: str = "") -> None:
        for phrase in phrases:
            found.setdefault(tuple(phrase.split()), (sort, value or phrase))

    put([KEEPING, KEEPING.removeprefix("and ")], "filler")
    put([NOTHING_ELSE, NOTHING_ELSE.removeprefix("and ")], "only")
    put(["nothing", "nobody", "empty"], "nothing")
    for background, words in BACKGROUND_WORDS.items():
        put((*words, *_MORE_BACKGROUNDS[background]), "background", background)
    for kind, words in KIND_WORDS.items():
        put(words, "kind", kind)
    put([IT], "kind", IT)
    for color, words in COLOR_WORDS.items():
        put(words, "color", color)
    for index, words in enumerate(COLUMN_WORDS):
        put(words, "column", str(index))
    for index, words in enumerate(ROW_WORDS):
        put(words, "row", str(index))
    usual: dict[Verb, tuple[str, ...]] = {"add": ADD_WORDS, "remove": REMOVE_WORDS, "change": RECOLOR_WORDS, "move": ()}
    for verb, words in usual.items():
        put((*words, *_MORE_VERBS[verb]), "verb", verb)
    put(_JOINTS, "joint")
    put([";", ":", ".", "!", "?", "(", ")"], "joint")
    put([*_FILLERS.split(), "beside", "next to"], "filler")
    return found


_PHRASES = _phrases()
_LONGEST = max(map(len, _PHRASES))


def _lexemes(text: str) -> list[_Lexeme]:
    words = [word.lower().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)]
    lexemes: list[_Lexeme] = []
    at = 0
    while at < len(words):
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            known = _PHRASES.get(tuple(words[at : at + length]))
            if known is not None:
                lexemes.append(("unknown", "dark") if _is_shade(words, at, length) else known)
                at += length
                break
        else:
            lexemes.append(("unknown", words[at]))
            at += 1
    # "the color of the ball": a noun unless the clause begins with it.
    return [
        ("filler", value) if sort == "verb" and _is_noun(index, lexemes) else (sort, value)
        for index, (sort, value) in enumerate(lexemes)
    ]


def _is_shade(words: list[str], at: int, length: int) -> bool:
    """Whether the dark is that of a color ("the dark blue ball"), and not the night."""
    following = _PHRASES.get(tuple(words[at + length : at + length + 1]))
    return words[at : at + length] in (["dark"], ["the", "dark"]) and following is not None and following[0] == "color"


def _is_noun(index: int, lexemes: list[_Lexeme]) -> bool:
    """Whether a verb's word stands where only a noun can: after another verb."""
    return any(sort == "verb" for sort, _ in lexemes[:index])


@dataclass
class _Reader:
    """Walks over a text's lexemes once, from left to right."""

    lexemes: list[_Lexeme]
    things: list[Mention] = field(default_factory=list[Mention])
    #: Color and place that wait for the thing they belong to.
    color: str | None = None
    row: int | None = None
    column: int | None = None
    #: Whether what comes belongs to the last thing.
    open: bool = False
    background: str | None = None
    verb: Verb | None = None
    nothing: bool = False
    unknown: list[str] = field(default_factory=list[str])
    unshown: list[str] = field(default_factory=list[str])

    def read(self) -> Said:
        for index, (sort, value) in enumerate(self.lexemes):
            match sort:
                case "kind" if value == IT and self.open:
                    pass  # "a tree beside it"
                case "kind":
                    self._thing(value)
                case "color":
                    self._color(index, value)
                case "row" | "column" if self._relates(index):
                    self.unknown.append(f"{(ROW_WORDS if sort == 'row' else COLUMN_WORDS)[int(value)][0]} of")
                case "row" | "column":
                    self._place(sort, int(value))
                case "background":
                    if self.background not in (None, value) and self.verb in (None, "add"):
                        self.unknown.append(value)  # "at night on the beach": it cannot be both
                    self.background = value
                case "verb":
                    self.verb = self.verb or _verb(value)
                case "joint":
                    self.open = False
                case "nothing":
                    self.nothing = True
                case "unknown":
                    (self.unshown if self._qualifies(index) else self.unknown).append(value)
                case _:
                    pass
        self._settle()
        return Said(
            tuple(self.things),
            self.background,
            self.verb,
            self.nothing and not self.things,
            tuple(dict.fromkeys(self.unknown)),
            tuple(dict.fromkeys(self.unshown)),
        )

    def _thing(self, kind: str) -> None:
        self.things.append(Mention(kind, self.color, self.row, self.column))
        self.color = self.row = self.column = None
        self.open = True

    def _color(self, index: int, color: str) -> None:
        following = next((sort for sort, _ in self.lexemes[index + 1 :] if sort not in ("filler", "unknown")), None)
        if following == "kind" or not self.things:
            if self.color is not None:
                self.unknown.append(self.color)
            self.color = color
        elif self.verb == "change" and self.things[-1].turns is None:
            self.things[-1] = replace(self.things[-1], turns=color)
        elif self.things[-1].color is None:
            self.things[-1] = replace(self.things[-1], color=color)
        else:
            self.unknown.append(color)

    def _place(self, sort: Literal["row", "column"], number: int) -> None:
        if self.open and getattr(self.things[-1], sort) is None:
            thing = self.things[-1]
            self.things[-1] = replace(thing, row=number) if sort == "row" else replace(thing, column=number)
        else:
            if getattr(self, sort) is not None:
                self._settle_place()
            if sort == "row":
                self.row = number
            else:
                self.column = number

    def _relates(self, index: int) -> bool:
        """Whether a place is told by another thing: "left of the blue car"."""
        after = self.lexemes[index + 1 : index + 4]
        if not after or after[0] != ("filler", "of"):
            return False
        rest = [sort for sort, value in after[1:] if value not in ("a", "an", "the")]
        return bool(rest) and rest[0] in ("kind", "color")

    def _qualifies(self, index: int) -> bool:
        """Whether an unknown word only says more of something known: a color or thing follows at once."""
        following = self.lexemes[index + 1][0] if index + 1 < len(self.lexemes) else None
        negated = self.lexemes[index][1] in _NEGATIONS
        return not negated and following in ("kind", "color", "verb")

    def _settle(self) -> None:
        """What waited in vain: a place belongs to the last thing, a color to nothing here."""
        self._settle_place()
        if self.color is not None:
            self.unknown.append(self.color)
        # "put it on the beach" is about the whole picture.
        about = [one for one in self.things if one.kind != IT or one.turns or one.placed or self.verb == "remove"]
        self.things = about if self.background is not None or len(about) == len(self.things) else self.things

    def _settle_place(self) -> None:
        if self.things and (self.row is not None or self.column is not None):
            thing = self.things[-1]
            if not thing.placed or self.verb == "move":  # "from the top left to the bottom right": the last counts
                self.things[-1] = replace(thing, row=self.row, column=self.column)
            else:
                self._join_place(thing)
        self.row = self.column = None

    def _join_place(self, thing: Mention) -> None:
        """What is told later of a place is the rest of it ("at the top, left"), or cannot be as well."""
        row = self.row if thing.row is None else thing.row
        column = self.column if thing.column is None else thing.column
        if self.row not in (None, row):
            self.unknown.append(ROW_WORDS[self.row or 0][0])
        if self.column not in (None, column):
            self.unknown.append(COLUMN_WORDS[self.column or 0][0])
        self.things[-1] = replace(thing, row=row, column=column)


def _verb(value: str) -> Verb:
    assert value in ("add", "remove", "change", "move")
    return value
