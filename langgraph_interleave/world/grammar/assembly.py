"""The assembly: a scene while a text is being read, and what the last words were about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langgraph_interleave.world.grammar.draft import MOST, Draft, find, link, to_things
from langgraph_interleave.world.grammar.mention import Mention
from langgraph_interleave.world.scene import Cell, Relation, Scene
from langgraph_interleave.world.vocabulary import KINDS


class Assembly:
    """Things, backdrop and words found so far; starts empty, or from the things of a scene (`keep`).

    `group` is what the clause is about, `owners` those before a "with"; `closed` means that their
    place was said, `joined` that the next thing belongs to them, `predicate` that a verb was read.
    """

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        #: What the picture before showed; "the box" means the one there, as it was there.
        self.known: list[Draft] = []
        self.backdrop: str | None = None
        self.night = False
        self.otherwise: str | None = None
        self.caption: str | None = None
        self.photo = False
        self.unknown: list[str] = []
        self.group: list[Draft] = []
        self.owners: list[Draft] = []
        self.closed = False
        self.joined = False
        self.predicate = False
        self.copula = False
        self.at_word = False
        self.touched: list[Draft] = []
        self.moved: list[Draft] = []
        #: What the last relation was to, for the "it" of "and a cat on it".
        self.anchor: Mention | Draft | None = None
        self.pending: Cell | tuple[Relation, Mention | Draft] | None = None

    def keep(self, scene: Scene) -> None:
        """Begin with what a scene already shows."""
        self.drafts = [Draft.of(thing) for thing in scene.things]
        link(self.drafts)
        self.backdrop, self.caption, self.photo = scene.backdrop, scene.caption, scene.photo

    def remember(self, scene: Scene) -> None:
        """Know what the picture before showed, to take it over where a text says "the box" or "it"."""
        self.known = [Draft.of(thing) for thing in scene.things]
        link(self.known)

    def recalled(self, mention: Mention, before: Draft | None = None) -> Draft | None:
        """The thing of the picture before that "the box" means: the same one, in its state, colour, size and place."""
        if not mention.definite or mention.more:
            return None
        left = [draft for draft in self.known if draft not in self.drafts]
        # "the closed box" of a box that was open: the same, in another state.
        found = find(mention, left) or find(replace(mention, states=[], size=None), left)
        if found is not None and mention.count is not None:
            found.count = min(max(mention.count, 1), MOST)
        return self.take_over(found, before)

    def take_over(self, known: Draft | None, before: Draft | None = None) -> Draft | None:
        """A thing of the picture before becomes one of this picture: behind another of it, or in front of all."""
        if known is not None and known not in self.drafts:
            self.drafts.insert(len(self.drafts) if before is None else self.drafts.index(before), known)
        return known

    def scene(self) -> Scene:
        """The scene that was read."""
        self._resolve()
        if self.night and self.backdrop not in (None, "night") and not any(d.kind == "moon" for d in self.drafts):
            self.drafts.append(Draft("moon", cell="upper right"))
        backdrop = (
            self.backdrop
            or ("night" if self.night else None)
            or (self._usual_backdrop() if self.otherwise is None else self.otherwise)
        )
        things = to_things(self.drafts, photo=self.photo)
        return Scene(backdrop=backdrop, things=things, caption=self.caption, photo=self.photo)

    def set_backdrop(self, name: str) -> None:
        if name == "night" and self.backdrop not in (None, "night"):
            self.night = True
        elif self.backdrop is None:
            self.backdrop = name
        elif self.backdrop == "night" and name != "night":
            self.backdrop, self.night = name, True

    def add(self, mention: Mention) -> list[Draft]:
        added = [self.new(mention)] if (mention.count or 1) <= 1 and not mention.plural else self.several(mention)
        if self.joined and not self.closed:
            self.group = [*self.group, *added]
        else:
            self.group = list(added)
            self.owners = []
        self.closed = self.joined = False
        if self.pending is not None:
            for draft in added:
                if isinstance(self.pending, str):
                    draft.cell = self.pending
                else:
                    draft.beside = self.pending
            self.pending = None
        return added

    def several(self, mention: Mention) -> list[Draft]:
        added = Draft.from_mention(mention)
        self.drafts.extend(added)
        if mention.unknown and mention.label is not None:
            self.unknown.append(mention.label)
        return added

    def new(self, mention: Mention, before: Sequence[Draft] = ()) -> Draft:
        drafts = Draft.from_mention(mention)
        place = min((self.drafts.index(draft) for draft in before if draft in self.drafts), default=len(self.drafts))
        self.drafts[place:place] = drafts
        if mention.unknown and mention.label is not None:
            self.unknown.append(mention.label)
        return drafts[0]

    def refine(self, draft: Draft, mention: Mention) -> None:
        _, state, color = mention.meaning()
        draft.color = color or draft.color
        draft.state = mention.state_of(draft.kind) or (state if draft.state is None else draft.state)
        draft.size = mention.size or draft.size

    def to_place(self, but: Draft | None = None) -> list[Draft]:
        """Whose place is said here: the things just named, unless their place was said already."""
        if self.closed:
            return []
        return [
            draft
            for draft in self.owners or self.group
            if draft is not but and (not draft.placed or (draft.kept is not None and draft not in self.moved))
        ]

    def end_clause(self) -> None:
        self.group, self.owners = [], []
        self.closed = self.joined = self.predicate = self.copula = self.at_word = False
        self.pending = None

    def close(self) -> None:
        """A place was said: what comes next is another thing."""
        self.closed, self.joined, self.predicate, self.owners = True, False, False, []

    def _resolve(self) -> None:
        """Find what "on the box" means, now that every thing is known."""
        for draft in list(self.drafts):
            if draft.beside is None:
                continue
            relation, mention = draft.beside
            if isinstance(mention, Draft):
                if mention in self.known:
                    # What stood on the box stands on it still, so the box is there too.
                    self.take_over(mention, draft)
                continue
            if mention.photo:
                continue
            found = find(mention, self.drafts, [draft])
            if found is not None:
                draft.beside = (relation, found)
            elif draft.fits(mention) and mention.definite:
                # "a cat and a dog beside the cat": the cat is not beside itself.
                draft.beside = None
            elif mention.backdrop is not None and (relation in ("on", "in") or not mention.is_thing):
                draft.beside = None
                self.set_backdrop(mention.backdrop)
            else:
                anchor = self.recalled(mention, draft)
                if anchor is not None:
                    self.refine(anchor, mention)
                draft.beside = (relation, anchor or self.new(mention, before=[draft]))

    def _usual_backdrop(self) -> str:
        for draft in self.drafts:
            known = KINDS.get(draft.kind)
            if known is not None and draft.kind != "card":
                return known.backdrop
        return "paper"
