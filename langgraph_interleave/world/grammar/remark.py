"""Remarks: what somebody says of a picture that exists, carried out on its scene as far as it is understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langgraph_interleave.world.alternatives import shown_color
from langgraph_interleave.world.grammar.changes import difference
from langgraph_interleave.world.grammar.commands import LEADS, clauses, command_at, particle_first, verb_at
from langgraph_interleave.world.grammar.idioms import command_of, without_courtesies
from langgraph_interleave.world.grammar.languages import Language, language_of, with_english_commands
from langgraph_interleave.world.grammar.lexicon import lexicon
from langgraph_interleave.world.grammar.mention import NounPhrases
from langgraph_interleave.world.grammar.prose import phrase
from langgraph_interleave.world.grammar.reader import read
from langgraph_interleave.world.grammar.revision import revise
from langgraph_interleave.world.grammar.tokens import Token, tokenize
from langgraph_interleave.world.palette import COLORS
from langgraph_interleave.world.scene import Beside, Scene, Thing

#: What a colour becomes when a thing shall be darker.
_DARKER = {"white": "grey", "grey": "black", "pink": "red", "yellow": "orange", "orange": "brown", "red": "brown",
           "turquoise": "blue", "blue": "purple", "brown": "black", "purple": "black"}  # fmt: skip
_LIGHTER = {"black": "grey", "grey": "white", "red": "pink", "orange": "yellow", "brown": "orange",
            "blue": "turquoise", "purple": "pink"}  # fmt: skip
_TONE = re.compile(
    r"^(?:make\s+)?(the\s+.+?)\s+(?:(?:is|are)\s+)?(?:(?:a\s+(?:bit|little)|much|slightly)\s+)?(darker|lighter|brighter)$",
    re.IGNORECASE,
)
_BACK = re.compile(r"^bring in the (.+)$")
_ONE_LESS = re.compile(r"^remove one of the (.+)$")
_ONLY = re.compile(r"^only ((?:the|my) .+)$", re.IGNORECASE)
_WEATHER = re.compile(r"^make it (rain|storm)$", re.IGNORECASE)
_RECOLOURED = re.compile(rf"^(?:an?|the)?\s*({'|'.join(COLORS)}|gray)\s+([\w\s-]+)$", re.IGNORECASE)
_NOUN_FIRST = re.compile(rf"^([\w-]+(?:\s[\w-]+)?)\s+({'|'.join(COLORS)}|gray)$", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|never|n't|nicht|kein\w*|pas|ne)\b|不", re.IGNORECASE)
#: Commands that say that something comes into the picture, so that a word nobody knows may become a card.
_ADDS = re.compile(
    r"^(?:(?:add|insert|include|draw|introduce|bring in|also show|show|write|label|put|place|give|dress|hang|"
    r"replace|turn|change|plant|build)\b|there (?:should be|is|are|must be)\b|加|添|画|füge|zeichne|ajoute|añade)",
    re.IGNORECASE,
)
_OPENLY = re.compile(r"^(?:add|insert|include|introduce|bring in|also show|加|添|füge|ajoute|añade)", re.IGNORECASE)
_KEEPS = re.compile(
    r"^(?:keep|leave|preserve|retain|don't (?:change|touch)|do not (?:change|touch)|(?:everything|nothing) else|"
    r"the rest)\b",
    re.IGNORECASE,
)
_SPEAKS_OF = re.compile(r"^(?:the|this|that|my|it|make|i|we|you)\b", re.IGNORECASE)
_AND = re.compile(r"\s*,?\s+and\s+", re.IGNORECASE)
_MOST_PARTS = 6
_SENTENCE = re.compile(r"\b(?:is|are|should|must|has|have|looks?|too)\b", re.IGNORECASE)
_BOTH = re.compile(
    r"^((?:the|an?)\s+[\w-]+(?:\s[\w-]+)?)\s+and\s+((?:the|an?)\s+[\w-]+(?:\s[\w-]+)?)\s+"
    r"((?:are|should|must|have to|need to|look)\b.+)$",
    re.IGNORECASE,
)
#: "Too small": what should be is the opposite, so that it must not be read as it stands.
_TOO = re.compile(r"\btoo\s+(?!and\b|to\b|in\b)\w", re.IGNORECASE)
#: Characters of a remark that are read, and of one piece of it that may be understood.
_LONGEST = 2000
_LONGEST_PIECE = 300


@dataclass(frozen=True, slots=True)
class Remark:
    """What came of a remark.

    Attributes:
        scene: The scene with what was understood carried out.
        done: What was understood, piece by piece, in the words it was said in; also what is so already.
        missed: What was not.
        unknown: Words in `done` that nobody here knows: drawn as labelled cards, or left out.
        kept: All that was said is that something stays as it is.
    """

    scene: Scene
    done: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    kept: bool = False


def carry_out(text: str, scene: Scene, *, language: Language | None = None) -> Remark:
    """Carry a remark out on a scene: "make the pot blue", "two birds, not one", "the ball is too small".

    Stricter than `revise`: a piece counts as understood only if it changes the scene, or says what the
    scene says already. Nothing new comes into the picture unless it is asked for: "the light is wrong"
    adds no lamp. Never raises.

    Args:
        text: One or several remarks.
        scene: What the picture shall show without them.
        language: Of the text; found out when `None`.

    Example:
        >>> pot = Thing(id="flower_pot", kind="flower pot")
        >>> remark = carry_out("Make the pot blue. I am not sure about the mood.", Scene(things=(pot,)))
        >>> remark.scene.things[0].color, remark.done, remark.missed
        ('blue', ('Make the pot blue',), ('I am not sure about the mood',))
    """
    text = text[:_LONGEST]
    language = language or language_of(text)
    done: list[str] = []
    missed: list[str] = []
    unknown: list[str] = []
    last = ""
    for said in _pieces(with_english_commands(text, language)):
        command = command_of(said) if language == "en" else said
        after = _after(command, scene, language, last) if len(said) <= _LONGEST_PIECE else None
        parts = _parts(said) if language == "en" and len(said) <= _LONGEST_PIECE else []
        if 1 < len(parts) <= _MOST_PARTS:
            after = _further(parts, scene, after, last)
        if after is None:
            missed.append(said)
            continue
        changed, words = after
        unknown.extend((*words, *_ignored(command, language)))
        done.append(said)
        scene = changed
        last = command
    kept = bool(done) and all(_KEEPS.match(said) for said in done)
    return Remark(scene, tuple(done), tuple(missed), tuple(dict.fromkeys(unknown)), kept)


def by_day(scene: Scene) -> Scene:
    """A scene at night where its things usually are by day, without the moon.

    Example:
        >>> by_day(Scene(backdrop="night", things=(Thing(id="ball", kind="ball"),))).backdrop
        'meadow'
    """
    things = tuple(thing for thing in scene.things if thing.kind not in ("moon", "star"))
    words = "; ".join(phrase(thing, placed=False) for thing in things)
    usual = read(words, language="en").scene.backdrop if words else "meadow"
    standing = {thing.id for thing in things}
    freed = tuple(_free(thing, standing) for thing in things)
    return scene.model_copy(update={"backdrop": "meadow" if usual in ("night", "paper") else usual, "things": freed})


def _free(thing: Thing, there: set[str]) -> Thing:
    lost = isinstance(thing.at, Beside) and thing.at.of not in (*there, "photo")
    return thing.model_copy(update={"at": None}) if lost else thing


def _pieces(text: str) -> Iterator[str]:
    """The remarks of a text, one command or statement each."""
    for clause in clauses(tokenize(text)):
        words = text[clause[0].start : clause[-1].end].strip(" ,;:.-–")
        if words and any(token.shape != "mark" for token in clause) and not _only_leads(clause):
            yield words


def _further(
    parts: Sequence[str], scene: Scene, whole: tuple[Scene, Sequence[str]] | None, last: str
) -> tuple[Scene, Sequence[str]] | None:
    """The scene after a piece with "and" in it: part by part, where that carries out more than the whole does.

    "The cat on the right and two balls" are two remarks, "the cat and the dog are black" is one.
    """
    now, unknown = scene, list[str]()
    for part in parts:
        after = _after(command_of(part), now, "en", last)
        if after is None:
            return whole
        now = after[0]
        unknown.extend(after[1])
    sentences = all(_SENTENCE.search(part) or _verb(part) for part in parts)
    if whole is None or sentences or len(difference(scene, now)) > len(difference(scene, whole[0])):
        return now, unknown
    return whole


def _parts(said: str) -> list[str]:
    """A piece cut at its "and"; what is said of two things is said of each."""
    words = without_courtesies(said)
    both = _BOTH.match(words)
    return [f"{both[1]} {both[3]}", f"{both[2]} {both[3]}"] if both is not None else _AND.split(words)


def _only_leads(clause: Sequence[Token]) -> bool:
    return all(token.norm in LEADS or token.norm in ("thanks", "thank", "ok", "yes") for token in clause)


def _after(command: str, scene: Scene, language: Language, last: str) -> tuple[Scene, Sequence[str]] | None:
    """The scene after one piece, with words that became cards; `None` where it was not understood."""
    if _KEEPS.match(command):
        return scene, ()
    if command == "set it by day":
        return (by_day(scene), ()) if scene.backdrop == "night" else None
    toned = _TONE.match(command)
    if toned is not None:
        changed = _toned(toned[1], darker=toned[2].casefold() == "darker", scene=scene, language=language)
        return (changed, ()) if changed is not None else None
    found = _BACK.match(command)
    if found is not None and _has(found[1], scene, language):
        # It is to be there already; that the picture lacks it is no other scene.
        return scene, ()
    less, only, weather = _ONE_LESS.match(command), _ONLY.match(command), _WEATHER.match(command)
    if less is not None and [thing.count for thing in _meant(f"the {less[1]}", scene, language)] == [1]:
        return scene, ()
    if only is not None:
        left = _only(only[1], scene, language)
        return (left, ()) if left is not None else None
    if weather is not None:
        state = {"rain": "raining", "storm": "stormy"}[weather[1].casefold()]
        there = any(thing.kind == "cloud" for thing in scene.things)
        command = f"make the cloud {state}" if there else f"add a {state} cloud"
    command = _recoloured(command, scene, language)
    if _TOO.search(command):
        return None
    if _NEGATED.search(command) and _verb(command) != "remove":
        return None
    # What "it" means may have been said in the piece before.
    reading = revise(command, scene, language=language)
    if reading.scene == scene and last and re.search(r"\b(?:it|them|they)\b", command):
        both = revise(f"{last}. {command}", scene, language=language)
        reading = both if both.scene != scene else reading
    if reading.scene != scene:
        return (reading.scene, reading.unknown) if _wanted(command, scene, reading.scene, language) else None
    return (scene, ()) if _is_so(command, scene, language) else None


def _wanted(command: str, before: Scene, after: Scene, language: Language) -> bool:
    """Whether what has come into a scene was asked for, and not only spoken of."""
    there = {thing.id for thing in before.things}
    new = [thing for thing in after.things if thing.id not in there]
    if not new:
        return True
    if any(thing.kind == "card" for thing in new) and not _ADDS.match(command):
        return False
    openly = _OPENLY.match(command) is not None
    tokens = tokenize(command)
    phrases = NounPhrases(tokens, lexicon(language))
    known: set[str] = set()
    past = 0
    for index in range(len(tokens)):
        mention = phrases.at(index)
        if mention is None or not mention.is_thing or index < past:
            continue
        past = mention.end
        if openly:
            # "Add the moon": what is added first may be called so.
            openly = False
        elif mention.definite:
            known.update(kind for kind, _ in mention.senses)
            if mention.unknown:
                known.add("card")
    if any(thing.kind in known for thing in new):
        return False
    # "The pot has a crack", "make the mood cat": a statement or a command about what is not there.
    return bool(_ADDS.match(command)) or not _SPEAKS_OF.match(command)


def _verb(command: str) -> str:
    tokens = particle_first(tokenize(command))
    found = command_at(tokens, 0)
    return found[0] if found is not None else ""


def _has(words: str, scene: Scene, language: Language) -> bool:
    kinds = {thing.kind for thing in read(words, language=language).scene.things if thing.kind != "card"}
    return bool(kinds) and kinds <= {thing.kind for thing in scene.things}


def _meant(words: str, scene: Scene, language: Language) -> list[Thing]:
    """The things of a scene that a noun phrase means."""
    kept = read(words, language=language, known=scene).recalled
    return [thing for thing in scene.things if thing.id in kept]


def _only(words: str, scene: Scene, language: Language) -> Scene | None:
    """The scene with nothing but some of its things, and what those stand on."""
    kept = {thing.id for thing in _meant(words, scene, language)}
    if not kept:
        return None
    by_id = {thing.id: thing for thing in scene.things}
    for name in list(kept):
        while isinstance(at := by_id[name].at, Beside) and at.of in by_id and at.of not in kept:
            kept.add(name := at.of)
    return scene.model_copy(update={"things": tuple(thing for thing in scene.things if thing.id in kept)})


def _toned(words: str, *, darker: bool, scene: Scene, language: Language) -> Scene | None:
    tones = _DARKER if darker else _LIGHTER
    meant = {thing.id: tones.get(thing.color or shown_color(thing)) for thing in _meant(words, scene, language)}
    if not meant or None in meant.values():
        return None
    things = (
        thing.model_copy(update={"color": meant[thing.id]}) if thing.id in meant else thing for thing in scene.things
    )
    return scene.model_copy(update={"things": tuple(things)})


def _recoloured(command: str, scene: Scene, language: Language) -> str:
    """Of a picture with one ball that is not blue, "a blue ball" means that one, in blue."""
    match = _RECOLOURED.match(command)
    color, noun = (match[1], match[2]) if match is not None else ("", "")
    other = _NOUN_FIRST.match(command) if match is None and not _verb(command) else None
    if other is not None:
        color, noun = other[2], other[1].removeprefix("the ")
    if not noun or len(_meant(f"the {noun}", scene, language)) != 1:
        return command
    (meant,) = _meant(f"the {noun}", scene, language)
    if [thing.kind for thing in scene.things].count(meant.kind) != 1:
        return command
    return f"make the {noun} {color}"


def _is_so(command: str, scene: Scene, language: Language) -> bool:
    """Whether a piece says what is so already: it makes it so where it is otherwise."""
    if not scene.things or len(command) > 120:
        return revise(command, scene.model_copy(update={"backdrop": "space"}), language=language).scene == scene
    others = (scene.model_copy(update={"backdrop": "space" if scene.backdrop != "space" else "paper"}),)
    meant = _meant(command, scene, language) or scene.things[:6]
    return any(
        revise(command, other, language=language).scene == scene for other in (*others, *_otherwise(meant, scene))
    )


def _otherwise(meant: Sequence[Thing], scene: Scene) -> Iterator[Scene]:
    """Scenes in which one of some things differs in one respect."""
    for thing in meant:
        for update in (
            {"color": "turquoise" if thing.color != "turquoise" else "pink"},
            {"count": thing.count % 9 + 1},
            {"size": "large" if thing.size != "large" else "small"},
            {"state": None},
            {"at": "lower right" if thing.at != "lower right" else "upper left"},
        ):
            changed = thing.model_copy(update=update)
            if changed != thing:
                things = (changed if other.id == thing.id else other for other in scene.things)
                yield scene.model_copy(update={"things": tuple(things)})


def _ignored(command: str, language: Language) -> Iterator[str]:
    """Words of an understood piece that mean nothing here, so that leaving them out is not silent."""
    tokens = particle_first(tokenize(command))
    words = lexicon(language)
    phrases = NounPhrases(tokens, words)
    index = 0
    while index < len(tokens):
        taken = command_at(tokens, index) or verb_at([*tokens, tokens[-1]], index)
        matches = words.matches(tokens, index)
        mention = phrases.at(index)
        length = max(
            taken[1] if taken is not None else 0,
            matches[0].length if matches else 0,
            mention.end - index if mention is not None else 0,
        )
        token = tokens[index]
        plain = token.shape == "word" and not token.unspaced and len(token.norm) > 2
        if not length and plain and token.norm not in LEADS:
            yield token.raw
        index += max(length, 1)
