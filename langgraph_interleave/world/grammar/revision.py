"""Revisions: a change in plain words applied to a scene; everything else is kept."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_interleave.world.grammar.commands import LEADS, clauses, command_at, particle_first, verb_at
from langgraph_interleave.world.grammar.draft import MOST, Draft, find
from langgraph_interleave.world.grammar.languages import Language, language_of, with_english_commands
from langgraph_interleave.world.grammar.mention import Mention
from langgraph_interleave.world.grammar.reader import Reading
from langgraph_interleave.world.grammar.subjects import SubjectReader
from langgraph_interleave.world.grammar.tokens import tokenize
from langgraph_interleave.world.scene import Scene


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
        [('blue', 'ball', 1), (None, 'apple', 2)]
    """
    language = language or language_of(text)
    tokens = tokenize(with_english_commands(text, language))
    unknown: list[str] = []
    last: list[str] = []
    for clause in clauses(tokens):
        reviser = Reviser(particle_first(clause), language, last)
        reviser.keep(scene)
        reviser.apply()
        unknown.extend(reviser.unknown)
        scene = reviser.scene()
        ids = zip(reviser.drafts, scene.things, strict=True)
        last = [thing.id for draft, thing in ids if draft in reviser.touched] or last
    few = scene.few()
    return Reading(few, tuple(dict.fromkeys(unknown)), left_out=len(scene.things) - len(few.things))


#: Actions whose words may as well be everyday verbs with a state of their own: "plant the seed", "eat the apple".
_STATES_FIRST = frozenset(("add", "make", "grow", "remove"))


class Reviser(SubjectReader):
    """Applies one command to the things of a scene."""

    def apply(self) -> None:
        """Carry the command out."""
        start = 0
        while start < len(self.tokens) and self.tokens[start].norm in LEADS:
            start += 1
        command = command_at(self.tokens, start)
        verb = verb_at(self.tokens, start)
        closer = verb is not None and (command is None or verb[1] > command[1] or command[0] in _STATES_FIRST)
        if verb is not None and closer and self.become(start + verb[1], verb[0]):
            return
        if command is None:
            self._describe(start + (verb[1] if verb is not None else 0))
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

    # The actions

    def _add(self, index: int) -> None:
        if index < len(self.tokens) and self.tokens[index].norm == "more":
            index += 1
        mention = self.phrases.at(index)
        if mention is not None and mention.is_thing and (mention.more or self.says_more(index, mention.end)):
            found = find(mention, self.drafts)
            more = mention.count or 1
            if found is not None and found.count + more <= MOST and not self.place_follows(mention.end):
                found.count += more
                self.touched.append(found)
                return
        self.read_on(index)

    def _remove(self, index: int) -> None:
        if [token.norm for token in self.tokens[index : index + 3]] == ["the", "label", "of"]:
            for draft in self.meant(index + 3)[0]:
                draft.label = None
                self.touched.append(draft)
            return
        spared: list[Draft] = []
        for at in range(index, len(self.tokens)):
            if self.tokens[at].norm in ("but", "except"):
                spared = self.meant(at + 1)[0]
                break
        while index < len(self.tokens):
            if self.tokens[index].norm == "words" or (
                self.tokens[index : index + 2]
                and [token.norm for token in self.tokens[index : index + 2]]
                in (["the", "words"], ["the", "caption"], ["the", "text"])
            ):
                self.caption = None
                return
            drafts, mention, end = self.meant(index)
            if mention is not None and mention.photo:
                self.photo = False
            for draft in [draft for draft in drafts if draft not in spared]:
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
        drafts, _, end = self.meant(index)
        while end < len(self.tokens) and self.tokens[end].norm not in ("with", "by", "for", "into", "to"):
            end += 1
        self.become_other(drafts, end + 1)

    def _make(self, index: int) -> None:
        """As in "make the ball red", "turn the light green", "change the cup into a glass"."""
        norms = [token.norm for token in self.tokens[index:]]
        if norms[:2] in (["the", "colour"], ["the", "color"], ["the", "size"], ["the", "state"]):
            index += 3
        mention = self.phrases.at(index, after_relation=True)
        if mention is not None and not mention.is_thing and mention.backdrop is not None:
            self.backdrop = mention.backdrop
            return
        drafts, mention, end = self.meant(index)
        if not drafts:
            drafts, end = self._meant_before_quality(index)
        if not drafts:
            self.read_on(index)
            return
        if self.apply_wanted() and end >= len(self.tokens):
            return
        if any(token.norm in ("its", "back") for token in self.tokens[end:]) and self._restores(drafts, end):
            return
        if mention is not None and self.says_quality(drafts, end) is False and mention.color is not None:
            # "make a red ball": the colour was read as a part of the noun.
            end = index
        into = next(
            (at for at in range(end, len(self.tokens)) if self.tokens[at].norm in ("into", "to", "a", "an")), None
        )
        if into is not None:
            start = into if self.tokens[into].norm in ("a", "an") else into + 1
            other = self.phrases.at(start)
            if other is not None and other.is_thing and self.become_other(drafts, start):
                return
        self.qualities(drafts, end)

    def _meant_before_quality(self, index: int) -> tuple[list[Draft], int]:
        """The things of "turn green the light", where the quality stands first."""
        for start in range(index, len(self.tokens)):
            drafts, mention, _ = self.meant(start)
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

    def _move(self, index: int) -> None:
        drafts, mention, end = self.meant(index)
        if not drafts or (mention is not None and not mention.definite and mention.determined and not mention.ordinal):
            self.read_on(index)
            return
        self.begin(drafts)
        self.touched.extend(drafts)
        norms = [token.norm for token in self.tokens[end:]]
        if norms[-2:] == ["free", "place"] or norms[-2:] == ["anywhere", "else"] or norms[:2] == ["out", "of"]:
            for draft in drafts:
                draft.cell, draft.beside = None, None
            return
        while end < len(self.tokens):
            # A place is read as if it had not been said before.
            end += max(self._step(end), 1)

    def _show(self, index: int) -> None:
        """As in "show three balls instead of two"; else whatever is shown."""
        if index < len(self.tokens) and self.tokens[index].norm in ("no", "not"):
            self._remove(index + 1)
            return
        drafts, mention, end = self.meant(index)
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
            number = next((m.entry.number for m in self.numbers(end + 1)), None)
            if number is not None:
                change = drafts[0].count if norms[0] == "by" else 0
                sign = 1 if self.tokens[0].norm == "increase" or norms[0] == "to" else -1
                drafts[0].count = min(max(change + sign * number, 1), MOST)
                return
        if drafts and (mention is None or mention.definite):
            self.apply_wanted()
            self.qualities(drafts, end)
            return
        if not drafts or mention is None or mention.count is not None:
            self.read_on(index)

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
            numbers = self.numbers(index)
            if numbers:
                self._show(index)
                return
            drafts = self.latest()
            into = self.phrases.at(index)
            if not (into is not None and into.is_thing and self.become_other(drafts, index)):
                self.qualities(drafts, index)

    def _write(self, index: int) -> None:
        words = next((token.norm for token in self.tokens[index:] if token.shape == "quote"), None)
        if words is None:
            self.read_on(index)
            return
        for at in range(index, len(self.tokens)):
            if self.tokens[at].norm in ("on", "the", "it") and self.tokens[at].shape == "word":
                drafts, mention, _ = self.meant(at if self.tokens[at].norm != "on" else at + 1)
                if drafts and (mention is None or mention.label is None or mention.label != words):
                    for draft in drafts:
                        draft.label = words
                    self.touched.extend(drafts)
                    return
        self.caption = words

    def _resize(self, index: int, *, larger: bool) -> None:
        drafts, _, _ = self.meant(index)
        order = ("small", "medium", "large")
        for draft in drafts:
            draft.size = order[min(max(order.index(draft.size) + (1 if larger else -1), 0), 2)]
        self.touched.extend(drafts)

    def _water(self, index: int) -> None:
        drafts, _, _ = self.meant(index)
        can = next((draft for draft in self.drafts if draft.kind == "watering can"), None)
        if can is None:
            can = Draft("watering can")
            self.drafts.append(can)
        can.state = "pouring"
        if drafts and drafts[0] is not can:
            can.cell, can.beside = None, ("above", self.support_of(drafts[0]))
        self.touched.append(can)

    def _give(self, index: int) -> None:
        owners, _, end = self.meant(index)
        if not owners:
            self.read_on(index)
            return
        self.read_on(end + (1 if end < len(self.tokens) and self.tokens[end].norm in ("with", "in") else 0))
        self.attach([draft for draft in self.touched if draft not in owners], owners[-1])
        # "Give the cat a hat. Make it black.": it is the cat.
        self.touched = list(owners)

    def _becomes(self, drafts: Sequence[Draft], mention: Mention | None, states: Sequence[str]) -> bool:
        """As in "the flower blooms"; of "it sprouts", that which can."""
        if self.into_state(drafts, states):
            self.touched.extend(drafts)
            return True
        if mention is not None:
            return False
        able = next((draft for draft in self.drafts if self.into_state([draft], states)), None)
        if able is not None:
            self.touched.append(able)
        return able is not None

    def _describe(self, start: int) -> None:
        """A statement: "the ball is blue", "the flower blooms", "two more apples", "no clouds", "at night"."""
        drafts, mention, end = self.meant(start)
        if self.apply_wanted():
            return
        if drafts and (mention is None or mention.definite):
            verb = verb_at([*self.tokens, self.tokens[-1]], end)
            if verb is not None and self._becomes(drafts, mention, verb[0]):
                return
            if (
                end < len(self.tokens)
                and self.tokens[end].norm in ("becomes", "become")
                and self.become_other(drafts, end + 1)
            ):
                return
            if self.says_quality(drafts, end) or self.place_follows(end):
                self.qualities(drafts, end)
                return
        if mention is not None and mention.is_thing and (mention.more or self.says_more(start, mention.end)):
            self._add(start)
            return
        if mention is None or not mention.is_thing:
            self.backdrop, kept = None, self.backdrop
            self.read_on(start)
            self.backdrop = self.backdrop or kept
            return
        if drafts and mention.count is not None:
            drafts[0].count = min(max(mention.count, 1), MOST)
            self.touched.extend(drafts)
            return
        if not (mention.unknown and not mention.determined and mention.end >= len(self.tokens)):
            # A single word nobody knows is as like as not a deed: "Meditate".
            self.read_on(start)
