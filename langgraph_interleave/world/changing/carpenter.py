"""The carpenter: carries orders out on the bench."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from langgraph_interleave.world.changing.bench import Bench
from langgraph_interleave.world.changing.order import Kind, Order
from langgraph_interleave.world.changing.row import Row
from langgraph_interleave.world.changing.simpler import fewer, halfway
from langgraph_interleave.world.grammar.languages import Language, language_of
from langgraph_interleave.world.grammar.phrases import listed
from langgraph_interleave.world.grammar.remark import Remark, carry_out
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.planning.itemised import Telling, part_of
from langgraph_interleave.world.scene import Scene, Thing


@dataclass(slots=True)
class Carpenter:
    """Carries orders out, one after the other; what cannot be done becomes a warning.

    Attributes:
        bench: What is worked on.
        language: Of captions.
    """

    bench: Bench
    language: Language = "en"

    def carry_out(self, orders: Sequence[Order]) -> None:
        """Carry orders out, in order."""
        deeds: Mapping[Kind, Callable[[Order], None]] = {
            "revise": self._revise, "insert": self._insert, "delete": self._delete, "move": self._move,
            "swap": self._swap, "reverse": self._reverse, "redo": self._redo, "simplify": self._simplify,
            "split": self._split, "caption": self._name, "title": self._name, "heading": self._head,
            "look": self._style, "palette": self._style, "language": self._translate, "keep": self._keep,
            "unclear": self._refuse,
        }  # fmt: skip
        for order in orders:
            for name in order.missing:
                last = len(self.bench.rows) + self.bench.first - 1
                self.bench.warn("other", f"There is no {name}: the steps are {self.bench.first} to {last}.")
            if not order.missing or order.steps:
                deeds[order.kind](order)

    # Scenes

    def _revise(self, order: Order) -> None:
        named = [row for step in order.steps if (row := self.bench.row(step)) is not None]
        rows = [row for row in named or self.bench.rows if row.scene is not None]
        for row in named:
            if row.scene is None:
                self.bench.warn("other", f"{_capital(self.bench.number(row))} is words only, without a picture.")
        remarks: list[tuple[Row, Remark]] = []
        for row in rows:
            assert row.scene is not None
            remarks.append((row, carry_out(order.words, row.scene)))
        self._report(order, [remark for _, remark in remarks], named)
        for row, remark in remarks:
            if not remark.done or (remark.scene == row.scene and (not named or remark.kept)):
                continue
            self._let_be(row, remark.scene, order, rows)

    def _let_be(self, row: Row, scene: Scene, order: Order, but: Sequence[Row]) -> None:
        old = row.scene
        assert old is not None
        number = self.bench.number(row)
        row.want(scene, order.words)
        if scene == old:
            self.bench.think(f"{number} is to show that already; it is drawn again.")
            return
        self.bench.think(f"{number} changes: “{order.words}”.")
        if not order.alone:
            followed = self.bench.follow(row, old, but)
            if followed:
                names = listed([self.bench.number(other) for other in followed])
                self.bench.think(f"What is otherwise in {number} stays so in {names}.")

    def _report(self, order: Order, remarks: Sequence[Remark], named: Sequence[Row]) -> None:
        """Say what of an order was understood of no step, and which words nobody knows."""
        if not remarks:
            if not named:
                self.bench.warn("other", f"There is no picture to change: “{order.said}”.")
            return
        done = {piece for remark in remarks for piece in remark.done}
        missed = list(dict.fromkeys(piece for one in remarks for piece in one.missed if piece not in done))
        nothing = not any(one.done or one.missed for one in remarks)
        for words in missed or ([order.said] if nothing else []):
            self._not_understood(words)
        unknown = list(dict.fromkeys(word for remark in remarks for word in remark.unknown))
        shown = {thing.label for remark in remarks for thing in remark.scene.things if thing.kind == "card"}
        cards = [f"“{word}”" for word in unknown if word in shown]
        ignored = [f"“{word}”" for word in unknown if word not in shown]
        if cards:
            self.bench.warn(
                "unknown_words", f"Not in the drawing vocabulary: {', '.join(cards)}; drawn as labelled cards."
            )
        if ignored:
            self.bench.warn("unknown_words", f"Not in the drawing vocabulary: {', '.join(ignored)}; left out.")

    def _simplify(self, order: Order) -> None:
        for row in self._rows(order):
            if row.scene is None:
                self._words_only(row)
            elif not self._halve(row) and not self._lessen(row):
                how = "is drawn from nothing" if row.sources else "is drawn again as it is"
                row.rebuild([])
                self.bench.think(f"{self.bench.number(row)} shows but little, so it {how}.")
                row.afresh = True

    def _split(self, order: Order) -> None:
        for row in self._rows(order):
            if row.scene is None or not self._halve(row):
                self.bench.warn("other", f"{_capital(self.bench.number(row))} cannot be split: it is a single change.")

    def _halve(self, row: Row) -> bool:
        """Put a step before a step that does half of it."""
        base = row.base
        if base is None or base.scene is None or row.scene is None or not row.stated or not self.bench.edits:
            return False
        half = halfway(base.scene, row.scene)
        if half is None or len(self.bench.rows) >= self.bench.most:
            return False
        scene, commands = half
        words = sentence(listed(commands))
        new = Row(old=None, op="edit", caption=words if self.language == "en" else None, sources=[base], scene=scene)
        self.bench.rows.insert(self.bench.rows.index(row), new)
        row.rebuild([new if source is base else source for source in row.sources])
        row.afresh = True
        self.bench.think(
            f"{self.bench.number(row)} is too much at once: a step before it does half of it ({words[:-1]})."
        )
        return True

    def _lessen(self, row: Row) -> bool:
        """Leave out of a scene what it is not about."""
        assert row.scene is not None
        scene = fewer(row.scene, row.base.scene if row.base is not None else None)
        if scene is None or not row.stated:
            return False
        names = {thing.id for thing in scene.things}
        gone = [_called(thing) for thing in row.scene.things if thing.id not in names]
        row.want(scene, "")
        self.bench.think(f"{self.bench.number(row)} is made simpler: without {listed(gone)}.")
        return True

    # Steps

    def _insert(self, order: Order) -> None:
        if len(self.bench.rows) >= self.bench.most:
            self.bench.warn(
                "step_count", f"No step was added: a plan may have at most {self.bench.most} here (limits.max_steps)."
            )
            return
        position = self.bench.position(order.place if order.place is not None else len(self.bench.rows))
        while position < len(self.bench.rows) and self.bench.rows[position].old is None:
            # Behind the new steps that are there already: they come in the order they were asked for.
            position += 1
        before = self.bench.before(position)
        if not order.words:
            self._insert_between(order, position, before)
            return
        scene = before.scene if before is not None else None
        telling = Telling(language_of(order.words), scene)
        part = part_of(order.words, telling)
        base = before if part.scene is not None and scene is not None and _follows(part.scene, scene) else None
        sources: list[str | Row] = [base] if base is not None and self.bench.edits else []
        new = Row(
            old=None, op="text" if part.scene is None else "edit" if sources else "generate", title=part.title,
            caption=part.caption, sources=sources, scene=part.scene, change=part.change,
        )  # fmt: skip
        self.bench.rows.insert(position, new)
        after = f" after {self.bench.number(self.bench.rows[position - 1])}" if position else " at the beginning"
        self.bench.think(f"A new step comes{after}: “{order.words}”.")
        if telling.unknown:
            words = ", ".join(f"“{word}”" for word in dict.fromkeys(telling.unknown))
            self._unknown(words, "drawn as labelled cards")

    def _insert_between(self, order: Order, position: int, before: Row | None) -> None:
        after = next((row for row in self.bench.rows[position:] if row.scene is not None), None)
        half = None
        if before is not None and after is not None and before.scene is not None and after.scene is not None:
            half = halfway(before.scene, after.scene)
        if half is None or before is None or after is None:
            self.bench.warn("other", f"“{order.said}” does not say what the new step shows, so none was added.")
            return
        scene, commands = half
        sources: list[str | Row] = [before] if self.bench.edits else []
        caption = sentence(listed(commands))
        new = Row(old=None, op="edit" if sources else "generate", caption=caption, sources=sources, scene=scene)
        self.bench.rows.insert(position, new)
        names = f"{self.bench.number(before)} and {self.bench.number(after)}"
        self.bench.think(f"A new step between {names} shows the half of the way: {caption}")

    def _delete(self, order: Order) -> None:
        rows = self._rows(order)
        if len(rows) == len(self.bench.rows):
            self.bench.warn("other", "No step would be left, so none was deleted.")
            return
        for row in rows:
            self.bench.rows.remove(row)
            self.bench.gone.append(row)
            self.bench.think(f"{self.bench.number(row)} goes.")

    def _move(self, order: Order) -> None:
        rows = self._rows(order)
        if not rows:
            return
        place = order.place if order.place is not None else len(self.bench.rows)
        behind = next((row for row in self.bench.rows[self.bench.position(place) :] if row not in rows), None)
        for row in rows:
            self.bench.rows.remove(row)
        at = self.bench.rows.index(behind) if behind is not None else len(self.bench.rows)
        self.bench.rows[at:at] = rows
        self.bench.think(f"{listed([self.bench.number(row) for row in rows])} moves to place {at + 1}.")

    def _swap(self, order: Order) -> None:
        rows = self._rows(order)
        if len(rows) != 2:
            self._not_understood(order.said)
            return
        one, other = (self.bench.rows.index(row) for row in rows)
        self.bench.rows[one], self.bench.rows[other] = self.bench.rows[other], self.bench.rows[one]
        self.bench.think(f"{self.bench.number(rows[0])} and {self.bench.number(rows[1])} change places.")

    def _reverse(self, order: Order) -> None:
        del order
        self.bench.rows.reverse()
        self.bench.think("The order of the steps is reversed.")

    def _redo(self, order: Order) -> None:
        for row in self._rows(order):
            if row.scene is None:
                self._words_only(row)
                continue
            row.afresh = True
            self.bench.think(f"{self.bench.number(row)} is drawn again as it is.")

    # Words and looks

    def _name(self, order: Order) -> None:
        if not order.words or not order.steps:
            self._not_understood(order.said)
            return
        for row in self._rows(order):
            if order.kind == "title":
                row.title = order.words
            else:
                row.caption = order.words
            row.renamed = True
            self.bench.think(f"The {order.kind} of {self.bench.number(row)} becomes “{order.words}”.")

    def _head(self, order: Order) -> None:
        if order.words:
            self.bench.title = order.words
            self.bench.think(f"The title becomes “{order.words}”.")
        else:
            self._not_understood(order.said)

    def _style(self, order: Order) -> None:
        drawn = {row.old for row in self.bench.rows if row.scene is not None}
        if order.steps and not order.every and set(order.steps) != drawn:
            self.bench.warn("other", f"The look is that of the whole document, so “{order.said}” was left out.")
            return
        update = {"look": order.words, "palette": ""} if order.kind == "look" else {"palette": order.words}
        self.bench.style = self.bench.style.model_copy(update=update)
        self.bench.restyled = True
        what = "look" if order.kind == "look" else "palette"
        self.bench.think(
            f"The {what} of all pictures becomes “{order.words}”; the drawings of the built-in world have but one look."
        )

    def _translate(self, order: Order) -> None:
        language = order.words.strip() or "another language"
        self.bench.warn(
            "unknown_words",
            f"“{order.said}”: nothing can be translated here, so the words stay as they are "
            f"(a planner with a model writes {language}).",
        )

    def _keep(self, order: Order) -> None:
        for row in self._rows(order):
            self.bench.think(f"{self.bench.number(row)} stays as it is.")

    def _refuse(self, order: Order) -> None:
        self._not_understood(order.said)

    def _unknown(self, words: str, done: str) -> None:
        self.bench.warn("unknown_words", f"Not in the drawing vocabulary: {words}; {done}.")

    def _words_only(self, row: Row) -> None:
        self.bench.warn("other", f"{_capital(self.bench.number(row))} is words only, without a picture.")

    def _not_understood(self, words: str) -> None:
        self.bench.warn("unknown_words", f"Not understood, so nothing was changed for it: “{_short(words)}”.")

    def _rows(self, order: Order) -> list[Row]:
        return [row for row in self.bench.rows if row.old is not None and row.old in order.steps]


def _follows(scene: Scene, before: Scene) -> bool:
    there = {(thing.id, thing.kind) for thing in before.things}
    return scene.backdrop == before.backdrop or any((thing.id, thing.kind) in there for thing in scene.things)


def _called(thing: Thing) -> str:
    return f"the {thing.label or thing.kind}"


def _capital(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def _short(words: str) -> str:
    return words if len(words) <= 160 else f"{words[:159]}…"
