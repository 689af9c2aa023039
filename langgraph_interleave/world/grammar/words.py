"""The small words of English around the nouns, and further names of things. Data only."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.scene import Cell, Relation, Size

DEFINITE = ("the", "this", "that", "these", "those", "my", "your", "his", "her", "their", "its", "our", "same")
INDEFINITE = ("a", "an", "some", "another", "one more", "any", "each", "every", "other", "more", "further")
NEGATIONS = (
    "no", "without", "not", "without any", "not any", "never", "minus", "except", "instead of", "but no", "and no",
    "don't", "do not", "doesn't", "avoid", "rather than", "free of", "neither", "nor", "no more",
)  # fmt: skip
CONJUNCTIONS = ("and", "&", "plus", "as well as", "along with", "together with", "and also", "or", "+")
PRONOUNS = ("it", "them", "they", "him", "he", "she", "itself", "themselves", "there", "which", "who", "whom")

SIZES: Mapping[Size, tuple[str, ...]] = {
    "small": ("small", "little", "tiny", "mini", "miniature", "short", "smaller", "wee", "small-sized"),
    "large": ("large", "big", "huge", "giant", "tall", "great", "enormous", "bigger", "larger", "gigantic", "massive"),
    "medium": ("medium", "medium-sized", "normal-sized", "normal size", "of medium size"),
}  # fmt: skip

RELATIONS: Mapping[Relation, tuple[str, ...]] = {
    "on": (
        "on", "on top of", "onto", "upon", "atop", "on the top of", "riding", "riding on", "rides", "rides on",
        "in the middle of", "at the top of", "over the top of",
    ),
    "in": ("in", "inside", "inside of", "within", "into", "in the inside of", "among"),
    "above": ("above", "over", "hovering over", "flying over", "high above", "up above", "floating above",
              *(f"{verb} {out}" for verb in ("come", "comes", "coming", "jump", "jumps", "jumping", "pop", "pops",
                                             "popping", "rise", "rises", "rising", "fly", "flies", "flying")
                for out in ("out of", "up out of"))),
    "below": ("below", "under", "underneath", "beneath", "at the foot of", "at the bottom of"),
    "left of": (
        "left of", "to the left of", "on the left of", "at the left of", "on the left side of", "left from",
        "to the left side of", "on its left",
    ),
    "right of": (
        "right of", "to the right of", "on the right of", "at the right of", "on the right side of", "next to",
        "beside", "besides", "by", "near", "close to", "alongside", "at the side of", "by the side of", "between",
        "against", "to the right side of", "adjacent to", "right next to", "around", "towards", "along", "opposite",
    ),
    "in front of": ("in front of", "before", "in the front of", "at the front of"),
    "behind": ("behind", "in back of", "at the back of", "hidden behind", "beyond"),
}  # fmt: skip

#: Relations that need no noun after them: "with a lamp on it", "and a bird above".
LONE_CELLS: Mapping[str, Cell] = {
    "above": "upper middle", "overhead": "upper middle", "below": "lower middle", "underneath": "lower middle",
}  # fmt: skip

_SIDES: Mapping[Cell, tuple[str, ...]] = {
    "upper left": ("upper left", "top left", "left upper", "upper left-hand", "top left-hand", "upper-left",
                   "top-left"),
    "upper right": ("upper right", "top right", "right upper", "upper right-hand", "top right-hand", "upper-right",
                    "top-right"),
    "lower left": ("lower left", "bottom left", "left lower", "lower left-hand", "lower-left", "bottom-left"),
    "lower right": ("lower right", "bottom right", "right lower", "lower right-hand", "lower-right", "bottom-right"),
    "upper middle": ("upper middle", "top middle", "top centre", "top center", "upper centre", "upper center", "top",
                     "upper part", "background", "upper half"),
    "lower middle": ("lower middle", "bottom middle", "bottom centre", "bottom center", "lower centre",
                     "lower center", "bottom", "lower part", "foreground", "lower half"),
    "left": ("left", "left side", "left-hand side", "left hand side", "middle left", "far left", "left half",
             "centre left", "center left", "left edge"),
    "right": ("right", "right side", "right-hand side", "right hand side", "middle right", "far right", "right half",
              "centre right", "center right", "right edge"),
    "middle": ("middle", "center", "centre", "very middle", "very center", "very centre"),
}  # fmt: skip
_PLAIN = ("in the middle", "in the center", "in the centre", "at the center", "at the centre", "in middle", "centred",
          "centered", "in the very middle")  # fmt: skip


def cells() -> dict[str, Cell]:
    """Every way to name a place of the picture by itself, and the place."""
    found: dict[str, Cell] = dict.fromkeys(_PLAIN, "middle")
    for cell, sides in _SIDES.items():
        for side in sides:
            for lead in ("in the", "on the", "at the", "to the", "in", "at", "from the", "towards the", "near the"):
                for tail in ("", " corner", " corner of the picture", " corner of the image", " of the picture",
                             " of the image", " of the scene", " of the frame",
                             " of the drawing", " hand corner", " hand side"):  # fmt: skip
                    found[f"{lead} {side}{tail}"] = cell
            if " " in side or "-" in side:
                found[side] = cell
                found[f"{side} corner"] = cell
    return found


#: Other words for things: word → kinds it may mean, the first when nothing else tells; with a state.
ALIASES: Mapping[str, tuple[tuple[str, str | None], ...]] = {
    "light": (("lamp", None), ("traffic light", None), ("light bulb", None), ("candle", None)),
    "plant": (("plant", None), ("flower pot", None), ("sprout", None), ("flower", None), ("tree", None)),
    "glasses": (("glass", None), ("spectacles", None)),
    "pair of glasses": (("spectacles", None),),
    "reading glasses": (("spectacles", None),),
    "pot": (("flower pot", None), ("cooking pot", None)),
    "signal": (("traffic light", None),),
    "rain": (("cloud", "raining"),), "in the rain": (("cloud", "raining"),), "rain shower": (("cloud", "raining"),),
    "in the sun": (("sun", None),), "in the sunshine": (("sun", None),), "in the sunlight": (("sun", None),),
    "in full sun": (("sun", None),), "under the sun": (("sun", None),), "in bright sunlight": (("sun", None),),
    "storm": (("cloud", "stormy"),),
    "thunderstorm": (("cloud", "stormy"),), "snowfall": (("cloud", "snowing"),), "sunshine": (("sun", None),),
    "tadpole": (("frog", "tadpole"),), "froglet": (("frog", "froglet"),), "frogspawn": (("frog", "eggs"),),
    "dough": (("bread", "dough"),), "sapling": (("sprout", None),), "full moon": (("moon", "full"),),
    "half moon": (("moon", "first quarter"),), "new moon": (("moon", "new"),), "crescent": (("moon", None),),
    "sunrise": (("sun", "rising"),), "sunset": (("sun", "setting"),), "lettuce": (("salad", None),),
    "lit bulb": (("light bulb", "lit"),),
    "pile of wood": (("campfire", "stacked"),), "firewood": (("campfire", "stacked"),),
    "cup of tea": (("cup", "full"),), "cup of coffee": (("cup", "full"),), "slice": (("toast", None),),
    "bowl of soup": (("bowl", "with soup"),), "hot chocolate": (("cup", "steaming"),), "tea": (("cup", "full"),),
    "coffee": (("cup", "full"),), "soup": (("bowl", "with soup"),), "batter": (("bowl", "with batter"),),
    "boil water": (("kettle", "boiling"),), "boil the water": (("kettle", "boiling"),),
    "boil some water": (("kettle", "boiling"),), "boiling water": (("kettle", "boiling"),),
    "hot water": (("kettle", "boiling"),),
    "scales": (("scale", None),), "bonnet": (("hat", None),),
    "puppy dog": (("dog", None),), "kitty cat": (("cat", None),), "hand": (("hand", None),),
    "gentleman": (("person", None),), "lady": (("person", None),), "girl": (("child", None),),
    "boy": (("child", None),), "grandmother": (("person", None),), "grandfather": (("person", None),),
    "mother": (("person", None),), "father": (("person", None),), "friend": (("child", None),),
    "hero": (("person", None),), "villager": (("person", None),),
    "letter": (("envelope", None), ("paper sheet", None)), "kitchen timer": (("clock", None),),
    "timer": (("clock", None),), "egg timer": (("clock", None),),
}  # fmt: skip

#: Words of requests that name no thing: style, medium, framing, manners, verbs of showing.
FILLERS = (
    "picture of", "pictures of", "drawing of", "image of", "images of", "photo of", "sketch of", "illustration of",
    "painting of", "view of", "scene of", "scene with", "close-up of", "portrait of", "pair", "piece of", "slice of",
    "bunch of", "group of", "set of", "picture", "image", "drawing", "sketch", "illustration", "painting", "scene",
    "view", "frame", "style", "hand-drawn", "hand drawn", "drawn by hand", "storyboard", "colours", "colors",
    "muted colours", "muted colors", "muted", "pastel", "line art", "outline", "ink", "pen and ink", "pencil sketch",
    "watercolour", "watercolor", "cartoon", "comic", "realistic", "photorealistic", "photo-realistic", "4k", "8k",
    "high quality", "high-quality", "highly detailed", "detailed", "high resolution", "masterpiece", "best quality",
    "cinematic", "soft light", "soft lighting", "lighting", "light background", "minimalist", "minimal", "flat design",
    "vector", "clean", "simple", "background", "foreground", "white background", "same style", "consistent style",
    "in the same style", "please", "exactly", "just", "only", "very", "really", "quite", "now", "also", "too", "still",
    "again", "then", "show", "shows", "showing", "draw", "drawn", "depict", "depicting", "display", "let", "us", "me",
    "everything else", "everything", "else", "nothing else", "nothing", "the rest", "rest", "way", "the same",
    "unchanged", "as before", "as it is", "as they are", "as is", "keep", "keeping", "make", "sure", "that", "of",
    "to", "for", "from", "as", "so", "but", "if", "when", "while", "until", "after", "before", "how", "what", "will",
    "would", "can", "could", "should", "must", "may", "might", "i", "you", "we", "my", "your", "something", "anything",
    "wooden", "old", "young", "new", "cute", "nice", "beautiful", "lovely", "pretty", "happy", "round", "long", "wide",
    "dark", "bright", "light-coloured", "fresh", "soft", "shiny", "colorful", "colourful", "magical", "friendly",
    "curious", "brave", "cozy", "cosy", "sunny", "plain", "simple", "gentle", "warm", "cold", "whole", "lone",
    "single", "correct", "correctly", "clear", "clearly", "visible", "kind", "sort", "all", "up", "down", "out", "away",
    "off", "back", "together", "apart", "side by side", "in a row", "row", "in total", "total", "altogether",
    "not", "number", "labelled", "pinned", "different", "full", "own", "here", "always", "once", "well", "such", "than",
    "change", "changes", "step", "steps", "at", "to be", "kind of", "some kind of", "sort of", "inside",
    "second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month",
    "months", "year", "years",
    "time", "times", "same size", "same place", "place", "position", "size", "colour", "color", "fully",
    "bit", "a bit", "slightly",
)  # fmt: skip

#: Verbs that say nothing a picture of ours can show by themselves; all forms are derived.
VERBS = (
    "be", "have", "stand", "sit", "lie", "lay", "hang", "hold", "wear", "carry", "eat", "drink", "look", "watch",
    "play", "walk", "run", "jump", "fly", "swim", "float", "hover", "drive", "sleep", "rest", "smile", "laugh", "shine",
    "appear", "contain", "include", "feature", "see", "find", "meet", "go", "come", "get", "give", "take", "bring",
    "put", "place", "set", "rest", "lean", "point", "face", "surround", "cover", "fall", "rise", "grow", "bloom",
    "glow", "burn", "move", "turn", "wait", "begin", "start", "stop", "end", "want", "need", "use", "become", "stay",
    "remain", "keep", "live", "love", "like", "think", "say", "tell", "ask", "help", "try", "work", "chase", "follow",
    "climb", "explore", "discover", "sail", "ride", "travel", "dance", "sing", "read", "write", "build", "arrange",
    "decorate", "fill", "drop", "throw", "catch", "kick", "open", "close", "touch", "visit", "leave", "arrive", "row",
    "perch", "peek", "pour", "water", "plant", "add", "position", "attach", "tie", "bend", "push", "pull", "pick",
    "press", "share", "become", "make", "do", "form", "happen",
    "seem", "appear", "join", "enter", "share", "enjoy", "notice", "show",
)  # fmt: skip

_FORMS: Mapping[str, tuple[str, ...]] = {
    "be": ("is", "are", "was", "were", "been", "being", "isn't", "aren't", "there's", "it's"),
    "have": ("has", "had", "having"), "stand": ("stood",), "sit": ("sat", "sitting"), "lie": ("lying", "lay", "lain"),
    "hang": ("hung",), "hold": ("held",), "wear": ("wore", "worn"), "eat": ("ate", "eaten"), "drink": ("drank",),
    "run": ("ran", "running"), "fly": ("flew", "flies"), "swim": ("swam", "swimming"), "drive": ("drove", "driven"),
    "sleep": ("slept",), "shine": ("shone",), "see": ("saw", "seen"), "find": ("found",), "meet": ("met",),
    "go": ("goes", "went", "gone"), "come": ("came",), "get": ("got", "getting"), "give": ("gave", "given"),
    "take": ("took", "taken"), "bring": ("brought",), "put": ("putting",), "set": ("setting",), "fall": ("fell",),
    "rise": ("rose",), "grow": ("grew", "grown"), "begin": ("began", "begun"), "become": ("became",),
    "keep": ("kept",), "think": ("thought",), "say": ("said",), "tell": ("told",), "ride": ("rode",),
    "sing": ("sang",), "write": ("wrote", "written"), "build": ("built",), "throw": ("threw", "thrown"),
    "catch": ("caught", "catches"), "leave": ("left behind",), "show": ("shown",), "make": ("made",),
    "do": ("does", "did", "done"),
}  # fmt: skip


def verb_forms() -> frozenset[str]:
    """Every form of the verbs, with none that is a noun of its own right."""
    forms: set[str] = set()
    for verb in VERBS:
        stem = verb.removesuffix("e")
        forms.update((verb, f"{verb}s", f"{stem}ing", f"{stem}ed", *_FORMS.get(verb, ())))
        if verb[-1] not in "aeiouwy" and verb[-2:-1] in "aeiou":
            forms.update((f"{verb}{verb[-1]}ing", f"{verb}{verb[-1]}ed"))
        if verb.endswith(("ch", "sh", "s")):
            forms.add(f"{verb}es")
    return frozenset(forms - {"", "roses"})
