"""Drafts: things while a text is being read, and how they become a scene."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from langgraph_interleave.world.grammar.mention import Mention
from langgraph_interleave.world.grammar.prose import canonical_id
from langgraph_interleave.world.scene import Beside, Cell, Relation, Size, Thing
from langgraph_interleave.world.vocabulary import KINDS

#: Most of a kind that one thing stands for; more are several things.
MOST = 9
#: Most of a kind that are drawn one by one; what goes beyond is written on a card.
MOST_DRAWN = 3 * MOST
#: How many "balls" are, when no number is said.
SEVERAL = 3


@dataclass(slots=True, eq=False)
class Draft:
    """A thing being read: like `Thing`, but its place may still be words."""

    kind: str
    color: str | None = None
    size: str = "medium"
    count: int = 1
    state: str | None = None
    label: str | None = None
    id: str | None = None
    cell: Cell | None = None
    beside: tuple[Relation, Mention | Draft] | None = None
    #: The thing it came from, when a text changes a scene.
    kept: Thing | None = None

    @property
    def placed(self) -> bool:
        """Whether a place was said."""
        return self.cell is not None or self.beside is not None

    @classmethod
    def of(cls, thing: Thing) -> Draft:
        """The draft of a thing of an existing scene; what it stands beside is linked by `link`."""
        cell = thing.at if isinstance(thing.at, str) else None
        return cls(
            thing.kind, thing.color, thing.size, thing.count, thing.state, thing.label, thing.id, cell, kept=thing
        )

    @classmethod
    def from_mention(cls, mention: Mention) -> list[Draft]:
        """The drafts a noun phrase asks for: one, or several when there are more than nine of a kind."""
        kind, state, color = mention.meaning()
        count = mention.count if mention.count is not None else _unsaid_count(kind, mention)
        draft = cls(kind, color, mention.size or "medium", max(count, 1), state, mention.label, mention.name)
        if draft.count <= MOST:
            return [draft]
        total, parts = draft.count, list[Draft]()
        left = min(total, MOST_DRAWN)
        while left > 0:
            parts.append(cls(kind, color, draft.size, min(left, MOST), state, mention.label))
            left -= MOST
        if total > MOST_DRAWN:
            parts.append(cls("card", label=f"× {total}"))
        return parts

    def fits(self, mention: Mention, *, exact: bool = False) -> bool:
        """Whether a noun phrase can mean this thing.

        Args:
            mention: The noun phrase.
            exact: What it says of colour, size and state must be so already; else it must not be otherwise.
        """
        if mention.photo:
            return False
        if mention.senses:
            if self.kind not in [kind for kind, _ in mention.senses]:
                return False
        elif self.kind != "card" or (mention.label or "").casefold() != (self.label or "").casefold():
            return False
        if mention.label is not None and self.label != mention.label:
            return False
        if mention.name is not None and self.id != mention.name:
            return False
        color = None if mention.color_is_state(self.kind) else mention.color
        state = mention.state_of(self.kind)
        wanted = (
            (color, self.color),
            (mention.size, self.size if self.size != "medium" else None),
            (state, self.state),
        )
        return all(want is None or have == want or (have is None and not exact) for want, have in wanted)


def find(mention: Mention, drafts: Sequence[Draft], but: Iterable[Draft] = ()) -> Draft | None:
    """The thing a noun phrase means among those there are; the later one where several fit equally.

    Args:
        mention: The noun phrase.
        drafts: What there is, in order.
        but: Things it cannot mean.
    """
    others = [draft for draft in drafts if draft not in list(but)]
    if mention.ordinal is not None:
        same = [draft for draft in drafts if draft.kind in [kind for kind, _ in mention.senses]]
        if mention.senses and -len(same) <= mention.ordinal < len(same):
            return same[mention.ordinal]
        return None
    exact = [draft for draft in others if draft.fits(mention, exact=True)]
    same_count = [draft for draft in exact if draft.count == mention.count]
    for found in (same_count, exact, [draft for draft in others if draft.fits(mention)]):
        if found:
            # A word may mean several kinds: the likeliest that is there.
            kinds = [kind for kind, _ in mention.senses]
            return min(found, key=lambda draft: kinds.index(draft.kind) if draft.kind in kinds else 0)
    return None


def link(drafts: Sequence[Draft]) -> None:
    """Turn the `Beside` places of kept things into links between drafts."""
    by_id = {draft.id: draft for draft in drafts}
    for draft in drafts:
        if draft.kept is not None and isinstance(draft.kept.at, Beside):
            anchor = by_id.get(draft.kept.at.of)
            if anchor is not None:
                draft.beside = (draft.kept.at.relation, anchor)
            elif draft.kept.at.of == "photo":
                draft.beside = (draft.kept.at.relation, Mention(end=0, photo=True))


def to_things(drafts: Sequence[Draft], *, photo: bool) -> tuple[Thing, ...]:
    """Drafts as things, each with its id. Links to what is not there any more are dropped.

    Args:
        drafts: In the order they are drawn; every `beside` already a draft or the photo.
        photo: Whether the scene has the given photo.
    """
    ids: dict[int, str] = {}
    kept = {draft.id for draft in drafts if draft.kept is not None and draft.id is not None}
    taken: list[str] = []
    for draft in drafts:
        name = draft.id
        if name is None:
            # A new thing must not take the id of one that is kept further on.
            name = canonical_id(thing_of(draft, "?"), [*taken, *sorted(kept)])
        ids[id(draft)] = name
        taken.append(name)
    things: list[Thing] = []
    for draft in drafts:
        at: Cell | Beside | None = draft.cell
        if draft.beside is not None:
            relation, anchor = draft.beside
            if isinstance(anchor, Draft) and id(anchor) in ids and anchor is not draft:
                at = Beside(relation=relation, of=ids[id(anchor)])
            elif isinstance(anchor, Mention) and anchor.photo and photo:
                at = Beside(relation=relation, of="photo")
        things.append(thing_of(draft, ids[id(draft)]).model_copy(update={"at": at}))
    return tuple(things)


def thing_of(draft: Draft, name: str) -> Thing:
    """A draft as a thing that stands nowhere in particular."""
    size: Size = "small" if draft.size == "small" else "large" if draft.size == "large" else "medium"
    count = min(max(draft.count, 1), MOST)
    return Thing(
        id=name, kind=draft.kind, color=draft.color, size=size, count=count, state=draft.state, label=draft.label
    )


def _unsaid_count(kind: str, mention: Mention) -> int:
    known = KINDS.get(kind)
    if not mention.plural or (known is not None and known.plural == known.name):
        return 1
    return SEVERAL
