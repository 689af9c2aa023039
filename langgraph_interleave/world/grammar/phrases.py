"""How places, backdrops, states and nouns are said in canonical English. Data, and the rules around it."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.grammar.numbers import plural
from langgraph_interleave.world.palette import COLORS
from langgraph_interleave.world.scene import Cell, Relation
from langgraph_interleave.world.vocabulary import KINDS

CELLS: Mapping[Cell, str] = {
    "upper left": "in the upper left corner",
    "upper middle": "at the top",
    "upper right": "in the upper right corner",
    "left": "on the left",
    "middle": "in the middle",
    "right": "on the right",
    "lower left": "in the lower left corner",
    "lower middle": "at the bottom",
    "lower right": "in the lower right corner",
}

RELATIONS: Mapping[Relation, str] = {
    "on": "on", "in": "in", "above": "above", "below": "below", "left of": "to the left of",
    "right of": "to the right of", "in front of": "in front of", "behind": "behind",
}  # fmt: skip

BACKDROPS: Mapping[str, str] = {
    "paper": "on plain paper", "table": "on a wooden table", "desk": "on a desk", "kitchen": "in a kitchen",
    "room": "in a room", "bathroom": "in a bathroom", "meadow": "on a meadow", "garden": "in a garden",
    "forest": "in a forest", "mountains": "in the mountains", "beach": "on a beach", "sea": "on the sea",
    "underwater": "under water", "street": "on a street", "snow": "in the snow", "sky": "in the sky",
    "night": "at night", "space": "in outer space",
}  # fmt: skip

#: Nouns whose vocabulary name is not what one of them is called in a sentence.
NOUNS: Mapping[str, str] = {
    "bread": "loaf of bread", "toast": "slice of toast", "butter": "piece of butter", "flour": "bag of flour",
    "sugar": "bowl of sugar", "milk": "carton of milk", "salad": "head of lettuce", "soap": "bar of soap",
    "toothpaste": "tube of toothpaste", "glue": "bottle of glue", "scissors": "pair of scissors",
    "trousers": "pair of trousers", "spectacles": "pair of spectacles", "cheese": "piece of cheese",
    "paper sheet": "sheet of paper", "ice cream": "ice cream cone",
}  # fmt: skip

#: States that are said after the noun in words of their own.
STATES: Mapping[str, Mapping[str, str]] = {
    "arrow": {"right": "pointing right", "left": "pointing left", "up": "pointing up", "down": "pointing down"},
    "bread": {"dough": "as raw dough"},
    "campfire": {"stacked": "stacked but not lit"},
    "cat": {"finished": "drawn to the end", "head circle": "with only the outline of the head",
            "ears": "with only head and ears", "face": "with only head and face", "body": "with head and body"},
    "chair": {"assembled": "fully assembled", "seat": "with only a seat", "with legs": "with seat and legs",
              "parts": "in parts"},
    "circuit": {"battery only": "with only the battery", "with wires": "with battery and wires",
                "with bulb": "with battery, wires and bulb", "open": "with an open switch",
                "closed": "with a closed switch"},
    "clock": {"ten past ten": "showing ten past ten", "twelve o'clock": "showing twelve o'clock",
              "three o'clock": "showing three o'clock", "six o'clock": "showing six o'clock",
              "nine o'clock": "showing nine o'clock", "half past seven": "showing half past seven"},
    "computer": {"off": "switched off", "on": "switched on"},
    "cooking pot": {"covered": "with the lid on"},
    "cup": {"with tea bag": "with a tea bag"},
    "flower pot": {"seeded": "with a seed in the soil", "sprouted": "with a sprout", "leafy": "with a leafy plant",
                   "flowering": "with a flowering plant"},
    "frog": {"grown": "fully grown", "eggs": "at the egg stage", "tadpole": "at the tadpole stage",
             "froglet": "at the froglet stage"},
    "hand": {"thumb up": "with thumb up"},
    "house": {"finished": "fully built", "walls": "with only walls", "with roof": "with walls and roof",
              "with door": "with roof and door"},
    "lamp": {"off": "switched off"},
    "light bulb": {"off": "switched off"},
    "oven": {"off": "switched off", "on": "switched on"},
    "pan": {"with egg": "with a fried egg", "with pancake": "with a pancake"},
    "paper sheet": {"folded in half": "folded in half", "with drawing": "with a drawing"},
    "plant": {"leafy": "full of leaves"},
    "sandcastle": {"heap": "as a heap", "finished": "fully built"},
    "shirt": {"flat": "laid out flat", "one sleeve folded": "with one sleeve folded",
              "both sleeves folded": "with both sleeves folded", "folded": "neatly folded"},
    "shoe": {"crossed": "with crossed laces"},
    "snowman": {"finished": "with hat, face and carrot nose", "one ball": "of only one ball",
                "two balls": "of only two balls", "three balls": "of three balls without a face",
                "with face": "of three balls with a face"},
    "tent": {"flat": "laid out flat", "with poles": "with poles up"},
    "toaster": {"popping": "with toast popping up"},
    "traffic light": {"red": "showing red", "red and amber": "showing red and amber", "green": "showing green",
                      "amber": "showing amber", "off": "switched off"},
    "tree": {"autumn": "in autumn colours", "bare": "without leaves", "leafy": "full of leaves",
             "blossoming": "in blossom"},
    "wheel": {"bare": "without tyre", "round": "fully pumped up", "flat": "gone flat"},
}  # fmt: skip

#: Words that begin a state said after the noun.
AFTER = frozenset(
    ("with", "without", "in", "on", "at", "of", "showing", "pointing", "under", "covered", "as")
)  # fmt: skip
#: States that would be taken for something else if they stood before the noun.
_TAKEN = frozenset((*COLORS, "small", "large", "left", "right", "up", "down", "on", "off", "in", "out", "amber"))


def noun(kind: str, count: int = 1) -> str:
    """What one, or several, of a kind are called.

    Example:
        >>> noun("bread"), noun("bread", 2), noun("leaf", 3)
        ('loaf of bread', 'loaves of bread', 'leaves')
    """
    one = NOUNS.get(kind, kind)
    if count == 1:
        return one
    if kind in NOUNS:
        return plural(one)
    known = KINDS.get(kind)
    return known.plural if known else plural(one)


def state_phrase(kind: str, state: str) -> tuple[str, bool]:
    """A state in words, and whether it is said after the noun.

    Example:
        >>> state_phrase("candle", "lit"), state_phrase("traffic light", "red")
        (('lit', False), ('showing red', True))
    """
    said = STATES.get(kind, {}).get(state)
    if said is not None:
        return said, True
    first = state.split(" ")[0]
    if first in AFTER and " " in state:
        return state, True
    if _TAKEN.intersection(state.split(" ")) or not state.replace(" ", "").replace("'", "").isalpha():
        return f"in the state {state}", True
    return state, False


def article(words: str) -> str:
    """`a` or `an`, by the sound that follows.

    Example:
        >>> article("apple"), article("unicorn"), article("hourglass")
        ('an', 'a', 'an')
    """
    lower = words.lower()
    if lower.startswith(("hour", "honest", "heir")):
        return "an"
    if lower.startswith(("uni", "use", "usu", "eu", "one", "once", "ufo", "uten")):
        return "a"
    return "an" if lower[:1] in "aeiou" and lower else "a"


def listed(parts: list[str], last: str = "and") -> str:
    """Parts joined as people list them.

    Example:
        >>> listed(["a", "b", "c"])
        'a, b and c'
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"
