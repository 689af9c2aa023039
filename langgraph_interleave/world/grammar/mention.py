"""A mention: one noun phrase as it was read, before it is known which thing it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from langgraph_interleave.world.grammar.lexicon import Entry, Lexicon, Match, Role
from langgraph_interleave.world.grammar.numbers import singular
from langgraph_interleave.world.grammar.tokens import Token
from langgraph_interleave.world.vocabulary import KINDS

_BEFORE: frozenset[Role] = frozenset(
    ("definite", "indefinite", "number", "ordinal", "size", "color", "painted", "state", "noun", "filler", "photo",
     "backdrop", "verb")
)  # fmt: skip
_DEGREES = frozenset(("too", "very", "really", "almost", "nearly", "maybe", "perhaps", "often", "yet", "ever", "soon"))
#: Digits of what is read as a number of things; more of them are a word.
_DIGITS = 9


@dataclass(slots=True)
class Mention:
    """A noun phrase.

    Attributes:
        end: Index of the first token after it.
        senses: Kinds it may mean; empty for what the vocabulary does not know.
        label: What is written on it; the words themselves where nothing is known.
        definite: It speaks of something already there ("the", "it").
        count: A number, if one was said.
        plural: The noun's form means several.
        ordinal: "the second …" (from 0; -1 the last).
        states: State phrases read: kind → state.
        photo: It means the given photo.
        backdrop: The backdrop it may mean as well, or only (then `senses` is empty).
        unknown: The vocabulary does not know it.
        more: "two more", "another".
    """

    end: int
    senses: tuple[tuple[str, str | None], ...] = ()
    label: str | None = None
    name: str | None = None
    definite: bool = False
    determined: bool = False
    count: int | None = None
    plural: bool = False
    ordinal: int | None = None
    size: str | None = None
    color: str | None = None
    painted: bool = False
    states: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    photo: bool = False
    backdrop: str | None = None
    unknown: bool = False
    more: bool = False

    @property
    def is_thing(self) -> bool:
        """Whether it means a thing rather than a backdrop, the photo, or nothing."""
        return bool(self.senses) or self.unknown or (self.label is not None and not self.photo)

    def meaning(self) -> tuple[str, str | None, str | None]:
        """The likeliest kind, its state and its colour."""
        if not self.senses:
            return "card", None, self.color
        kind, state = next(
            (sense for sense in self.senses if any(sense[0] in states for states in self.states)), self.senses[0]
        )
        return kind, self.state_of(kind) or state, None if self.color_is_state(kind) else self.color

    def state_of(self, kind: str) -> str | None:
        """The state it asks for, if it means that kind."""
        for states in self.states:
            if kind in states:
                return states[kind]
        return color_state(kind, self.color) if self.color_is_state(kind) else None

    def color_is_state(self, kind: str) -> bool:
        """Whether the colour word says a state (a red traffic light), not a paint."""
        return self.color is not None and not self.painted and color_state(kind, self.color) is not None


def color_state(kind: str, color: str | None) -> str | None:
    """The state a colour word means for a kind that cannot be painted.

    Example:
        >>> color_state("traffic light", "red"), color_state("traffic light", "yellow"), color_state("ball", "red")
        ('red', 'amber', None)
    """
    known = KINDS.get(kind)
    if known is None or known.recolourable or color is None:
        return None
    for state in known.states:
        if color in (state, *known.state_words.get(state, ())):
            return state
    return None


class NounPhrases:
    """Reads noun phrases out of tokens."""

    def __init__(self, tokens: Sequence[Token], lexicon: Lexicon) -> None:
        self.tokens = tokens
        self.lexicon = lexicon

    def at(self, start: int, *, after_relation: bool = False) -> Mention | None:
        """The noun phrase that begins at a token, or `None`.

        Args:
            start: Index of its first token.
            after_relation: A preposition stands before it, so any word for a backdrop may be one.
        """
        mention = Mention(end=start)
        unknown: list[Token] = []
        index = start
        while index < len(self.tokens):
            token = self.tokens[index]
            if token.shape == "quote":
                if mention.label is not None or unknown:
                    break
                mention.label, index = token.norm, index + 1
                continue
            if token.shape == "mark":
                break
            match = self._before_noun(index, after_relation=after_relation)
            if token.shape == "number" and match is None and len(token.norm) <= _DIGITS:
                mention.count, mention.determined, index = int(token.norm), True, index + 1
                continue
            if match is None:
                if self.lexicon.matches(self.tokens, index) or self._is_adverb(index, mention):
                    break
                unknown.append(token)
                index += 1
                continue
            entry = match.entry
            if entry.role == "noun":
                return self._with_noun(mention, index, match)
            if entry.role == "photo":
                mention.photo, mention.end = True, index + match.length
                return mention
            if entry.role == "backdrop":
                mention.backdrop, mention.end = entry.word, index + match.length
                return mention
            if unknown and entry.role == "verb" and mention.determined and self._ends_clause(index + match.length):
                unknown.extend(self.tokens[index : index + match.length])
                index += match.length
                continue
            if unknown and entry.role in ("definite", "indefinite", "number", "filler", "verb"):
                if token.norm == "of" and index + 1 < len(self.tokens) and self._is_unknown(index + 1):
                    unknown.append(token)
                    index += 1
                    continue
                break
            if entry.role == "verb" and not (mention.determined and self._goes_on(index + match.length)):
                break
            if entry.role == "filler" and not mention.determined and not self._goes_on(index + match.length):
                break
            self._modify(mention, entry, token)
            index += match.length
        if not unknown and mention.label is None:
            return self._elliptic(mention, start, index)
        while index > start and mention.label is None and self.tokens[index - 1] is not unknown[-1]:
            index -= 1
        if unknown:
            self._name_unknown(mention, unknown)
        mention.end = index
        self._after_noun(mention)
        return mention

    def _elliptic(self, mention: Mention, start: int, index: int) -> Mention | None:
        """The "a red" of "a red and a blue ball"."""
        if mention.color is None and mention.size is None and not mention.states:
            return None
        joined = [match for match in self.lexicon.matches(self.tokens, index) if match.entry.role == "conjunction"]
        other = self.at(index + joined[0].length) if joined and index > start else None
        if other is None or not other.senses:
            return None
        mention.senses, mention.end = other.senses, index
        mention.plural = other.plural and (mention.count or 1) > 1
        return mention

    def _is_unknown(self, index: int) -> bool:
        return (
            index < len(self.tokens)
            and self.tokens[index].shape == "word"
            and not self.lexicon.matches(self.tokens, index)
        )

    def _is_adverb(self, index: int, mention: Mention) -> bool:
        word = self.tokens[index].norm
        if word in _DEGREES or (word.endswith("ly") and len(word) > 4):
            return True
        return word.endswith(("ing", "ed")) and not mention.determined

    def _ends_clause(self, index: int) -> bool:
        return index >= len(self.tokens) or self.tokens[index].norm in (".", ";", ",", "!", "?", "\n")

    def _goes_on(self, index: int) -> bool:
        """Whether a noun phrase can go on here."""
        if index >= len(self.tokens) or self.tokens[index].shape == "mark":
            return False
        if self.tokens[index].shape in ("quote", "number"):
            return True
        matches = self.lexicon.matches(self.tokens, index)
        return not matches or any(match.entry.role in _BEFORE - {"verb"} for match in matches)

    def _before_noun(self, index: int, *, after_relation: bool) -> Match | None:
        """What a word means in front of, or as, the noun of a phrase."""
        found = [
            match
            for match in self.lexicon.matches(self.tokens, index)
            if not self._is_part_of_noun(match, index) and not self._is_shade_of_nothing(match, index)
        ]
        longest = max(
            (match.length for match in found if match.entry.role not in ("state", "verb", "filler")), default=0
        )
        for match in found:
            role = match.entry.role
            if match.length < longest and role != "state":
                if found[0].entry.role in ("cell", "relation", "negation", "conjunction", "with") and (
                    found[0].length == longest
                ):
                    return None
                continue
            if role == "state" and not self._fits(match, index):
                continue
            if role == "backdrop" and not (match.entry.bare or after_relation):
                continue
            if role == "noun" and self._is_modifier(found, index, match):
                continue
            if role in _BEFORE:
                return match
            if role in ("cell", "relation", "negation", "conjunction", "with", "pronoun", "label", "called", "caption"):
                return None
        return None

    def _is_part_of_noun(self, match: Match, index: int) -> bool:
        """Whether a number phrase is the beginning of a noun: the "a pair of" of "a pair of scissors"."""
        if match.entry.role != "number" or match.length == 1:
            return False
        ends = [
            start + noun.length
            for start in range(index, index + match.length)
            for noun in self.lexicon.matches(self.tokens, start)
            if noun.entry.role == "noun"
        ]
        return max(ends, default=0) > index + match.length

    def _is_shade_of_nothing(self, match: Match, index: int) -> bool:
        """Whether "light green" is no shade: "turn the light green" has no noun after it."""
        return match.entry.role == "color" and match.length > 1 and not self._goes_on(index + match.length)

    def _fits(self, match: Match, index: int) -> bool:
        """Whether a state phrase stands before a noun that can be in that state."""
        kinds = self._kinds_ahead(index + match.length)
        return any(kind in match.entry.states for kind in kinds)

    def _kinds_ahead(self, index: int, depth: int = 4) -> list[str]:
        """The kinds that the next noun may mean, over modifiers and unknown adjectives."""
        if depth == 0 or index >= len(self.tokens) or self.tokens[index].shape != "word":
            return []
        matches = self.lexicon.matches(self.tokens, index)
        nouns = [match for match in matches if match.entry.role == "noun"]
        if nouns:
            return [kind for match in nouns for kind, _ in match.entry.senses]
        if any(match.entry.role in ("cell", "relation", "conjunction", "with", "definite") for match in matches):
            return []
        return self._kinds_ahead(index + (matches[0].length if matches else 1), depth - 1)

    def _is_modifier(self, found: list[Match], index: int, noun: Match) -> bool:
        """Whether a word that could be the noun is an adjective here: "rose" in "a rose dress"."""
        others = [match for match in found if match.length == noun.length and match.entry.role in ("color", "state")]
        return bool(others) and bool(self._kinds_ahead(index + noun.length, 1))

    def _modify(self, mention: Mention, entry: Entry, token: Token) -> None:
        match entry.role:
            case "definite":
                mention.definite = mention.determined = True
            case "indefinite":
                mention.determined = True
                mention.more = mention.more or entry.word in ("another", "one more", "more", "further", "other")
            case "number":
                mention.count, mention.determined = entry.number, True
            case "ordinal":
                mention.ordinal = entry.number
            case "size":
                mention.size = entry.word
                mention.determined = True
            case "color" | "painted":
                mention.color, mention.painted = entry.word, entry.role == "painted"
                mention.determined = True
            case "state":
                mention.states.append(entry.states)
                mention.determined = True
            case _:
                # Fillers ("wooden", "cute") and verbs used as adjectives say nothing we can draw.
                return

    def _with_noun(self, mention: Mention, index: int, match: Match) -> Mention:
        end = index + match.length
        # "apple tree", "snowman hat": of nouns side by side the last is meant; "coffee machine" is something else.
        while end < len(self.tokens) and not self.tokens[end].unspaced and self.tokens[end].shape == "word":
            following = self.lexicon.matches(self.tokens, end)
            if not following:
                if self.tokens[end].norm.endswith(("s", "ed", "ing", "ly")) or match.entry.plural:
                    break
                stop = end
                while self._is_unknown(stop):
                    stop += 1
                self._name_unknown(mention, self.tokens[index:stop])
                mention.end = stop
                self._after_noun(mention)
                return mention
            if self.tokens[end].norm in ("in", "under"):
                # "a cat in the rain": the rain is a thing of its own, no second half of a word.
                break
            if following[0].entry.role != "noun" or any(other.entry.role == "verb" for other in following):
                break
            match = following[0]
            end += match.length
        mention.senses, mention.plural, mention.end = match.entry.senses, match.entry.plural, end
        alternative = next(
            (
                other.entry.word
                for other in self.lexicon.matches(self.tokens, end - match.length)
                if other.entry.role == "backdrop" and other.length == match.length
            ),
            None,
        )
        mention.backdrop = alternative
        self._after_noun(mention)
        return mention

    def _name_unknown(self, mention: Mention, tokens: Sequence[Token]) -> None:
        spaced = [token for token in tokens if not token.unspaced]
        label = (" " if spaced else "").join(token.raw for token in tokens)
        if mention.count is not None and mention.count > 1 and spaced:
            last = tokens[-1].raw
            label = label[: len(label) - len(last)] + singular(last)
        mention.senses = ()
        mention.label, mention.unknown = label, True

    def _after_noun(self, mention: Mention) -> None:
        """What follows the noun and belongs to it: state, colour, label, name."""
        kinds = [kind for kind, _ in mention.senses]
        while mention.end < len(self.tokens):
            found = self.lexicon.matches(self.tokens, mention.end)
            step = self._state_after(found, kinds, mention) or self._words_after(found, mention)
            if not step:
                return
            mention.end += step

    def _state_after(self, found: list[Match], kinds: list[str], mention: Mention) -> int:
        for match in found:
            if match.entry.role == "state" and any(kind in match.entry.states for kind in kinds):
                first = self.tokens[mention.end].norm
                # "a cat sitting on the mat": a word that also belongs to a relation is no state unless it stands alone.
                if match.length == 1 and first in ("on", "off", "out", "up", "down", "left", "right", "in"):
                    return 0
                mention.states.append(match.entry.states)
                return match.length
        return 0

    def _words_after(self, found: list[Match], mention: Mention) -> int:
        for match in found:
            after = mention.end + match.length
            following = self.tokens[after] if after < len(self.tokens) else None
            if match.entry.role in ("label", "called") and following is not None:
                known = following.shape == "mark" or bool(self.lexicon.matches(self.tokens, after))
                if known and following.shape != "number":
                    continue
                if match.entry.role == "called" and following.shape == "quote":
                    mention.name = following.norm
                else:
                    mention.label = following.norm if following.shape == "quote" else following.raw
                return match.length + 1
            if match.entry.role == "color" and (
                self.lexicon.adjectives_follow or self.tokens[mention.end].norm == "in"
            ):
                mention.color = match.entry.word
                return match.length
            if match.entry.role == "size" and self.lexicon.adjectives_follow:
                mention.size = match.entry.word
                return match.length
            if match.entry.role == "painted":
                mention.color, mention.painted = match.entry.word, True
                return match.length
        return 0
