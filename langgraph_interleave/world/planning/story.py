"""Stories: a few characters, something they find, and an arc that fits the number of pictures."""

from __future__ import annotations

import re
from dataclasses import dataclass

from langgraph_interleave.types import PlanWarning
from langgraph_interleave.world.grammar import read
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.grammar.numbers import in_words
from langgraph_interleave.world.grammar.phrases import article, listed
from langgraph_interleave.world.grammar.prose import phrase, with_ids
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.planning.outline import Outline, Part
from langgraph_interleave.world.scene import Beside, Cell, Relation, Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

_STORY = re.compile(
    r"\b(?:(?:an?\s+)?day\s+in\s+the\s+life|adventures?|story|tale|fairy tale|fairytale|comic|comic strip|"
    r"adventure|picture book|bedtime story|geschichte|märchen|"
    r"cuento|historia|histoire|conte)\b|故事|漫画|童话",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\b(?:about|of|with|where|in which|über|von|mit|sobre|de|sur)\b\s*(.+)$|(?:关于|讲)\s*(.+?)(?:的故事|$)",
    re.IGNORECASE | re.DOTALL,
)
_WHO = re.compile(r"\s*,?\s*\b(?:who|that|which|and they|and together they|und sie)\b\s*", re.IGNORECASE)
_VERBS = re.compile(
    r"\s+(?=(?:finds?|discovers?|meets?|builds?|wants?|loses?|sees?|buys?|gets?|goes|go|visits?|saves?|catch(?:es)?|"
    r"plants?|makes?|travels?|flies|fly|sails?|learns?|looks?|searches|search|explores?|rides?|dreams?)\b)",
    re.IGNORECASE,
)
_PAST = {
    "find": "found", "meet": "met", "build": "built", "lose": "lost", "see": "saw", "buy": "bought", "get": "got",
    "go": "went", "catch": "caught", "make": "made", "fly": "flew", "ride": "rode", "become": "became", "run": "ran",
    "eat": "ate", "take": "took", "give": "gave", "win": "won", "swim": "swam", "sing": "sang", "draw": "drew",
    "teach": "taught", "have": "had", "be": "was", "is": "was", "are": "were", "has": "had", "fall": "fell",
    "drive": "drove", "write": "wrote", "hide": "hid", "steal": "stole", "dream": "dreamt", "leave": "left",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plot:
    """Who it is about, what they come across, and how the request says it."""

    heroes: tuple[Thing, ...]
    names: tuple[str, ...]
    find: Thing | None
    deed: str
    unknown: tuple[str, ...]
    home: str | None = None
    goal: str | None = None

    @property
    def several(self) -> bool:
        """Whether it is about more than one."""
        return len(self.heroes) > 1 or any(hero.count > 1 for hero in self.heroes)

    @property
    def everybody(self) -> str:
        """All of them, as they are called once they are known: "the cat and the dog"."""
        return listed([_the(name) for name in self.names])


def story_outline(subject: str, language: Language, count: int | None) -> Outline | None:
    """The outline of a story a request asks for, or `None` when it asks for none.

    Args:
        subject: The request without its wishes about form.
        language: The user's language; the story is told in English.
        count: Pictures asked for.
    """
    if not _STORY.search(subject):
        return None
    about = _ABOUT.search(_STORY.sub("story", subject, count=1)) if language == "en" else _ABOUT.search(subject)
    text = next((group for group in about.groups() if group), "") if about is not None else _STORY.sub("", subject)
    plot = plot_of(text, language)
    if not plot.heroes:
        return None
    number = count or 6
    parts = _chosen(plot, number)
    everything = [*(_the(name) for name in plot.names), *([_the(_called(plot.find))] if plot.find is not None else [])]
    title = sentence(listed(everything)).rstrip(".")
    thoughts = [f"A story about {listed(list(plot.names))}."]
    if plot.find is not None:
        thoughts.append(f"What happens turns on {_called(plot.find)}.")
    thoughts.append(f"I tell it in {in_words(len(parts))} pictures, from the beginning to the evening.")
    outline = Outline(title, parts, "chain", "en", tuple(thoughts), unknown=plot.unknown)
    if language != "en":
        outline = outline.warned(PlanWarning("other", "Stories are told in English here: captions are English."))
    return outline


def arc(things: tuple[Thing, ...], number: int, *, home: str | None = None) -> tuple[Part, ...]:
    """A small story about things, in at most a number of pictures.

    Args:
        things: Who it is about; one to three.
        number: Pictures wanted.
        home: The backdrop where they are; `None` for their usual one.
    """
    heroes = with_ids(thing.model_copy(update={"at": None}) for thing in things[:3])
    return _chosen(Plot(heroes, tuple(_called(hero) for hero in heroes), None, "", (), home), number)


def plot_of(text: str, language: Language = "en") -> Plot:
    """Who a story is about and what happens, as far as the words tell.

    Example:
        >>> plot = plot_of("a cat and a dog who find a boat")
        >>> [hero.kind for hero in plot.heroes], plot.find.kind, plot.deed
        (['cat', 'dog'], 'boat', 'found a boat')
    """
    people, deed = _split(text)
    reading = read(people, language=language)
    heroes = tuple(
        thing.model_copy(
            update={
                "at": None,
                "count": 1 if thing.count > 3 else thing.count,
                "label": thing.label if thing.kind == "card" else None,
            }
        )
        for thing in reading.scene.things
        if thing.kind not in ("moon", "cloud")
    )[:3]
    told = read(deed, language=language) if deed else None
    find = None
    if told is not None:
        others = [thing for thing in told.scene.things if thing.kind not in [hero.kind for hero in heroes]]
        find = others[0].model_copy(update={"at": None}) if others else None
    if find is None and len(heroes) == 3:
        heroes, find = heroes[:2], heroes[2]
    things = with_ids((*heroes, *((find,) if find is not None else ())))
    named = things[: len(heroes)]
    unknown = (*reading.unknown, *(told.unknown if told is not None else ()))
    goal = read(deed, language=language, backdrop="").scene.backdrop if deed else ""
    return Plot(
        named, _names(people, named), things[-1] if find is not None else None, _in_the_past(deed), unknown,
        goal=goal or None,
    )  # fmt: skip


def _names(people: str, heroes: tuple[Thing, ...]) -> tuple[str, ...]:
    """What the request calls them, where that is clear; else what the vocabulary does."""
    said = [part.strip() for part in re.split(r"\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+", people) if part.strip()]
    clear = len(said) == len(heroes) and all(
        re.match(r"(?:an?|the|one|two|three)\s", part, re.IGNORECASE) for part in said
    )
    if clear and all(len(part.split()) <= 6 for part in said):
        return tuple(part[0].lower() + part[1:] for part in said)
    return tuple(_called(hero) for hero in heroes)


def _called(thing: Thing) -> str:
    if thing.kind == "card" and thing.label:
        return f"{article(thing.label)} {thing.label}" if thing.label.isascii() else thing.label
    return phrase(thing.model_copy(update={"size": "medium"}), placed=False)


def _split(text: str) -> tuple[str, str]:
    for pattern in (_WHO, _VERBS):
        match = pattern.search(text)
        if match is not None and match.start() > 0:
            return text[: match.start()], text[match.end() :].strip(" .!")
    return text.strip(" .!"), ""


def _in_the_past(deed: str) -> str:
    """As in "finds a boat and sails away": "found a boat and sailed away"."""
    parts = re.split(r"\s+and\s+(?:then\s+)?", deed)
    told = [_past(part) if index == 0 or _VERBS.match(f" {part}") else part for index, part in enumerate(parts)]
    return " and ".join(told)


def _past(deed: str) -> str:
    words = deed.split(" ")
    verb = words[0].lower() if words else ""
    if not verb:
        return ""
    stem = verb
    for ending, instead in (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("oes", "o"), ("s", "")):
        if verb.endswith(ending) and verb not in _PAST:
            stem = verb[: -len(ending)] + instead
            break
    past = _PAST.get(verb) or _PAST.get(stem)
    if past is None:
        past = stem + "d" if stem.endswith("e") else (stem[:-1] + "ied" if stem.endswith("y") else stem + "ed")
    return " ".join([past, *words[1:]])


def _the(name: str) -> str:
    """A name as it is said once it is known: "a cat" as "the cat", "a mouse named Pip" as "Pip"."""
    own = re.search(r"\b(?:named|called)\s+[\"“]?(\w+)", name)
    if own is not None:
        return own[1]
    first, _, rest = name.partition(" ")
    if first.lower() in ("two", "three"):
        return f"the {name}"
    return f"the {rest}" if first.lower() in ("a", "an") and rest else name


#: Parts of the arc, the most needed first.
_NEED = ("meet", "find", "wish", "end", "other", "use", "set out", "storm", "rainbow")
_ORDER = ("meet", "other", "wish", "set out", "find", "use", "storm", "rainbow", "end")


def _chosen(plot: Plot, number: int) -> tuple[Part, ...]:
    told = {name: part for name in _ORDER if (part := _beat(name, plot)) is not None}
    wanted = [name for name in _NEED if name in told][: max(number, 1)]
    return tuple(told[name] for name in _ORDER if name in wanted)


def _beat(name: str, plot: Plot) -> Part | None:
    home, outdoors = _homes(plot)
    everybody = sentence(plot.everybody).rstrip(".")
    match name:
        case "meet":
            verb = "were" if plot.heroes[0].count > 1 else "was"
            return Part(f"Once upon a time there {verb} {plot.names[0]}.", _stage(home, plot, first_only=True),
                        "Once upon a time")  # fmt: skip
        case "other" if len(plot.heroes) > 1:
            met = listed(list(plot.names[1:]))
            return Part(
                f"One day {_the(plot.names[0])} met {met}, and they became friends.", _stage(home, plot), "Friends"
            )
        case "set out":
            sun = Thing(id="sun", kind="sun", at="upper right")
            return Part(f"{everybody} set out to see the world.", _stage("mountains", plot, sun), "Off they go"
                        if plot.several else "Setting out")  # fmt: skip
        case "wish" if plot.find is None and plot.deed:
            return Part(f"{everybody} {plot.deed}.", _stage(plot.goal or outdoors, plot), "A wish")
        case "find" if plot.find is not None:
            find = plot.find.model_copy(update={"at": "middle"})
            deed = plot.deed or f"found {_called(plot.find)}"
            return Part(f"Then {plot.everybody} {deed}.", _stage(_place_of(plot.find, home), plot, find), "A discovery")
        case "use" if plot.find is not None:
            return Part(_use(plot, everybody), _with_find(plot, home), "What a day")
        case "storm":
            cloud = Thing(id="cloud", kind="cloud", state="stormy", size="large", at="upper middle")
            return Part(
                "Suddenly a storm came up, with thunder and lightning.", _stage(outdoors, plot, cloud), "The storm"
            )
        case "rainbow":
            bow = Thing(id="rainbow", kind="rainbow", size="large", at="upper middle")
            return Part(
                "Then the sun came out again, and with it a rainbow.", _stage(outdoors, plot, bow), "The rainbow"
            )
        case "end":
            moon = Thing(id="moon", kind="moon", state="full", at="upper right")
            were = "were" if plot.several else "was"
            return Part(f"In the evening {plot.everybody} {were} tired and happy. Good night!",
                        _stage("night", plot, moon), "Good night")  # fmt: skip
        case _:
            return None


def _homes(plot: Plot) -> tuple[str, str]:
    """Where the heroes live, and a place under the sky."""
    kind = KINDS.get(plot.heroes[0].kind)
    if plot.home is not None:
        return plot.home, "meadow" if BACKDROPS[plot.home].indoors or BACKDROPS[plot.home].floats else plot.home
    home = kind.backdrop if kind is not None and kind.name != "card" else "meadow"
    home = "meadow" if home == "paper" else home
    return home, "meadow" if BACKDROPS[home].indoors or BACKDROPS[home].floats else home


def _use(plot: Plot, everybody: str) -> str:
    """What one does with what was found, by its sort."""
    known = KINDS.get(plot.find.kind) if plot.find is not None else None
    they = "They" if plot.several else everybody
    find = _the(_called(plot.find)) if plot.find is not None else "it"
    match known.category if known is not None else None:
        case "vehicle":
            return f"{they} climbed aboard at once, and off {'they' if plot.several else 'it'} went."
        case "building" | "landscape":
            return f"{they} looked into every corner of {find}."
        case "food":
            return (
                f"{they} shared {find} with everybody who came by." if plot.several else f"{they} tasted it: delicious!"
            )
        case "toy" | "clothing":
            return f"{they} played with {find} until noon."
        case "plant":
            return f"Every day {plot.everybody} came back to look, and {find} grew and grew."
        case "animal" | "person":
            return f"{they} and {find} stayed together the whole day."
        case _:
            return f"{they} had never seen anything like it, and looked at {find} from all sides."


def _stage(backdrop: str, plot: Plot, *more: Thing, first_only: bool = False) -> Scene:
    """The heroes in their places, and what else the picture needs."""
    places: dict[int, tuple[Cell, ...]] = {1: ("middle",), 2: ("left", "right"), 3: ("left", "middle", "right")}
    heroes = plot.heroes[:1] if first_only else plot.heroes
    taken = [thing.at for thing in more]
    cells = places[len(heroes)]
    if len(heroes) == 1 and "middle" in taken:
        cells = ("left",)
    things = [hero.model_copy(update={"at": cell}) for hero, cell in zip(heroes, cells, strict=True)]
    return Scene(backdrop=backdrop, things=(*things, *more))


def _place_of(find: Thing, home: str) -> str:
    known = KINDS.get(find.kind)
    if known is None or find.kind == "card" or known.backdrop in ("table", "desk", "kitchen", "paper", "sea"):
        return "beach" if known is not None and known.backdrop == "sea" else home
    return known.backdrop


def _with_find(plot: Plot, home: str) -> Scene:
    """The heroes with what they found: in it or on it, where that is how one uses it."""
    assert plot.find is not None
    known = KINDS.get(plot.find.kind)
    find = plot.find.model_copy(update={"at": "middle", "size": "large"})
    if known is not None and known.category == "vehicle":
        # Behind the hull one looks as if one sat in the boat.
        aboard: dict[str, Relation] = {"boat": "behind", "airplane": "on"}
        relation = aboard.get(known.name, "in front of")
        beside = Beside(relation=relation, of=find.id)
        riders = [hero.model_copy(update={"size": "small", "at": beside}) for hero in plot.heroes]
        return Scene(backdrop=known.backdrop, things=(find, *riders))
    return _stage(_place_of(plot.find, home), plot, find)
