"""Subjects: which things a command is about, and what it says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langgraph_interleave.world.grammar.commands import verbs
from langgraph_interleave.world.grammar.draft import Draft, find
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.grammar.lexicon import Match
from langgraph_interleave.world.grammar.mention import Mention, color_state
from langgraph_interleave.world.grammar.reader import SceneReader
from langgraph_interleave.world.grammar.tokens import Token
from langgraph_interleave.world.vocabulary import KINDS

_PRONOUNS = frozenset(("it", "them", "him", "her", "that", "they", "he", "she"))
_ALIVE = frozenset(("animal", "person"))
_ALL = frozenset(("all", "every", "everything", "both"))


class SubjectReader(SceneReader):
    """Reads a command's words about the things of a scene. `last` names what the command before was about."""

    def __init__(self, tokens: Sequence[Token], language: Language, last: Sequence[str] = ()) -> None:
        super().__init__(tokens, language)
        self.last = last
        self.wanted: tuple[Mention, list[Draft]] | None = None

    def meant(self, index: int, *, after_relation: bool = False) -> tuple[list[Draft], Mention | None, int]:
        """The things a phrase means among those there are, the phrase, and where it ends.

        What the phrase says beyond that ("fill the pot *with soil*") is kept for `apply_wanted`.
        """
        self.wanted = None
        if index < len(self.tokens) and self.tokens[index].norm in _PRONOUNS:
            several = self.tokens[index].norm in ("they", "them")
            return self._all_alive() if several else self.latest(), None, index + 1
        everything = index < len(self.tokens) and self.tokens[index].norm in _ALL
        mention = self.phrases.at(index, after_relation=after_relation)
        if everything and (mention is None or self.tokens[index].norm == "everything"):
            return list(self.drafts), None, index + 1
        if mention is None or not mention.is_thing:
            return [], mention, mention.end if mention is not None else index
        drafts = self._fitting(mention, everything=everything)
        drafts, mention.end = self._and_others(drafts, mention.end)
        if any(not draft.fits(replace(mention, count=None), exact=True) for draft in drafts):
            self.wanted = (mention, drafts)
        return drafts, mention, mention.end

    def _and_others(self, drafts: list[Draft], end: int) -> tuple[list[Draft], int]:
        """The dog of "make the cat and the dog black"."""
        while drafts and end + 1 < len(self.tokens) and self.tokens[end].norm in ("and", ",", "&"):
            mention = self.phrases.at(end + 1)
            if mention is None or not mention.is_thing or not mention.definite:
                break
            others = self._fitting(mention, everything=False)
            if not others or others[0] in drafts or self.wanted is not None:
                break
            drafts, end = [*drafts, *others], mention.end
        return drafts, end

    def _fitting(self, mention: Mention, *, everything: bool) -> list[Draft]:
        if everything or (mention.plural and mention.count is None and mention.ordinal is None):
            fitting = [draft for draft in self.drafts if draft.fits(mention)]
            if fitting:
                return fitting
        # What it says may be how the thing shall be, not how it is.
        bare = replace(mention, states=[], color=None, size=None, count=None)
        attempts = [mention, replace(mention, count=None), *([bare] if mention.definite else [])]
        found = next((draft for attempt in attempts if (draft := find(attempt, self.drafts)) is not None), None)
        return [found] if found is not None else []

    def apply_wanted(self) -> bool:
        """Make things what the phrase that meant them said they shall be."""
        if self.wanted is None:
            return False
        mention, drafts = self.wanted
        self.wanted = None
        for draft in drafts:
            self.refine(draft, mention)
        self.touched.extend(drafts)
        return bool(drafts)

    def latest(self) -> list[Draft]:
        """What "it" means: what the last command was about, else the last thing."""
        named = [draft for draft in self.drafts if draft.id in self.last]
        if named or not self.drafts:
            return named
        # "Give the cat a hat. Make it black.": it is the cat.
        worn = KINDS.get(self.drafts[-1].kind)
        return [self.support_of(self.drafts[-1]) if worn and worn.category == "clothing" else self.drafts[-1]]

    def _all_alive(self) -> list[Draft]:
        """What "they" means: several that were just named, else all that is alive, else everything."""
        named = [draft for draft in self.drafts if draft.id in self.last]
        if len(named) > 1 or any(draft.count > 1 for draft in named):
            return named
        alive = [draft for draft in self.drafts if draft.kind in KINDS and KINDS[draft.kind].category in _ALIVE]
        return alive or list(self.drafts)

    def support_of(self, draft: Draft) -> Draft:
        """What a thing is in or on, at the bottom of it all: of a seed in a pot, the pot."""
        seen: list[Draft] = []
        while draft.beside is not None and draft not in seen:
            relation, anchor = draft.beside
            if relation not in ("in", "on") or not isinstance(anchor, Draft):
                break
            seen.append(draft)
            draft = anchor
        return draft

    def says_more(self, start: int, end: int) -> bool:
        return any(token.norm in ("more", "another") for token in self.tokens[start:end])

    def place_follows(self, index: int) -> bool:
        found = self.lexicon.matches(self.tokens, index)
        return bool(found) and found[0].entry.role in ("cell", "relation")

    def read_on(self, index: int) -> None:
        """Read what is added, as a description; "to the snowman" names what it belongs to."""
        there = list(self.drafts)
        while index < len(self.tokens):
            if self.tokens[index].norm in ("to", "onto", "for") and self.group and not self.closed:
                owners, mention, end = self.meant(index + 1)
                if owners and mention is not None:
                    self.attach(self.group, owners[-1])
                    index = end
                    continue
            index += max(self._step(index), 1)
        self.touched.extend(draft for draft in self.drafts if draft not in there)

    def attach(self, added: Sequence[Draft], owner: Draft) -> None:
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

    def become_other(self, drafts: Sequence[Draft], index: int) -> bool:
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

    def says_quality(self, drafts: Sequence[Draft], index: int) -> bool:
        return any(self.quality_at(at, drafts) for at in range(index, len(self.tokens)))

    def quality_at(self, index: int, drafts: Sequence[Draft]) -> Match | None:
        kinds = [draft.kind for draft in drafts]
        for match in self.lexicon.matches(self.tokens, index):
            role = match.entry.role
            if role == "state" and any(kind in match.entry.states for kind in kinds):
                return match
            if role in ("color", "painted", "size"):
                return match
        return None

    def qualities(self, drafts: Sequence[Draft], index: int) -> None:
        """Apply every colour, size, state and number from here on."""
        self.touched.extend(drafts)
        while index < len(self.tokens):
            if self.tokens[index].norm in ("not", "never", "instead"):
                skipped = self.quality_at(index + 1, drafts)
                index += 1 + (skipped.length if skipped is not None else 0)
                continue
            other = self._other_subject(index, drafts)
            if other is not None:
                drafts, index = other
                self.touched.extend(drafts)
                continue
            match = self.quality_at(index, drafts)
            verb = verbs().get((self.tokens[index].norm,))
            if match is None and verb is not None:
                self.into_state(drafts, verb)
            if match is None:
                place = self._step(index) if self.place_follows(index) and self.begin(drafts) else 0
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
        others, mention, end = self.meant(index)
        self.wanted = None
        if mention is None or not others or others[0] in drafts:
            return None
        return others, end

    def begin(self, drafts: Sequence[Draft]) -> bool:
        self.group, self.owners, self.closed, self.moved = list(drafts), [], False, []
        return True

    def become(self, index: int, states: Sequence[str]) -> bool:
        """As in "open the box", "light the candle", "fill the pot with soil"."""
        drafts, _, end = self.meant(index)
        if not drafts:
            return False
        if self.apply_wanted():
            return True
        if self.quality_at(end, drafts) is not None:
            self.qualities(drafts, end)
            return True
        if not self.into_state(drafts, states):
            return False
        self.touched.extend(drafts)
        return True

    def into_state(self, drafts: Sequence[Draft], states: Sequence[str]) -> bool:
        """Put things into the first of some states that each can be in; whether any could."""
        changed = False
        for draft in drafts:
            if draft.beside is not None and KINDS.get(draft.kind) is not None and not KINDS[draft.kind].states:
                # "it sprouts", said of the seed, shows in the pot.
                draft = self.support_of(draft)
            known = KINDS.get(draft.kind)
            state = next((state for state in states if known is not None and state in known.states), None)
            if state is not None:
                draft.state, changed = state, True
                self._take_in(draft, state)
        return changed

    def _take_in(self, draft: Draft, state: str) -> None:
        """What is in a thing is not to be seen any more once that is closed, or has sprouted from it."""
        closes = state in ("closed", "covered") and KINDS[draft.kind].opening is not None
        sprouts = draft.kind == "flower pot" and state in ("seeded", "sprouted", "leafy", "flowering")
        if closes or sprouts:
            self.drafts[:] = [
                other
                for other in self.drafts
                if other is draft or self.support_of(other) is not draft or (sprouts and other.kind != "seed")
            ]

    def numbers(self, index: int) -> list[Match]:
        return [match for match in self.lexicon.matches(self.tokens, index) if match.entry.role == "number"]


def _resized(now: str, size: str, word: str) -> str:
    if word.endswith("er") and word != "wee":
        order = ("small", "medium", "large")
        return order[min(max(order.index(now) + (1 if size == "large" else -1), 0), 2)]
    return size
