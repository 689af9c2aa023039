"""Revisions: a change in plain words applied to a scene; everything else is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from langgraph_interleave.world.grammar.actions import COMMANDS, Action, verb_states
from langgraph_interleave.world.grammar.draft import MOST, Draft, find
from langgraph_interleave.world.grammar.languages import Language, language_of
from langgraph_interleave.world.grammar.lexicon import Match
from langgraph_interleave.world.grammar.mention import Mention, color_state
from langgraph_interleave.world.grammar.reader import Reading, SceneReader
from langgraph_interleave.world.grammar.tokens import Token, tokenize
from langgraph_interleave.world.scene import Scene
from langgraph_interleave.world.vocabulary import KINDS

_STOPS = frozenset((".", ";", "!", "?", "\n"))
_LEADS = frozenset(
    ("please", "now", "then", "also", "and", "next", "finally", "just", "could", "can", "you", "but", "let's", "so",
     "only", "we", "i", "you'll", "first", "after", "that", "afterwards", "to", ",")
)  # fmt: skip
_ALL = frozenset(("all", "every", "everything", "both"))


def revise(text: str, scene: Scene, *, language: Language | None = None) -> Reading:
    """The scene after a change told in words.

    Understands commands (add, remove, replace, make, turn, paint, move, put, open, light, …) and
    statements about what is there ("the ball is blue"). What is not mentioned stays as it is.
    Never raises; a change that is not understood changes nothing.

    Args:
        text: One or several changes.
        scene: The scene as it is.
        language: The language of the text; found out when `None`.

    Example:
        >>> from langgraph_interleave.world.scene import Scene, Thing
        >>> ball = Thing(id="ball", kind="ball", color="red")
        >>> after = revise("make the ball blue and add two apples", Scene(things=(ball,))).scene
        >>> [(thing.color, thing.kind, thing.count) for thing in after.things]
        [('blue', 'ball', 1), ('blue', 'apple', 2)][:1] + [(None, 'apple', 2)]
    """
    tokens = tokenize(text)
    unknown: list[str] = []
    last: list[str] = []
    for clause in clauses(tokens):
        reviser = Reviser(clause, language or language_of(text), last)
        reviser.keep(scene)
        reviser.apply()
        unknown.extend(reviser.unknown)
        scene = reviser.scene()
        last = [draft.id for draft in reviser.touched if draft.id is not None] or last
    return Reading(scene, tuple(dict.fromkeys(unknown)))


def clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    """The commands of a text, one list of tokens each.

    Example:
        >>> [" ".join(t.norm for t in c) for c in clauses(tokenize("Add a cat and a dog, then paint the dog red."))]
        ['add a cat and a dog', 'paint the dog red']
    """
    found: list[list[Token]] = []
    part: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if (token.shape == "mark" and token.norm in _STOPS) or (
            token.norm in (",", "and", "then", "but", "，")
            and token.shape != "quote"
            and _command_follows(tokens, index)
        ):
            found.append(part)
            part = []
        else:
            part.append(token)
        index += 1
    return [part for part in (*found, part) if part]


def _command_follows(tokens: Sequence[Token], index: int) -> bool:
    index += 1
    while index < len(tokens) and tokens[index].norm in _LEADS:
        index += 1
    return command_at(tokens, index) is not None or _verb_at(tokens, index) is not None


@cache
def _commands() -> dict[tuple[str, ...], Action]:
    return {tuple(words.split(" ")): action for action, said in COMMANDS.items() for words in said}


@cache
def _verbs() -> dict[tuple[str, ...], tuple[str, ...]]:
    return {tuple(words.split(" ")): states for words, states in verb_states().items()}


def command_at(tokens: Sequence[Token], index: int) -> tuple[Action, int] | None:
    """The action that a command beginning here asks for, and how many words name it."""
    for length in range(4, 0, -1):
        action = _commands().get(tuple(token.norm for token in tokens[index : index + length]))
        if action is not None and len(tokens) >= index + length:
            return action, length
    return None


def _verb_at(tokens: Sequence[Token], index: int) -> tuple[tuple[str, ...], int] | None:
    for length in (2, 1):
        states = _verbs().get(tuple(token.norm for token in tokens[index : index + length]))
        if states is not None and index + length < len(tokens):
            return states, length
    return None


class Reviser(SceneReader):
    """Applies one command to the things of a scene."""

    def __init__(self, tokens: Sequence[Token], language: Language, last: Sequence[str] = ()) -> None:
        super().__init__(tokens, language)
        self.last = last
        self.wanted: Mention | None = None

    def apply(self) -> None:
        """Carry the command out."""
        start = 0
        while start < len(self.tokens) and self.tokens[start].norm in _LEADS:
            start += 1
        command = command_at(self.tokens, start)
        verb = _verb_at(self.tokens, start)
        if verb is not None and (command is None or verb[1] > command[1] or command[0] in ("add", "make", "grow")):
            if self._become(start + verb[1], verb[0]):
                return
        if command is None:
            self._describe(start)
            return
        action, length = command
        rest = start + length
        match action:
            case "keep":
                return
            case "add":
                self._add(rest)
            case "remove":
                self._remove(rest)
            case "replace":
                self._replace(rest)
            case "make" | "turn":
                self._make(rest)
            case "move":
                self._move(rest)
            case "count":
                self._show(rest)
            case "scene":
                self._scene(start, rest)
            case "write":
                self._write(rest)
            case "grow" | "shrink":
                self._resize(rest, larger=action == "grow")
            case "give":
                self._give(rest)
            case "photo":
                self.photo = True
            case "water":
                self._water(rest)

    # What is meant

    def _meant(self, index: int, *, after_relation: bool = False) -> tuple[list[Draft], Mention | None, int]:
        """The things a phrase means among those there are, the phrase, and where it ends."""
        if index < len(self.tokens) and self.tokens[index].norm in ("it", "them", "him", "her", "that"):
            return self._latest(), None, index + 1
        everything = index < len(self.tokens) and self.tokens[index].norm in _ALL
        mention = self.phrases.at(index, after_relation=after_relation)
        if mention is None and everything:
            return list(self.drafts), None, index + 1
        if mention is None or not mention.is_thing:
            return [], mention, mention.end if mention is not None else index
        if everything or (mention.plural and mention.count is None and mention.ordinal is None):
            fitting = [draft for draft in self.drafts if draft.fits(mention)]
            if fitting:
                return fitting, mention, mention.end
        found = find(mention, self.drafts)
        if found is None and mention.count is not None:
            counted = mention.count
            mention.count = None
            found = find(mention, self.drafts)
            mention.count = counted
        if found is None:
            return self._otherwise(mention), mention, mention.end
        self.wanted = mention if not found.fits(replace(mention, count=None), exact=True) else None
        return [found], mention, mention.end

    def _otherwise(self, mention: Mention) -> list[Draft]:
        """What a phrase means that says how the thing shall be, not how it is: "fill the pot with soil"."""
        if not (mention.states or mention.color or mention.size) or not mention.definite:
            return []
        bare = replace(mention, states=[], color=None, size=None)
        found = find(bare, self.drafts)
        if found is None:
            return []
        self.wanted = mention
        return [found]

    def _apply_wanted(self) -> bool:
        """Make a thing what the phrase that meant it said it shall be."""
        mention, self.wanted = self.wanted, None
        if mention is None:
            return False
        bare = replace(mention, states=[], color=None, size=None)
        found = find(bare, self.drafts)
        if found is not None:
            self.refine(found, mention)
            self.touched.append(found)
        return found is not None

    def _latest(self) -> list[Draft]:
        """What "it" means: what the last command was about, else the last thing."""
        named = [draft for draft in self.drafts if draft.id in self.last]
        return named or self.drafts[-1:]

    # The actions

    def _add(self, index: int) -> None:
        if index < len(self.tokens) and self.tokens[index].norm == "more":
            index += 1
        mention = self.phrases.at(index)
        if mention is not None and mention.is_thing and (mention.more or self._says_more(index, mention.end)):
            found = find(mention, self.drafts)
            more = mention.count or 1
            if found is not None and found.count + more <= MOST and not self._place_follows(mention.end):
                found.count += more
                self.touched.append(found)
                return
        self._read_on(index)

    def _says_more(self, start: int, end: int) -> bool:
        return any(token.norm in ("more", "another") for token in self.tokens[start:end])

    def _place_follows(self, index: int) -> bool:
        found = self.lexicon.matches(self.tokens, index)
        return bool(found) and found[0].entry.role in ("cell", "relation")

    def _read_on(self, index: int) -> None:
        """Read what is added, as a description; "to the snowman" names what it belongs to."""
        there = list(self.drafts)
        while index < len(self.tokens):
            if self.tokens[index].norm in ("to", "onto", "for") and self.group and not self.closed:
                owners, mention, end = self._meant(index + 1)
                if owners and mention is not None:
                    self._attach(self.group, owners[-1])
                    index = end
                    continue
            index += max(self._step(index), 1)
        self.touched.extend(draft for draft in self.drafts if draft not in there)

    def _attach(self, added: Sequence[Draft], owner: Draft) -> None:
        known = KINDS.get(owner.kind)
        for draft in added:
            own = KINDS.get(draft.kind)
            if draft.placed or draft is owner:
                continue
            if own is not None and own.category == "clothing":
                draft.beside = ("on", owner)
            elif known is not None and known.opening is not None:
                draft.beside = ("in", owner)
            else:
                draft.beside = ("right of", owner)
        self.close()

    def _remove(self, index: int) -> None:
        while index < len(self.tokens):
            if self.tokens[index].norm == "words" or (
                self.tokens[index : index + 2]
                and [token.norm for token in self.tokens[index : index + 2]]
                in (["the", "words"], ["the", "caption"], ["the", "text"])
            ):
                self.caption = None
                return
            drafts, mention, end = self._meant(index)
            if mention is not None and mention.photo:
                self.photo = False
            for draft in drafts:
                taken = mention.count if mention is not None and mention.count is not None else draft.count
                if mention is not None and mention.count is None and mention.determined and not mention.definite:
                    taken = 1
                if 0 < taken < draft.count:
                    draft.count -= taken
                    self.touched.append(draft)
                else:
                    self.drafts.remove(draft)
            index = max(end, index + 1)

    def _replace(self, index: int) -> None:
        drafts, _, end = self._meant(index)
        while end < len(self.tokens) and self.tokens[end].norm not in ("with", "by", "for", "into", "to"):
            end += 1
        self._become_other(drafts, end + 1)

    def _become_other(self, drafts: Sequence[Draft], index: int) -> bool:
        """Put what a phrase says in the place of things."""
        mention = self.phrases.at(index)
        if mention is None or not mention.is_thing or not drafts:
            return False
        old = drafts[0]
        news = Draft.from_mention(mention)
        if mention.unknown and mention.label is not None:
            self.unknown.append(mention.label)
        new = news[0]
        if mention.count is None and not mention.plural:
            new.count = old.count if not mention.determined else new.count
        new.cell, new.beside = old.cell, old.beside
        place = self.drafts.index(old)
        self.drafts[place : place + 1] = news
        for other in self.drafts:
            if other.beside is not None and other.beside[1] is old:
                other.beside = (other.beside[0], new)
        self.touched.extend(news)
        return True

    def _make(self, index: int) -> None:
        """ "make the ball red", "turn the light green", "change the cup into a glass"."""
        norms = [token.norm for token in self.tokens[index:]]
        if norms[:2] in (["the", "colour"], ["the", "color"], ["the", "size"], ["the", "state"]):
            index += 3
        mention = self.phrases.at(index, after_relation=True)
        if mention is not None and not mention.is_thing and mention.backdrop is not None:
            self.backdrop = mention.backdrop
            return
        drafts, mention, end = self._meant(index)
        if not drafts:
            drafts, end = self._meant_before_quality(index)
        if not drafts:
            self._read_on(index)
            return
        if self._apply_wanted() and end >= len(self.tokens):
            return
        if any(token.norm in ("its", "back") for token in self.tokens[end:]) and self._restores(drafts, end):
            return
        if mention is not None and self._says_quality(drafts, end) is False and mention.color is not None:
            # "make a red ball": the colour was read as a part of the noun.
            end = index
        into = next(
            (at for at in range(end, len(self.tokens)) if self.tokens[at].norm in ("into", "to", "a", "an")), None
        )
        if into is not None:
            start = into if self.tokens[into].norm in ("a", "an") else into + 1
            other = self.phrases.at(start)
            if other is not None and other.is_thing and self._become_other(drafts, start):
                return
        self._qualities(drafts, end)

    def _meant_before_quality(self, index: int) -> tuple[list[Draft], int]:
        """The things of "turn green the light", where the quality stands first."""
        for start in range(index, len(self.tokens)):
            drafts, mention, _ = self._meant(start)
            if drafts and mention is not None and mention.definite:
                return drafts, index
        return [], index

    def _restores(self, drafts: Sequence[Draft], index: int) -> bool:
        words = {token.norm for token in self.tokens[index:]}
        for draft in drafts:
            if words & {"colour", "color"}:
                draft.color = None
            elif "state" in words:
                draft.state = None
            else:
                return False
        self.touched.extend(drafts)
        return True

    def _says_quality(self, drafts: Sequence[Draft], index: int) -> bool:
        return any(self._quality_at(at, drafts) for at in range(index, len(self.tokens)))

    def _quality_at(self, index: int, drafts: Sequence[Draft]) -> Match | None:
        kinds = [draft.kind for draft in drafts]
        for match in self.lexicon.matches(self.tokens, index):
            role = match.entry.role
            if role == "state" and any(kind in match.entry.states for kind in kinds):
                return match
            if role in ("color", "painted", "size"):
                return match
        return None

    def _qualities(self, drafts: Sequence[Draft], index: int) -> None:
        """Apply every colour, size, state and number from here on."""
        self.touched.extend(drafts)
        while index < len(self.tokens):
            if self.tokens[index].norm in ("not", "never", "instead"):
                skipped = self._quality_at(index + 1, drafts)
                index += 1 + (skipped.length if skipped is not None else 0)
                continue
            other = self._other_subject(index, drafts)
            if other is not None:
                drafts, index = other
                self.touched.extend(drafts)
                continue
            match = self._quality_at(index, drafts)
            verb = _verbs().get((self.tokens[index].norm,))
            if match is None and verb is not None:
                self._into_state(drafts, verb)
            if match is None:
                place = self._step(index) if self._place_follows(index) and self._begin(drafts) else 0
                index += max(place, 1)
                continue
            entry = match.entry
            for draft in drafts:
                state = color_state(draft.kind, entry.word) if entry.role == "color" else None
                if entry.role == "state":
                    draft.state = entry.states.get(draft.kind, draft.state)
                elif state is not None:
                    draft.state = state
                elif entry.role == "size":
                    draft.size = _resized(draft.size, entry.word, self.tokens[index].norm)
                else:
                    draft.color = entry.word
            index += match.length

    def _other_subject(self, index: int, drafts: Sequence[Draft]) -> tuple[list[Draft], int] | None:
        """The cat of "make the ball blue and the cat black"."""
        found = self.lexicon.matches(self.tokens, index)
        if not found or found[0].entry.role != "definite":
            return None
        others, mention, end = self._meant(index)
        self.wanted = None
        if mention is None or not others or others[0] in drafts:
            return None
        return others, end

    def _begin(self, drafts: Sequence[Draft]) -> bool:
        self.group, self.owners, self.closed, self.moved = list(drafts), [], False, []
        return True

    def _become(self, index: int, states: Sequence[str]) -> bool:
        """ "open the box", "light the candle", "fill the pot with soil"."""
        drafts, _, end = self._meant(index)
        if not drafts:
            return False
        if self._apply_wanted():
            return True
        if self._quality_at(end, drafts) is not None:
            self._qualities(drafts, end)
            return True
        if not self._into_state(drafts, states):
            return False
        self.touched.extend(drafts)
        return True

    def _into_state(self, drafts: Sequence[Draft], states: Sequence[str]) -> bool:
        changed = False
        for draft in drafts:
            known = KINDS.get(draft.kind)
            state = next((state for state in states if known is not None and state in known.states), None)
            if state is not None:
                draft.state, changed = state, True
        return changed

    def _move(self, index: int) -> None:
        drafts, mention, end = self._meant(index)
        if not drafts or (mention is not None and not mention.definite and mention.determined and not mention.ordinal):
            self._read_on(index)
            return
        self._begin(drafts)
        self.touched.extend(drafts)
        norms = [token.norm for token in self.tokens[end:]]
        if norms[-2:] == ["free", "place"] or norms[-2:] == ["anywhere", "else"]:
            for draft in drafts:
                draft.cell, draft.beside = None, None
            return
        while end < len(self.tokens):
            # A place is read as if it had not been said before.
            end += max(self._step(end), 1)

    def _show(self, index: int) -> None:
        """ "show three balls instead of two"; else whatever is shown."""
        drafts, mention, end = self._meant(index)
        norms = [token.norm for token in self.tokens[end:]]
        if drafts and mention is not None and mention.count is not None:
            drafts[0].count = min(max(mention.count, 1), MOST)
            self.touched.extend(drafts)
            return
        if drafts and mention is not None and norms[:2] == ["instead", "of"]:
            drafts[0].count = 1
            self.touched.extend(drafts)
            return
        if drafts and mention is not None and norms and norms[0] in ("to", "by"):
            number = next((m.entry.number for m in self._numbers(end + 1)), None)
            if number is not None:
                drafts[0].count = min(max(number, 1), MOST)
                return
        if drafts and (mention is None or mention.definite):
            self._apply_wanted()
            self._qualities(drafts, end)
            return
        if not drafts or mention is None or mention.count is not None:
            self._read_on(index)

    def _numbers(self, index: int) -> list[Match]:
        return [match for match in self.lexicon.matches(self.tokens, index) if match.entry.role == "number"]

    def _scene(self, start: int, index: int) -> None:
        for at in range(index, len(self.tokens)):
            for match in self.lexicon.matches(self.tokens, at):
                if match.entry.role == "backdrop":
                    self.backdrop, self.night = match.entry.word, False
                    return
        weather = {"rain": "raining", "raining": "raining", "rainy": "raining", "stormy": "stormy"}
        said = next((weather[token.norm] for token in self.tokens[index:] if token.norm in weather), None)
        if said is not None:
            cloud = next((draft for draft in self.drafts if draft.kind == "cloud"), None)
            if cloud is None:
                cloud = Draft("cloud")
                self.drafts.append(cloud)
            cloud.state = said
            self.touched.append(cloud)
            return
        if self.tokens[start].norm in ("make", "let", "turn", "it", "set"):
            numbers = self._numbers(index)
            if numbers:
                self._show(index)
                return
            drafts = self._latest()
            into = self.phrases.at(index)
            if not (into is not None and into.is_thing and self._become_other(drafts, index)):
                self._qualities(drafts, index)

    def _write(self, index: int) -> None:
        words = next((token.norm for token in self.tokens[index:] if token.shape == "quote"), None)
        if words is None:
            self._read_on(index)
            return
        for at in range(index, len(self.tokens)):
            if self.tokens[at].norm in ("on", "the", "it") and self.tokens[at].shape == "word":
                drafts, mention, _ = self._meant(at if self.tokens[at].norm != "on" else at + 1)
                if drafts and (mention is None or mention.label is None or mention.label != words):
                    for draft in drafts:
                        draft.label = words
                    self.touched.extend(drafts)
                    return
        self.caption = words

    def _resize(self, index: int, *, larger: bool) -> None:
        drafts, _, _ = self._meant(index)
        order = ("small", "medium", "large")
        for draft in drafts:
            draft.size = order[min(max(order.index(draft.size) + (1 if larger else -1), 0), 2)]
        self.touched.extend(drafts)

    def _water(self, index: int) -> None:
        drafts, _, _ = self._meant(index)
        can = next((draft for draft in self.drafts if draft.kind == "watering can"), None)
        if can is None:
            can = Draft("watering can")
            self.drafts.append(can)
        can.state = "pouring"
        if drafts and drafts[0] is not can:
            can.cell, can.beside = None, ("above", drafts[0])
        self.touched.append(can)

    def _give(self, index: int) -> None:
        owners, _, end = self._meant(index)
        if not owners:
            self._read_on(index)
            return
        self._read_on(end + (1 if end < len(self.tokens) and self.tokens[end].norm in ("with", "in") else 0))
        self._attach([draft for draft in self.touched if draft not in owners], owners[-1])

    def _describe(self, start: int) -> None:
        """A statement: "the ball is blue", "the flower blooms", "two more apples", "no clouds", "at night"."""
        drafts, mention, end = self._meant(start)
        if self._apply_wanted():
            return
        if drafts and (mention is None or mention.definite):
            verb = _verb_at([*self.tokens, self.tokens[-1]], end)
            if verb is not None and self._into_state(drafts, verb[0]):
                self.touched.extend(drafts)
                return
            if self._says_quality(drafts, end) or self._place_follows(end):
                self._qualities(drafts, end)
                return
        if mention is not None and mention.is_thing and (mention.more or self._says_more(start, mention.end)):
            self._add(start)
            return
        if mention is None or not mention.is_thing:
            self.backdrop, kept = None, self.backdrop
            self._read_on(start)
            self.backdrop = self.backdrop or kept
            return
        if drafts and mention.count is not None:
            drafts[0].count = min(max(mention.count, 1), MOST)
            self.touched.extend(drafts)
            return
        self._read_on(start)


def _resized(now: str, size: str, word: str) -> str:
    if word.endswith("er") and word != "wee":
        order = ("small", "medium", "large")
        return order[min(max(order.index(now) + (1 if size == "large" else -1), 0), 2)]
    return size
