"""A drawing as elements: what is wrong with it as a whole, and how it is written out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

#: How deep elements nest.
MAX_DEPTH = 48
#: Elements that are drawn once every reference is followed.
MAX_DRAWN = 30_000


class Unsound(Exception):
    """Why a drawing cannot be drawn: a sentence for whoever wrote it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Element:
    """One element: its attributes, what is in it, and the ids of the elements it refers to."""

    name: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list["Element | str"])
    points_to: list[str] = field(default_factory=list[str])


def weigh(root: Element) -> None:
    """Refuse what draws itself, and what multiplies.

    Raises:
        Unsound: It does.
    """
    named: dict[str, Element] = {}
    everything = [root]
    for element in everything:
        everything += [child for child in element.children if isinstance(child, Element)]
        if name := element.attributes.get("id"):
            named[name] = element
    weights: dict[int, int] = {}
    under_way: set[int] = set()

    def weight(element: Element) -> int:
        known = weights.get(id(element))
        if known is not None:
            return known
        if id(element) in under_way:
            raise Unsound(f"An element ({element.attributes.get('id', element.name)}) is drawn inside itself.")
        if len(under_way) > 4 * MAX_DEPTH:
            raise Unsound("Its references lead on too far. Draw it flatter.")
        under_way.add(id(element))
        total = 1
        for child in element.children:
            if isinstance(child, Element):
                total += weight(child)
        for name in element.points_to:
            # A style sheet's rules point to what is drawn elsewhere: counted there once.
            if name in named and element.name != "style":
                total += weight(named[name])
            if total > MAX_DRAWN:
                raise Unsound("Its references multiply to too many elements. Draw it simpler.")
        under_way.discard(id(element))
        weights[id(element)] = total
        return total

    if weight(root) > MAX_DRAWN:
        raise Unsound("Its references multiply to too many elements. Draw it simpler.")


def written_out(part: Element | str) -> str:
    """An element, or words, as XML."""
    if isinstance(part, str):
        return escape(part)
    inside = "".join(map(written_out, part.children))
    head = f"<{part.name}{attributes_out(part.attributes)}"
    return f"{head}>{inside}</{part.name}>" if inside else f"{head}/>"


def attributes_out(attributes: Mapping[str, str]) -> str:
    """Attributes as XML, with a space before each."""
    return "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
