"""A drawing's elements as they are written: names, attributes, words. Nothing is rendered or looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

#: More than these are not read: a circuit has hundreds.
_MOST_ELEMENTS, _MOST_DEPTH, _MOST_RULES = 10_000, 100, 300
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SELECTOR = re.compile(r"[\w-]*(?:[.#][\w-]+)?")


class Illegible(Exception):
    """Why a circuit cannot be read from a drawing: a clause for whoever asked."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Element:
    """One element, and the words in it and in what it holds."""

    name: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list["Element"])
    own_words: list[str] = field(default_factory=list[str])

    @property
    def words(self) -> str:
        """All words, in order of elements, with single spaces."""
        said = [*self.own_words, *(child.words for child in self.children)]
        return " ".join(" ".join(said).split())

    def every(self) -> Iterator[Element]:
        """This element and all below it."""
        waiting: list[Element] = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


def tree_of(svg: str) -> Element:
    """Read a drawing; it may come from anybody.

    Raises:
        Illegible: It is no XML, declares entities, or is far too large for a circuit.

    Example:
        >>> [child.name for child in tree_of('<svg><g id="r1"/><title>A circuit</title></svg>').children]
        ['g', 'title']
    """
    reader = _Reader()
    try:
        reader.parser.Parse(svg.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise Illegible("the drawing is no XML") from error
    assert reader.root is not None
    return reader.root


class _Reader:
    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._words
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST_ELEMENTS or len(self._open) > _MOST_DEPTH:
            raise Illegible("the drawing has too many elements")
        element = Element(name.removeprefix("svg:"), attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, name: str) -> None:
        del name
        self._open.pop()

    def _words(self, words: str) -> None:
        self._open[-1].own_words.append(words)

    def _doctype(self, *_: object) -> None:
        raise Illegible("the drawing declares a document type")


class Styles:
    """What a drawing's style sheets say of elements, as far as single names, classes and ids select them.

    Raises:
        Illegible: There are too many rules.
    """

    def __init__(self, root: Element) -> None:
        self._rules: list[tuple[str, dict[str, str]]] = []
        for element in root.every():
            if element.name == "style":
                for selectors, body in _RULE.findall(element.words):
                    said = declarations(body)
                    self._rules += [(one.strip(), said) for one in selectors.split(",")]
        if len(self._rules) > _MOST_RULES:
            raise Illegible("the drawing has too many rules of style")

    def of(self, element: Element) -> Mapping[str, str]:
        """Attributes, then rules from the weakest selector to the strongest, then the `style` attribute."""
        given = dict(element.attributes)
        classes = set(element.attributes.get("class", "").split())
        found = [(_weight(one), said) for one, said in self._rules if _selects(one, element, classes)]
        for _, said in sorted(found, key=lambda pair: pair[0]):
            given.update(said)
        given.update(declarations(element.attributes.get("style", "")))
        return given


def declarations(text: str) -> dict[str, str]:
    """Properties in a `style` attribute or a rule.

    Example:
        >>> declarations("fill: none; stroke:#000 !important")
        {'fill': 'none', 'stroke': '#000'}
    """
    pairs = (one.split(":", 1) for one in text.split(";") if ":" in one)
    return {name.strip(): value.partition("!")[0].strip() for name, value in pairs}


def _weight(selector: str) -> int:
    return 2 if "#" in selector else 1 if "." in selector else 0


def _selects(selector: str, element: Element, classes: set[str]) -> bool:
    if not _SELECTOR.fullmatch(selector):
        return selector == "*"
    name, mark, rest = re.split(r"([.#])", selector, maxsplit=1) if _weight(selector) else (selector, "", "")
    if name and name != element.name:
        return False
    return not mark or (rest in classes if mark == "." else rest == element.attributes.get("id"))
