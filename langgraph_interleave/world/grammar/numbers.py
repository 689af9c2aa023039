"""Number words of several languages, and plurals of English nouns."""

from __future__ import annotations

from collections.abc import Mapping

#: English, as they are written out.
WORDS: tuple[str, ...] = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip

ORDINALS: tuple[str, ...] = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip

#: Language → number word → number.
BY_LANGUAGE: Mapping[str, Mapping[str, int]] = {
    "en": {
        **{word: value for value, word in enumerate(WORDS) if value},
        "dozen": 12, "couple of": 2, "pair of": 2, "both": 2, "thirty": 30, "forty": 40, "fifty": 50,
        "hundred": 100, "several": 3, "a few": 3, "few": 3, "many": 5, "a lot of": 5, "lots of": 5, "half a dozen": 6,
        "a dozen": 12, "a couple of": 2, "a pair of": 2, "twenty-five": 25, "twenty five": 25,
    },
    "zh": {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
           "十一": 11, "十二": 12, "几": 3},
    "de": {"eins": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9,
           "zehn": 10, "elf": 11, "zwölf": 12, "beide": 2, "mehrere": 3, "einige": 3, "ein paar": 3, "viele": 5},
    "es": {"dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10,
           "once": 11, "doce": 12, "varios": 3, "varias": 3, "muchos": 5, "muchas": 5},
    "fr": {"deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6, "sept": 7, "huit": 8, "neuf": 9, "dix": 10,
           "onze": 11, "douze": 12, "plusieurs": 3, "quelques": 3, "beaucoup de": 5},
}  # fmt: skip

_IRREGULAR = {
    "man": "men", "woman": "women", "child": "children", "person": "people", "foot": "feet", "tooth": "teeth",
    "mouse": "mice", "leaf": "leaves", "loaf": "loaves", "knife": "knives", "shelf": "shelves", "scarf": "scarves",
    "wolf": "wolves", "half": "halves", "cactus": "cacti", "goose": "geese", "ox": "oxen", "fish": "fish",
    "sheep": "sheep", "deer": "deer", "aircraft": "aircraft", "scissors": "scissors", "trousers": "trousers",
    "pants": "pants", "jeans": "jeans", "spectacles": "spectacles", "sunglasses": "sunglasses",
    "eyeglasses": "eyeglasses", "snowman": "snowmen", "bus": "buses", "potato": "potatoes", "tomato": "tomatoes",
    "volcano": "volcanoes", "dice": "dice", "scales": "scales", "paper": "papers", "furniture": "furniture",
}  # fmt: skip


def plural(noun: str) -> str:
    """The plural of an English noun; of "bar of soap" that of its first word.

    Example:
        >>> plural("cherry"), plural("bar of soap"), plural("leaf")
        ('cherries', 'bars of soap', 'leaves')
    """
    head, of, tail = noun.partition(" of ")
    if of:
        return plural(head) + of + tail
    before, space, last = noun.rpartition(" ")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith(("s", "x", "z", "ch", "sh")):
        last += "es"
    elif last.endswith("y") and last[-2:-1] not in "aeiou":
        last = last[:-1] + "ies"
    else:
        last += "s"
    return before + space + last


_SINGULAR = {several: one for one, several in _IRREGULAR.items()}


def singular(noun: str) -> str:
    """The singular of an English noun, as far as its ending tells; a singular stays as it is.

    Example:
        >>> singular("cherries"), singular("glass"), singular("widgets")
        ('cherry', 'glass', 'widget')
    """
    if noun in _IRREGULAR or len(noun) < 4 or not noun.isascii():
        return noun
    if noun in _SINGULAR:
        return _SINGULAR[noun]
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("ches", "shes", "xes", "zes", "sses")):
        return noun[:-2]
    if noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s")):
        return noun[:-1]
    return noun


def in_words(number: int) -> str:
    """A number as it is written in prose: words up to twenty, digits beyond."""
    return WORDS[number] if 0 <= number < len(WORDS) else str(number)
