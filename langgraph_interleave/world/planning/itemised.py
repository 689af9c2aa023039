"""Outlines from the steps that a request lists itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from langgraph_interleave.world.grammar import read, revise
from langgraph_interleave.world.grammar.commands import command_at, verb_at
from langgraph_interleave.world.grammar.languages import Language, with_english_commands
from langgraph_interleave.world.grammar.lexicon import lexicon
from langgraph_interleave.world.grammar.numbers import WORDS
from langgraph_interleave.world.grammar.prose import canonical_id, with_ids
from langgraph_interleave.world.grammar.tokens import tokenize
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.grammar.words import DEFINITE, INDEFINITE
from langgraph_interleave.world.planning.items import Items, without_lead
from langgraph_interleave.world.planning.outline import Outline, Part, joined_captions
from langgraph_interleave.world.planning.series import shared_backdrop
from langgraph_interleave.world.planning.wishes import tidy, without_form, words_only
from langgraph_interleave.world.procedures import find
from langgraph_interleave.world.scene import Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS

_WORDS = re.compile(
    r"^(?:text|note|write|explain|describe|list|mention|say|tell|remind|introduce|erkläre|schreibe|beschreibe|notiere|"
    r"说明|解释|写|列出)(?:\s*[:：]|\b(?!\s+(?:on|in)\s+the\b))",
    re.IGNORECASE,
)
#: A request to the planner, not words for the reader: "Show a plant".
_SHOW = re.compile(
    r"^(?:please\s+)?(?:show|display|depict|zeige?)(?:\s+(?:me|us|mir|uns))?\s+"
    r"(?=an?\b|the\b|one\b|two\b|three\b|some\b)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?:text|note|caption|hinweis|说明)\s*[:：]\s*", re.IGNORECASE)
_TELL = re.compile(
    r"^(?:please\s+)?(?:explain|describe|say|tell(?:\s+\w+)?(?:\s+about)?|erkläre?|beschreibe?|用?文字?(?:解释|说明|介绍)|"
    r"解释|说明|介绍)\s*",
    re.IGNORECASE,
)
#: How sure the book must be that it is what shall be explained.
_SURE = 0.75
_WAIT = re.compile(r"\b(?:wait|let|leave|rest|pause|warte|lass|espera|attends)\b|等|静置", re.IGNORECASE)
#: Longest words on a card that stands for a step nothing else can be drawn of.
_CARD = 24


@dataclass(slots=True)
class Telling:
    """The scene as it is while steps are read one after the other."""

    language: Language
    scene: Scene | None = None
    unknown: tuple[str, ...] = ()
    #: Ids of the cards that only say what could not be drawn; the next step is without them.
    notes: frozenset[str] = frozenset()

    def before(self) -> Scene | None:
        """The scene as the next step finds it."""
        if self.scene is None:
            return None
        return self.scene.model_copy(
            update={"things": tuple(thing for thing in self.scene.things if thing.id not in self.notes)}
        )


def itemised_outline(items: Items, language: Language, *, photo: bool = False) -> Outline:
    """The outline of a request that lists its steps.

    A step told as a command or a statement changes the picture before it; one that only names
    things is a picture of those. Steps that ask for words stay words.

    Args:
        items: The steps listed.
        language: Of the request, and of the captions, which are the user's own words.
        photo: A photo is given, and the first picture begins with it.
    """
    if items.form == "numbered" and not photo and _stand_alone(items, language):
        items = replace(items, form="listed")
    telling = Telling(language, Scene(photo=True) if photo else None)
    parts = tuple(part_of(text, telling, alone=items.form == "listed") for text in items.texts)
    if items.form == "listed":
        parts = _side_by_side(parts, items)
    drawn = sum(part.scene is not None for part in parts)
    thoughts = [f"The request lists {len(parts)} steps itself; I keep its words as captions."]
    if drawn < len(parts):
        thoughts.append(f"{len(parts) - drawn} of them ask for words, not for a picture.")
    title = tidy(without_lead(items.lead)).rstrip(":：") or None
    return Outline(
        title=title[0].upper() + title[1:] if title else None,
        parts=parts,
        order="independent" if items.form == "listed" else "chain",
        language=language,
        thoughts=tuple(thoughts),
        unknown=tuple(dict.fromkeys(telling.unknown)),
        keeps_photo=photo,
    )


def part_of(text: str, telling: Telling, *, alone: bool = False) -> Part:
    """A step told in words, after what was told before it.

    Args:
        text: The step.
        telling: The scene as it is; afterwards, as the step leaves it.
        alone: It has nothing to do with what came before.
    """
    asked = without_form(text)
    if words_only(text) or _WORDS.search(asked):
        return _in_words(_LABEL.sub("", asked), telling.language)
    before = telling.before()
    if alone or before is None:
        reading = read(with_english_commands(asked, telling.language), language=telling.language)
        scene = reading.scene
    elif changes(asked, telling.language):
        reading = revise(asked, before, language=telling.language)
        scene = reading.scene
    else:
        reading = read(asked, language=telling.language, backdrop=before.backdrop, known=before)
        scene = reading.scene.model_copy(update={"photo": before.photo})
    telling.unknown += reading.unknown
    if before is not None and before.things and not alone and _only_unknown(asked, scene, reading.unknown):
        # "Meditate": a word that nobody knows, of a scene that is there, changes nothing in it.
        scene, telling.unknown = before, telling.unknown[: len(telling.unknown) - len(reading.unknown)]
    change = asked if telling.language == "en" and not alone and changes(asked, "en") else None
    telling.notes = frozenset()
    if not alone and not _shows_more(scene, before or Scene()):
        scene = _with_something(scene, asked, telling)
    telling.scene = scene
    return Part(caption=sentence(_SHOW.sub("", asked)), scene=scene, alone=alone, change=change)


def _in_words(asked: str, language: Language) -> Part:
    """A step in words: the user's own, or what the book says of it where it is asked to be explained."""
    subject = tidy(_TELL.sub("", asked))
    hit = find(subject, language)
    if hit is None or hit.score < _SURE:
        return Part(caption=sentence(asked))
    procedure = hit.procedure
    spoken: Language = language if all(step.caption.has(language) for step in procedure.usual) else "en"
    told = joined_captions((step.caption.in_language(spoken) for step in procedure.usual), spoken)
    return Part(caption=told, title=procedure.title.in_language(spoken))


def _stand_alone(items: Items, language: Language) -> bool:
    """Whether a numbered list names a different thing each time, with nothing that happens to it."""
    kinds: list[str] = []
    earlier: tuple[Thing, ...] = ()
    for text in items.texts:
        reading = read(text, language=language, known=Scene(things=earlier))
        things = reading.scene.things
        earlier = with_ids((*earlier, *things))
        if reading.recalled:
            # "The cat in the box": that box, not any.
            return False
        if not things or changes(text, language) or words_only(text) or _WORDS.search(text):
            return False
        kinds.append(f"{things[0].kind}/{things[0].label or ''}")
    return len(set(kinds)) == len(kinds) and len(kinds) > 1


def _side_by_side(parts: tuple[Part, ...], items: Items) -> tuple[Part, ...]:
    """Parts that stand by themselves, in one place where their words name none."""
    unsaid = [read(text, backdrop="").scene.backdrop == "" for text in items.texts]
    kinds = [part.scene.things[0].kind for part in parts if part.scene is not None and part.scene.things]
    common = shared_backdrop(kinds)
    return tuple(
        replace(part, scene=part.scene.model_copy(update={"backdrop": common}))
        if part.scene is not None and free and part.scene.things and _moves(part.scene)
        else part
        for part, free in zip(parts, unsaid, strict=True)
    )


def _moves(scene: Scene) -> bool:
    """Whether a scene can be set elsewhere: what swims or flies keeps its place."""
    return not BACKDROPS[scene.backdrop].floats


def changes(text: str, language: Language) -> bool:
    """Whether a step changes what is there, rather than naming what is to be seen.

    Example:
        >>> changes("open the box", "en"), changes("two red balls", "en"), changes("the cat falls asleep", "en")
        (True, False, True)
    """
    tokens = tokenize(with_english_commands(text, language))
    if not tokens:
        return False
    command = command_at(tokens, 0)
    if verb_at(tokens, 0) is not None or (command is not None and command[0] != "count"):
        return True
    words = lexicon(language)
    for index in range(len(tokens)):
        found = words.matches(tokens, index)
        roles = {match.entry.role for match in found if match.length == found[0].length} if found else set[str]()
        following = words.matches(tokens, index + 1)
        if "state" in roles and following and following[0].entry.role == "noun":
            # "an open box": an adjective.
            continue
        if "relation" in roles and "out" in [token.norm for token in tokens[index : index + found[0].length]]:
            # "comes out of the box": something happens.
            return True
        if "verb" in roles and "noun" not in roles and (index > 0 or "filler" not in roles):
            return True
        if index > 0 and "pronoun" in roles and tokens[index].norm in ("it", "they", "them"):
            return True
        if (
            index > 0
            and (tokens[index].norm,)
            and verb_at([*tokens, tokens[-1]], index) is not None
            and "noun" not in roles
        ):
            return "state" not in roles or index == len(tokens) - 1
    return False


def _only_unknown(text: str, scene: Scene, unknown: tuple[str, ...]) -> bool:
    """Whether a step names nothing but words nobody knows, without an article: as like as not a deed."""
    first = text.split(" ", 1)[0].casefold()
    articles = (*INDEFINITE, *DEFINITE, *WORDS)
    return bool(unknown) and first not in articles and all(thing.label in unknown for thing in scene.things)


def _shows_more(scene: Scene, before: Scene) -> bool:
    """Whether there is anything to see in it that was not there before."""
    return scene != before


def _with_something(scene: Scene, text: str, telling: Telling) -> Scene:
    """A step nothing could be drawn of: a clock where one waits, else its words on a card."""
    if _WAIT.search(text) and all(thing.kind != "clock" for thing in scene.things):
        clock = Thing(id="clock", kind="clock", at="upper left")
        return scene.model_copy(update={"things": (*scene.things, clock)})
    words = text.strip(" .!。")
    label = words if len(words) <= _CARD else words[:_CARD].rsplit(" ", 1)[0] + " …"
    telling.unknown += (label,)
    note = Thing(id="?", kind="card", label=label, at="upper middle" if scene.things else "middle")
    note = note.model_copy(update={"id": canonical_id(note, [thing.id for thing in scene.things])})
    if scene.things:
        telling.notes = frozenset((note.id,))
    return scene.model_copy(update={"things": (*scene.things, note)})
