"""Reads a scene out of English (and, in part, other) text. Tolerant: it never fails, whatever the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_interleave.world.grammar.assembly import Assembly
from langgraph_interleave.world.grammar.draft import Draft, find
from langgraph_interleave.world.grammar.languages import Language, language_of
from langgraph_interleave.world.grammar.lexicon import Entry, Match, lexicon
from langgraph_interleave.world.grammar.mention import Mention, NounPhrases, color_state
from langgraph_interleave.world.grammar.tokens import Token, tokenize
from langgraph_interleave.world.grammar.words import LONE_CELLS
from langgraph_interleave.world.scene import Cell, Relation, Scene
from langgraph_interleave.world.vocabulary import KINDS

_STOPS = frozenset((";", ".", "!", "?", "\n", ":"))
_COPULAS = frozenset(
    ("is", "are", "was", "were", "be", "looks", "look", "seems", "seem", "stays", "stay", "becomes", "become", "been",
     "remains", "remain", "appears", "appear", "isn't", "it's", "ist", "sind", "es", "está", "son", "est", "sont")
)  # fmt: skip
_BEFORE_COMMANDS = frozenset((*_STOPS, ",", "and", "then", "to", "please", "now", "next"))


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: the scene, and the words that no vocabulary knows (they are cards in it).

    `recalled`: ids of things taken over from the picture before; `left_out`: how many were too many.
    """

    scene: Scene
    unknown: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    left_out: int = 0


def read(
    text: str, *, language: Language | None = None, backdrop: str | None = None, known: Scene | None = None
) -> Reading:
    """The scene a text describes.

    Understands the canonical form of `describe` without loss, and free text as far as its words are known: numbers,
    colours, sizes, states, places, relations, backdrops, "X and Y", "no X". A noun nobody knows becomes a labelled
    card. Never raises; not guaranteed: that free text is understood as its author meant it.

    Args:
        text: Any text.
        language: Its language; found out when `None`.
        backdrop: Where it plays when the text does not say; `None`: where its first thing usually is.
        known: The picture before. A thing of it that the text names with "the" or a pronoun is the same
            one here, in the state, colour, size and place it had, unless the text says otherwise.

    Example:
        >>> [(thing.kind, thing.count) for thing in read("two red apples and a frobnicator").scene.things]
        [('apple', 2), ('card', 1)]
        >>> read("two red apples and a frobnicator").unknown
        ('frobnicator',)
    """
    reader = SceneReader(tokenize(text), language or language_of(text))
    if known is not None:
        reader.remember(known)
    reader.run()
    reader.otherwise = backdrop
    scene = reader.scene()
    few = scene.few()
    recalled = tuple(draft.id for draft in reader.known if draft in reader.drafts and draft.id is not None)
    return Reading(few, tuple(dict.fromkeys(reader.unknown)), recalled, len(scene.things) - len(few.things))


class SceneReader(Assembly):
    """One pass over the tokens of a text."""

    def __init__(self, tokens: Sequence[Token], language: Language = "en") -> None:
        super().__init__()
        #: Whether the text lists what a backdrop shows, as `describe` does: "On a table: …".
        self.listed = False
        self.tokens = tokens
        self.lexicon = lexicon(language)
        self.phrases = NounPhrases(tokens, self.lexicon)

    def run(self) -> None:
        """Read all tokens."""
        index = 0
        while index < len(self.tokens):
            index += max(self._step(index), 1)

    # One step

    def _step(self, index: int) -> int:
        """Read what begins at a token; how many tokens it took."""
        token = self.tokens[index]
        if token.shape == "mark":
            if token.norm in _STOPS:
                self.end_clause()
            elif token.norm in ",、":
                self.predicate, self.joined = False, not self.closed
            return 1
        matches = self.lexicon.matches(self.tokens, index)
        if token.norm == "在":
            self.at_word = True
            return 1
        if token.norm in ("in", "under") and matches and matches[0].entry.role == "noun":
            # "A plant in the sun" brings the sun along; where one is named, or all is listed, it is that sun.
            known = {draft.kind for draft in self.drafts}
            matches = [m for m in matches if not (self.listed or known.intersection(k for k, _ in m.entry.senses))
                       or m.entry.role != "noun"]  # fmt: skip
        for match in matches:
            if match.length < matches[0].length and matches[0].entry.role == "noun":
                # 雪人 is a snowman, not snow.
                break
            taken = self._by_role(match, index)
            if taken:
                return taken
        return self._noun_phrase(index) or (matches[-1].length if matches else self._skip(index))

    def _by_role(self, match: Match, index: int) -> int:
        entry, end = match.entry, index + match.length
        match entry.role:
            case "photo" if match.length > 2 or not self._photo_of(end):
                self.photo, self.listed = True, self.listed or any(t.norm == ":" for t in self.tokens[end : end + 1])
                return match.length
            case "caption":
                return self._caption(index, end)
            case "cell":
                return self._cell(entry, match.length)
            case "backdrop":
                return self._backdrop(entry, index, match.length)
            case "relation":
                return self._relation(entry, index, match.length)
            case "negation":
                return self._negation(index, end)
            case "conjunction":
                self.joined, self.predicate = not self.closed, False
                return match.length
            case "with":
                return self._with(index, end)
            case "pronoun":
                if self.tokens[index].norm in ("it", "they", "he", "she", "which", "who", "them"):
                    if not self.group and not self.drafts and self.known:
                        self.take_over(self.known[-1])
                    self.group = self.group or self.drafts[-1:]
                return match.length
            case "verb":
                if self._phrase_begins(match, index):
                    return 0
                self.predicate = True
                self.copula = self.tokens[index].norm in _COPULAS
                return match.length
            case "color" | "size" | "state" | "painted" if self.predicate or self.lexicon.adjectives_follow:
                return self._quality(match, index)
            case "filler" if not self._phrase_begins(match, index):
                return match.length
            case _:
                return 0

    def _phrase_begins(self, match: Match, index: int) -> bool:
        """Whether a verb or filler is really the noun of a phrase ("a hand-drawn cat", "the plant")."""
        return any(
            other.entry.role in ("noun", "color", "size", "number")
            for other in self.lexicon.matches(self.tokens, index)
            if other.length >= match.length
        ) and not self._is_imperative(index, match.length)

    def _is_imperative(self, index: int, length: int) -> bool:
        """Whether a word that is a noun and a verb begins a command: "plant a seed", "water the tree"."""
        starts = index == 0 or self.tokens[index - 1].norm in _BEFORE_COMMANDS
        after = self.lexicon.matches(self.tokens, index + length)
        is_verb = any(match.entry.role == "verb" for match in self.lexicon.matches(self.tokens, index))
        objects = ("definite", "indefinite", "number", "pronoun")
        return bool(starts and is_verb and after and after[0].entry.role in objects)

    def _skip(self, index: int) -> int:
        """Pass over a word that means nothing here."""
        self.predicate = self.predicate or self.tokens[index].norm.endswith(("s", "ed", "ing"))
        return 1

    # Places

    def _cell(self, entry: Entry, length: int) -> int:
        cell: Cell = entry.word  # pyright: ignore[reportAssignmentType]
        targets = self.to_place()
        for draft in targets:
            draft.cell, draft.beside = cell, None
            self.moved.append(draft)
        if not targets:
            self.pending = cell
        self.close()
        return length

    def _backdrop(self, entry: Entry, index: int, length: int) -> int:
        end = index + length
        if not entry.bare or self.listed:  # a list has said its backdrop: "in the mountains" is a place
            return 0
        following = self.tokens[end].norm if end < len(self.tokens) else ""
        if following == ":" or (index == 0 and following == ","):
            self.backdrop = entry.word
            self.listed = following == ":"
            return length
        same = [match.entry.role for match in self.lexicon.matches(self.tokens, index) if match.length == length]
        if "noun" in same or (entry.word == "table" and self.tokens[index].norm == "on"):
            return 0
        self.set_backdrop(entry.word)
        self.close()
        return length

    def _relation(self, entry: Entry, index: int, length: int) -> int:
        relation: Relation = entry.word  # pyright: ignore[reportAssignmentType]
        start = index + length
        if self.tokens[index].unspaced:
            return 0 if not (self.closed or self.group) else length
        if start < len(self.tokens) and self._is_pronoun(start):
            owners = self.owners or self._before_group()
            if not owners and self.known and self.anchor is None:
                owners = [draft for draft in [self.take_over(self.known[-1], self.group[0] if self.group else None)]
                          if draft is not None and draft not in self.group]  # fmt: skip
            if not owners and (self.anchor is None or self.anchor in self.group):
                # "a dog beside it", of nothing that was ever named.
                self.close()
                return length + 1
            anchor = owners[-1] if self.owners or self.anchor is None or self.anchor in self.group else self.anchor
            for draft in self.group:
                if owners and draft not in owners and not draft.placed:
                    draft.beside = (relation, anchor)
            if not self.group and self.drafts:
                self.pending = (relation, self.drafts[-1])
            self.close()
            return length + 1
        mention = self.phrases.at(start, after_relation=True)
        if mention is None and self.photo and start < len(self.tokens) and self.tokens[start].norm in ("this", "that"):
            mention = Mention(end=start + 1, photo=True)
        if mention is None:
            cell = LONE_CELLS.get(self.tokens[index].norm)
            return self._cell(Entry("cell", word=cell), length) if cell and self.group and not self.closed else 0
        if mention.backdrop is not None and not mention.senses and not mention.photo:
            self.set_backdrop(mention.backdrop)
            self.close()
            return mention.end - index
        if not (mention.is_thing or mention.photo):
            return 0
        self._place(relation, mention)
        end = mention.end
        if self.tokens[index].norm == "between" and end < len(self.tokens) and self.tokens[end].norm == "and":
            other = self.phrases.at(end + 1)
            end = other.end if other is not None and other.is_thing else end
        return end - index

    def _place(self, relation: Relation, mention: Mention) -> None:
        """Put the group beside what a noun phrase means."""
        self.photo = self.photo or mention.photo
        anchor: Mention | Draft = mention
        if not mention.definite and mention.is_thing and mention.backdrop is None and mention.ordinal is None:
            # "on a box": a box that was not there before stands behind what is on it.
            anchor = find(mention, self.drafts, self.group) or self.new(mention, before=self.group)
        self.anchor = anchor
        targets = self.to_place(anchor if isinstance(anchor, Draft) else None)
        for draft in targets:
            draft.beside, draft.cell = (relation, anchor), None
            self.moved.append(draft)
        if not targets:
            self.pending = (relation, anchor)
        self.close()

    def _is_pronoun(self, index: int) -> bool:
        return self.tokens[index].norm in ("it", "them", "him", "her", "that") and (
            index + 1 >= len(self.tokens) or not self._is_noun_next(index + 1)
        )

    def _is_noun_next(self, index: int) -> bool:
        mention = self.phrases.at(index)
        return mention is not None and mention.is_thing and not mention.determined

    def _before_group(self) -> list[Draft]:
        others = [draft for draft in self.drafts if draft not in self.group]
        return others[-1:]

    # Things

    def _with(self, index: int, end: int) -> int:
        mention = self.phrases.at(end)
        if mention is None or not mention.is_thing:
            return end - index
        owners = self.owners or self.group
        wearing = self.tokens[index].norm in ("wearing", "wears")
        added = self.add(mention)
        for draft in added:
            known = KINDS.get(draft.kind)
            if owners and not draft.placed and known is not None and (known.category == "clothing" or wearing):
                draft.beside = ("on", owners[-1])
        self.owners, self.group, self.closed = owners, added, False
        return mention.end - index

    def _noun_phrase(self, index: int) -> int:
        mention = self.phrases.at(index)
        if mention is None:
            return 0
        if mention.photo:
            self.photo = True
            return mention.end - index
        if not mention.is_thing:
            if mention.backdrop is not None:
                self.set_backdrop(mention.backdrop)
            return mention.end - index
        if mention.unknown and not mention.determined and self._is_strange_command(index, mention):
            return mention.end - index
        if mention.unknown and not mention.determined and not self._is_asked_for(index, mention):
            self.predicate = self.predicate and not self.copula
            return mention.end - index
        if self._follows_place(mention):
            return self._postposition(index, mention)
        found = find(mention, self.drafts) if mention.definite and not mention.more else None
        recalled = self.recalled(mention) if found is None else None
        found = found or recalled
        if found is not None and (mention.count is None or found is recalled):
            self.group, self.owners, self.closed = [found], [], False
            self.refine(found, mention)
            self.touched.append(found)
        else:
            self.add(mention)
        self.predicate = False
        return mention.end - index

    def _is_strange_command(self, index: int, mention: Mention) -> bool:
        """Whether an unknown word is the verb of a command: "calibrate the frobnicator"."""
        starts = index == 0 or self.tokens[index - 1].norm in _BEFORE_COMMANDS
        after = self.lexicon.matches(self.tokens, mention.end)
        objects = ("definite", "indefinite", "number", "pronoun")
        return starts and mention.end == index + 1 and bool(after) and after[0].entry.role in objects

    def _is_asked_for(self, index: int, mention: Mention) -> bool:
        """Whether an unknown word without an article is a thing asked for, not an adjective or a verb."""
        if self.tokens[index].unspaced or mention.label != mention.label or self.joined or self.pending is not None:
            return True
        if self.predicate:
            return not self.copula
        start = index
        while start > 0 and self.tokens[start - 1].norm not in _STOPS:
            start -= 1
        stop = mention.end
        while stop < len(self.tokens) and self.tokens[stop].norm not in _STOPS:
            stop += 1
        capital = self.tokens[index].raw[:1].isupper() and index > start
        return capital or (index == start and (stop - start <= 3 or mention.end == stop))

    def _quality(self, match: Match, index: int) -> int:
        """A colour, size or state said of the things just named: "the ball is red"."""
        mention = self.phrases.at(index)
        if (mention is not None and mention.is_thing and not self.copula) or not self.group:
            return 0
        entry = match.entry
        for draft in self.group:
            if entry.role == "size":
                draft.size = entry.word
            elif entry.role == "state":
                draft.state = entry.states.get(draft.kind, draft.state)
            elif (state := color_state(draft.kind, entry.word)) is not None:
                draft.state = state
            else:
                draft.color = entry.word
        return match.length

    def _negation(self, index: int, end: int) -> int:
        mention = self.phrases.at(end)
        if mention is None or not (mention.is_thing or mention.backdrop):
            return end - index
        return mention.end - index

    # Chinese: "在盒子上", "盒子里有"

    def _follows_place(self, mention: Mention) -> bool:
        if mention.end >= len(self.tokens) or not self.tokens[mention.end].unspaced:
            return False
        found = self.lexicon.matches(self.tokens, mention.end)
        return bool(found) and found[0].entry.role == "relation"

    def _postposition(self, index: int, mention: Mention) -> int:
        match = self.lexicon.matches(self.tokens, mention.end)[0]
        relation: Relation = match.entry.word  # pyright: ignore[reportAssignmentType]
        if not self.at_word:
            self.group, self.closed = [], True
        mention.definite = mention.count is None
        self._place(relation, mention)
        self.at_word = False
        return mention.end + match.length - index

    # Words in the picture, and the rest

    def _caption(self, index: int, end: int) -> int:
        between = (":", "is", "reads", "says", "reading", ",")
        # What is quoted may be one of these words itself.
        while end < len(self.tokens) and self.tokens[end].shape != "quote" and self.tokens[end].norm in between:
            end += 1
        if end < len(self.tokens) and self.tokens[end].shape == "quote":
            self.caption = self.tokens[end].norm
            return end + 1 - index
        return 0

    def _photo_of(self, end: int) -> bool:
        return end < len(self.tokens) and self.tokens[end].norm == "of"
