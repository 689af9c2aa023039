"""The lexicon: every word and phrase the reader knows, by language, and what it may mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from langgraph_interleave.world.grammar import languages, numbers, phrases, words
from langgraph_interleave.world.grammar.actions import verb_states
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.grammar.tokens import Token, tokenize
from langgraph_interleave.world.palette import COLOR_SYNONYMS, COLORS
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

Role = Literal[
    "noun", "number", "color", "painted", "size", "state", "cell", "relation", "backdrop", "definite", "indefinite",
    "negation", "conjunction", "with", "ordinal", "pronoun", "label", "called", "caption", "photo", "verb", "filler",
]  # fmt: skip

#: What an equally long phrase is taken for first.
_ORDER: tuple[Role, ...] = (
    "photo", "noun", "cell", "relation", "negation", "number", "ordinal", "color", "painted", "size", "backdrop",
    "state", "definite", "indefinite", "conjunction", "with", "label", "called", "caption", "pronoun", "verb", "filler",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One meaning of a phrase.

    Attributes:
        role: What it does in a sentence.
        word: The colour, size, cell, relation or backdrop meant; of an `ordinal` or noun: unused.
        number: Of a number or an ordinal (from 0; -1 for "last").
        senses: Of a noun: kinds it may mean, with the state it implies; the likeliest first.
        plural: Of a noun: the form means several.
        states: Of a state phrase: kind → that kind's own state.
        bare: Of a backdrop: it is one without "in the" or "on the", too.
    """

    role: Role
    word: str = ""
    number: int = 0
    senses: tuple[tuple[str, str | None], ...] = ()
    plural: bool = False
    states: Mapping[str, str] = field(default_factory=dict[str, str])
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """An entry found in a text: `length` tokens long."""

    entry: Entry
    length: int


_SIMPLE = re.compile(r"[a-z]+(?:[ '-][a-z]+)*")


def _key(phrase: str) -> tuple[str, ...]:
    """A phrase as the tokens it would be; most phrases are plain words, which need no tokenizer."""
    if _SIMPLE.fullmatch(phrase):
        return tuple(word.removesuffix("'s") for word in phrase.split(" "))
    return tuple(token.norm for token in tokenize(phrase))


#: Backdrop words that mean one wherever they stand.
_BARE = frozenset((
    "meadow", "field", "lawn", "park", "countryside", "garden", "backyard", "forest", "woods", "woodland", "beach",
    "seaside", "shore", "desert", "sea", "ocean", "lake", "pond", "river", "underwater", "under water", "seabed",
    "aquarium", "street", "road", "town", "city", "night sky", "starry sky", "blue sky", "sky", "outer space", "space",
    "universe", "kitchen", "kitchen counter", "room", "living room", "bedroom", "bathroom", "classroom", "desk",
    "night", "winter landscape", "mountain range", "windowsill", "window sill", "outdoors", "indoors", "workbench",
))  # fmt: skip


class Lexicon:
    """What phrases mean. Built once a language by `lexicon`; not changed afterwards."""

    def __init__(self, language: Language = "en") -> None:
        #: Whether colours and sizes are said after the noun ("une balle rouge").
        self.adjectives_follow = language in ("es", "fr")
        self._entries: dict[tuple[str, ...], list[Entry]] = {}
        self._starts: dict[str, int] = {}

    def add(self, phrase: str, entry: Entry, *, first: bool = False) -> None:
        """Make `phrase` mean `entry`, unless it already has a meaning of that role (then only if `first`)."""
        key = _key(phrase)
        if not key:
            return
        known = self._entries.setdefault(key, [])
        same = next((index for index, other in enumerate(known) if other.role == entry.role), None)
        if same is None:
            known.append(entry)
            known.sort(key=lambda other: _ORDER.index(other.role))
        elif entry.role == "state":
            known[same] = Entry("state", states={**entry.states, **known[same].states})
        elif first:
            known[same] = entry
        self._starts[key[0]] = max(self._starts.get(key[0], 0), len(key))

    def matches(self, tokens: Sequence[Token], index: int) -> list[Match]:
        """All that begins at a token, longest first, then in the order of likelihood."""
        found: list[Match] = []
        if index >= len(tokens) or tokens[index].shape == "quote":
            return found
        for length in range(min(self._starts.get(tokens[index].norm, 0), len(tokens) - index), 0, -1):
            key = tuple(token.norm for token in tokens[index : index + length])
            if any(token.shape == "quote" for token in tokens[index : index + length]):
                continue
            found.extend(Match(entry, length) for entry in self._entries.get(key, ()))
        return found

    def knows(self, word: str) -> bool:
        """Whether a single word means anything."""
        return (word,) in self._entries


@cache
def lexicon(language: Language = "en") -> Lexicon:
    """The lexicon for texts in a language: that language's words, English, and Chinese nouns."""
    built = Lexicon(language)
    if language in ("de", "es", "fr"):
        _add_foreign(built, language)
    _add_nouns(built)
    _add_modifiers(built)
    _add_places(built)
    _add_small_words(built)
    _add_foreign(built, "zh")
    return built


def _add_nouns(built: Lexicon) -> None:
    for name, kind in KINDS.items():
        built.add(name, Entry("noun", senses=((name, None),)))
        said = phrases.noun(name)
        built.add(said, Entry("noun", senses=((name, None),)))
        for several in (phrases.noun(name, 2), kind.plural, numbers.plural(name), numbers.plural(said)):
            built.add(several, Entry("noun", senses=((name, None),), plural=several not in (name, said)))
    for word, senses in words.ALIASES.items():
        several = numbers.plural(word)
        built.add(word, Entry("noun", senses=senses, plural=word == "glasses"), first=True)
        if several != word:
            built.add(several, Entry("noun", senses=senses, plural=True))
    for name, kind in KINDS.items():
        for synonym in kind.synonyms:
            built.add(synonym, Entry("noun", senses=((name, None),)))
            built.add(numbers.plural(synonym), Entry("noun", senses=((name, None),), plural=True))
    for name, kind in KINDS.items():
        said = phrases.STATES.get(name, {})
        for state in kind.states:
            for phrase in (state, said.get(state, ""), f"in the state {state}", *kind.state_words.get(state, ())):
                built.add(phrase, Entry("state", states={name: state}))


def _add_modifiers(built: Lexicon) -> None:
    for word, color in (*((color, color) for color in COLORS), *COLOR_SYNONYMS.items()):
        built.add(word, Entry("color", word=color))
        for more in (f"{word}-painted", f"painted {word}", f"coloured {word}", f"colored {word}"):
            built.add(more, Entry("painted", word=color))
        for more in (f"{word}-coloured", f"{word}-colored", f"{word} coloured", f"{word} colored", f"light {word}",
                     f"dark {word}", f"pale {word}", f"bright {word}", f"deep {word}", f"{word}ish", f"in {word}",
                     f"light-{word}", f"dark-{word}"):  # fmt: skip
            built.add(more, Entry("color", word=color))
    for word in ("beige", "cream", "cream-coloured", "ivory"):
        built.add(word, Entry("filler"))
    for size, said in words.SIZES.items():
        for word in said:
            built.add(word, Entry("size", word=size))
    for word, number in numbers.BY_LANGUAGE["en"].items():
        built.add(word, Entry("number", number=number))
    for number, word in enumerate(numbers.ORDINALS):
        built.add(word, Entry("ordinal", number=number))
    built.add("last", Entry("ordinal", number=-1))


def _add_places(built: Lexicon) -> None:
    for phrase, cell in words.cells().items():
        built.add(phrase, Entry("cell", word=cell))
    for cell, phrase in phrases.CELLS.items():
        built.add(phrase, Entry("cell", word=cell), first=True)
    for relation, said in words.RELATIONS.items():
        for word in said:
            built.add(word, Entry("relation", word=relation))
    for name, backdrop in BACKDROPS.items():
        phrase = phrases.BACKDROPS.get(name, name)
        built.add(phrase, Entry("backdrop", word=name, bare=True))
        for word in (name, *backdrop.synonyms):
            built.add(word, Entry("backdrop", word=name, bare=word in _BARE))
    for phrase in ("at night", "by night", "in the dark", "at midnight", "in the evening", "in the night",
                   "during the night", "under the stars", "under a starry sky", "night-time", "nighttime"):  # fmt: skip
        built.add(phrase, Entry("backdrop", word="night", bare=True))
    for phrase in ("in winter", "in the snow", "in snow", "in deep snow", "wintry"):
        built.add(phrase, Entry("backdrop", word="snow", bare=True))
    for phrase in ("on paper", "on white paper", "on a white background", "on a plain background", "blank background"):
        built.add(phrase, Entry("backdrop", word="paper", bare=True))


def _add_small_words(built: Lexicon) -> None:
    simple: Iterable[tuple[Role, Iterable[str]]] = (
        ("definite", words.DEFINITE),
        ("indefinite", words.INDEFINITE),
        ("negation", words.NEGATIONS),
        ("conjunction", words.CONJUNCTIONS),
        ("with", ("with", "has", "have", "wearing", "wears", "holding", "carrying", "containing", "contains")),
        ("pronoun", words.PRONOUNS),
        ("label", ("labelled", "labeled", "with the label", "that says", "saying", "that reads", "reading",
                   "with the number", "with the letter", "with the word", "marked")),
        ("called", ("called", "named")),
        ("caption", ("the words", "the text", "the caption", "the title", "caption", "title", "titled", "text",
                     "captioned", "with the words", "with the text", "with the caption", "with the title")),
        ("photo", ("photo", "photograph", "the given photo", "attached picture", "input image", "given photo",
                   "with the given photo pinned up", "attached photo", "attached image", "uploaded image")),
        ("filler", words.FILLERS),
        ("filler", ("are written in the picture", "is written in the picture", "written in the picture")),
        ("verb", sorted(words.verb_forms())),
        ("verb", sorted(verb for verb in verb_states() if " " not in verb)),
    )  # fmt: skip
    for role, said in simple:
        for word in said:
            built.add(word, Entry(role, word=word))


_FOREIGN_ROLES: Mapping[str, Role] = {
    "definite": "definite", "indefinite": "indefinite", "conj": "conjunction", "neg": "negation", "with": "with",
    "filler": "filler",
}  # fmt: skip


def _add_foreign(built: Lexicon, language: Language) -> None:
    first = language != "zh"
    for kind, row in languages.NOUNS.items():
        forms = languages.names(row, language)
        for form in forms:
            plural = language != "zh" and form != forms[0] and _is_plural(form, forms[0], language)
            built.add(form, Entry("noun", senses=((kind, None),), plural=plural), first=first)
    for color, row in languages.COLORS.items():
        for word in languages.names(row, language):
            for form in languages.color_forms(word, language):
                built.add(form, Entry("color", word=color), first=first)
    for word, number in numbers.BY_LANGUAGE[language].items():
        for tail in ("", *("个只朵棵条张本辆颗块片位杯" if language == "zh" else "")):
            built.add(word + tail, Entry("number", number=number), first=first)
    for backdrop, row in languages.BACKDROPS.items():
        for word in languages.names(row, language):
            built.add(word, Entry("backdrop", word=backdrop, bare=True), first=first)
    for name, row in languages.SMALL.items():
        for word in languages.names(row, language):
            if name.startswith("size "):
                for form in languages.color_forms(word, language):
                    built.add(form, Entry("size", word=name[5:]), first=first)
            elif name in _FOREIGN_ROLES:
                built.add(word, Entry(_FOREIGN_ROLES[name], word=word), first=first)
            else:
                built.add(word, Entry("relation", word=name), first=first)
    if language == "zh":
        for cell, said in _ZH_CELLS.items():
            for phrase in said.split("/"):
                for tail in ("", "角", "边"):
                    built.add(phrase + tail, Entry("cell", word=cell), first=True)


_ZH_CELLS: Mapping[str, str] = {
    "upper left": "左上", "upper right": "右上", "lower left": "左下", "lower right": "右下", "middle": "中间/中央",
    "left": "画面左", "right": "画面右",
}  # fmt: skip


def _is_plural(form: str, one: str, language: Language) -> bool:
    """Whether a further form of a noun looks like its plural rather than another word for it."""
    if language == "de":
        return form[:1] == one[:1] and len(form) >= len(one) and not form.endswith("chen")
    return form.endswith(("s", "x")) and not one.endswith("s")
