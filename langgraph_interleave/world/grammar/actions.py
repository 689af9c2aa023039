"""Actions: the verbs of commands, and the states that everyday verbs lead to. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Action = Literal[
    "add", "remove", "replace", "make", "turn", "move", "count", "scene", "keep", "write", "grow", "shrink", "give",
    "photo", "water",
]  # fmt: skip

#: Action → the words a command begins with.
COMMANDS: Mapping[Action, tuple[str, ...]] = {
    "add": ("add", "insert", "include", "draw", "introduce", "add in", "also show", "bring in", "drop in", "plant",
            "build", "sow", "get", "prepare", "gather", "attach", "glue", "tie", "hang", "find"),
    "remove": ("remove", "take down", "delete", "erase", "take away", "get rid of", "take out", "leave out", "drop",
               "omit", "eliminate", "throw away", "clear away", "take off", "no more", "lose", "wipe away", "pick up",
               "eat", "eat up",
               "there should be no", "no", "without"),
    "replace": ("replace", "swap", "exchange", "substitute", "switch out"),
    "make": ("make", "let", "have", "paint", "colour", "color", "recolour", "recolor", "dye", "set", "render",
             "bring"),
    "turn": ("turn", "change", "transform", "convert", "switch"),
    "move": ("move", "take", "put", "place", "shift", "slide", "push", "pull", "drag", "position", "lay",
             "stand", "set down",
             "lift", "carry", "lower", "raise"),
    "count": ("show", "there should be", "there should also be", "there must be", "there is now", "there are now",
              "there are", "there is", "i want", "increase the number of", "reduce the number of",
              "decrease the number of", "change the number of", "make the number of", "the number of"),
    "scene": ("set the scene", "move the scene", "change the background", "change the backdrop", "change the scene",
              "change the setting", "set the background", "move everything", "the background is",
              "the background should be", "make the background", "change the place", "make it", "let it be",
              "it is now", "turn it into", "set it"),
    "keep": ("keep", "don't change", "do not change", "leave", "everything else stays", "the rest stays", "retain",
             "preserve", "maintain", "everything else", "nothing else changes", "don't touch"),
    "write": ("write", "label", "letter", "title", "caption", "add the words", "add the text", "add the caption"),
    "grow": ("enlarge", "grow", "magnify", "scale up", "blow up", "increase the size of"),
    "shrink": ("shrink", "reduce", "scale down", "decrease the size of"),
    "give": ("give", "dress", "equip"),
    "water": ("water", "sprinkle", "pour water on", "pour water over", "pour some water on"),
    "photo": ("pin up the given photo", "pin up the photo", "add the photo", "show the photo"),
}  # fmt: skip

#: Verb → states it leads to; the first that the thing can be in counts. Forms are derived.
VERB_STATES: Mapping[str, tuple[str, ...]] = {
    "open": ("open",), "close": ("closed", "covered"), "shut": ("closed",), "seal": ("closed",), "lock": ("closed",),
    "light": ("lit", "burning"), "ignite": ("lit", "burning"), "kindle": ("burning", "lit"),
    "turn on": ("lit", "on", "running", "closed", "boiling"),
    "switch on": ("lit", "on", "running", "closed", "boiling"),
    "turn off": ("off", "unlit", "cold"), "switch off": ("off", "unlit", "cold"), "plug in": ("on", "lit"),
    "put out": ("unlit", "off"), "blow out": ("unlit",), "extinguish": ("unlit", "off"), "burn": ("burning", "lit"),
    "fill": ("full", "with water", "with soil"), "fill up": ("full", "with water"), "empty": ("empty",),
    "cut": ("cut", "sliced"), "slice": ("sliced", "cut"), "halve": ("cut",), "peel": ("peeled",),
    "crack": ("cracked",), "break": ("cracked",), "fry": ("fried",), "bite": ("bitten",),
    "fold": ("folded in half", "folded"),
    "crumple": ("crumpled",), "wrap": ("closed",), "wrap up": ("closed",), "unwrap": ("open",), "melt": ("melting",),
    "wet": ("wet",), "rinse": ("wet", "clean"), "wash": ("soapy", "clean"), "soap": ("soapy",), "boil": ("boiling",),
    "heat": ("boiling", "hot", "on"), "pour": ("pouring",), "butter": ("buttered",), "stack": ("stacked",),
    "assemble": ("assembled", "finished"), "finish": ("finished", "assembled"), "complete": ("finished", "assembled"),
    "pitch": ("pitched",), "inflate": ("round",), "pump up": ("round",), "deflate": ("flat",),
    "decorate": ("decorated",),
    "bloom": ("flowering", "open", "blossoming"), "blossom": ("blossoming", "flowering", "open"),
    "flower": ("flowering",), "wilt": ("wilted",), "sprout": ("sprouted",), "germinate": ("sprouted",),
    "sleep": ("sleeping",), "fall asleep": ("sleeping",), "wave": ("waving",), "run": ("running",),
    "walk": ("walking",),
    "sit": ("sitting",), "sit down": ("sitting",), "stand up": ("standing",), "smile": ("smiling",), "cry": ("sad",),
    "fly": ("flying", "launching"), "launch": ("launching",), "take off": ("flying", "launching"),
    "erupt": ("erupting",),
    "smoke": ("smoking",), "hatch": ("hatching", "with chicks"), "rain": ("raining",), "snow": ("snowing",),
    "rise": ("rising",), "set": ("setting",), "shine": ("shining", "lit"), "glow": ("lit",), "steam": ("steaming",),
    "tie": ("tied",), "untie": ("untied",), "stamp": ("stamped",), "press": ("closed",), "sow": ("seeded",),
    "toast": ("with bread", "popping"), "pop up": ("popping",), "bake": ("on",), "brush": ("clean", "sparkling"),
    "clean": ("clean",), "dirty": ("dirty",), "shed": ("bare",), "lose": ("bare",), "drop": ("bare",),
    "grow": ("leafy", "grown"), "point": ("pointing",), "bubble": ("bubbling",), "tip": ("tipped",),
    "balance": ("level",),
    "eat": ("bitten", "cut"), "drink": ("empty",), "drink up": ("empty",),
}  # fmt: skip

_PAST = {"light": ("lit",), "burn": ("burnt",), "shine": ("shone",), "cut": ("cut",), "shut": ("shut",),
         "set": ("sets",), "fly": ("flies", "flew"), "sleep": ("slept",), "run": ("ran", "running"),
         "sit": ("sitting",),
         "cry": ("cries", "cried"), "rise": ("rose",), "grow": ("grew",), "fall asleep": ("falls asleep",)}  # fmt: skip


def verb_states() -> dict[str, tuple[str, ...]]:
    """Every form of the verbs of `VERB_STATES`, with its states."""
    found: dict[str, tuple[str, ...]] = {}
    for verb, states in VERB_STATES.items():
        first, space, rest = verb.partition(" ")
        stem = first.removesuffix("e")
        ending = "es" if first.endswith(("ch", "sh", "s", "x")) else "s"
        forms = (first, first + ending, f"{stem}ed", f"{stem}ing", *_PAST.get(first, ()))
        for form in forms:
            found.setdefault(form + space + rest, states)
        for form in _PAST.get(verb, ()):
            found.setdefault(form, states)
    return found
