"""A drawing out of a model's words, made safe before anything renders it.

It is parsed by expat with entities refused, and written anew from what is on the allow-list: whatever
comes out was put together here. Renderers draw local files, nested documents and endless copies when a
drawing asks for it; so nothing may be referred to but `#id`, pictures that were handed over, and pictures
inside the drawing, and what a reference multiplies to is counted.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html.entities import html5
from xml.parsers import expat

from langgraph_interleave.backends.svg.allowed import ATTRIBUTES, ELEMENTS, REFERRING, UNTOLD, WORDED, WRITTEN
from langgraph_interleave.backends.svg.styles import (
    NAME,
    declarations_of,
    family_of,
    references_in,
    sheet_of,
    value_of,
)
from langgraph_interleave.backends.svg.tree import MAX_DEPTH, Element, Unsound, attributes_out, weigh, written_out
from langgraph_interleave.errors import BadResponse
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.imaging.drawings import MAX_WHOLE

#: Characters a model may write; elements.
MAX_WRITTEN, MAX_ELEMENTS = 400_000, 6_000
_MAX_PICTURES, _MAX_PICTURE_PIXELS = 16, 20_000_000
_MOST_EXTREME, _MAX_ASPECT = 1e7, 40.0
_DATA = re.compile(r"data:image/(png|jpeg|jpg|webp);base64,", re.IGNORECASE)
_NUMBER = re.compile(r"\s*\+?(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,3}))?\s*(?:px)?\s*$")
_PARTS = re.compile(r"[\s,]+")
_INLINE = re.compile(r"data:image/[a-z]+;base64,[A-Za-z0-9+/=]+")
_GROUND = re.compile(r"\bbackground(?:-color)?\s*:\s*([^;]*);?", re.IGNORECASE)
_COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,30}|(?:rgb|hsl)a?\([^()]{1,60}\)")
#: An ampersand that begins nothing, or a character by a name that XML does not have.
_AMPERSAND = re.compile(r"&(?!#\w+;|(?:amp|lt|gt|quot|apos);)(?:(\w{2,31});)?(?!\w+;)")
_XML = "http://www.w3.org/2000/svg"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A safe drawing.

    Attributes:
        body: What is inside the root element.
        root: Attributes of the root that stay, written out.
        box: Left, top, width and height of what it shows, in its own units.
        written: The words it shows.
        bold: Whether any of them are to be bold or slanted.
        families: The families they are set in.
        left_out: What was taken out, in words.
    """

    body: str
    root: str
    box: tuple[float, float, float, float]
    written: tuple[str, ...]
    bold: bool
    families: frozenset[str]
    left_out: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """Width over height."""
        return self.box[2] / self.box[3]

    def svg(self, width: int | None = None, height: int | None = None) -> str:
        """The whole document, drawn `width` by `height` pixels large."""
        box = " ".join(f"{number:.10g}" for number in self.box)
        size = f' width="{width}" height="{height}"' if width and height else ""
        return f'<svg xmlns="{_XML}"{size} viewBox="{box}"{self.root}>{self.body}</svg>'


def clean(text: str, pictures: Mapping[str, str] | None = None) -> Drawing:
    """Make a drawing safe.

    Args:
        text: An SVG document, written by anybody.
        pictures: What an `image` may name: names and the data URLs that stand for them.

    Raises:
        Unsound: It is no SVG, refers to something outside, or is too large.

    Example:
        >>> drawing = clean('<svg viewBox="0 0 4 2"><script>x</script><rect width="4" height="2" onclick="x"/></svg>')
        >>> drawing.svg()
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"><rect width="4" height="2"/></svg>'
        >>> drawing.left_out
        ('<script>', 'onclick')
    """
    # Pictures inside are not written: they were placed by name before.
    if len(text) > MAX_WHOLE or (len(text) > MAX_WRITTEN and len(_INLINE.sub("", text)) > MAX_WRITTEN):
        raise Unsound(f"It is {len(text)} characters long; at most {MAX_WRITTEN} are taken. Draw it simpler.")
    reader = _Reader(pictures or {})
    root = reader.read(_AMPERSAND.sub(_as_xml, text))
    box = _box(root.attributes)
    weigh(root)
    kept = {name: value for name, value in root.attributes.items() if name not in ("width", "height", "viewBox")}
    kept = {name: value for name, value in kept.items() if name not in ("x", "y", "transform")}
    body = _ground(reader.ground, box) + "".join(map(written_out, root.children))
    if len(body) > MAX_WHOLE:
        raise Unsound("With its pictures it is too large. Place fewer of them.")
    return Drawing(
        body,
        attributes_out(kept),
        box,
        tuple(reader.written),
        reader.bold,
        frozenset(reader.families),
        tuple(dict.fromkeys(reader.left_out)),
    )


class _Reader:
    """Reads a document into elements that are all on the list."""

    def __init__(self, pictures: Mapping[str, str]) -> None:
        self._pictures = pictures
        self._open: list[Element] = []
        self._root: Element | None = None
        self._elements = self._skipped = self._shown = 0
        self._known: set[str] = set()
        self.left_out: list[str] = []
        self.written: list[str] = []
        self.families: set[str] = {"sans-serif"}
        self.bold = False
        self.ground: str | None = None

    def read(self, text: str) -> Element:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._words
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.UnparsedEntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._entity
        parser.SkippedEntityHandler = self._entity
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        try:
            parser.Parse(text.encode("utf-8", "replace"), True)
        except expat.ExpatError as error:
            raise Unsound(f"It is not well-formed XML: {error}.") from None
        if self._root is None:
            raise Unsound("There is no <svg> element.")
        return self._root

    def _doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        del name, system, public
        if internal:
            raise Unsound("It declares entities in a DOCTYPE. Leave the DOCTYPE out.")

    def _entity(self, *about: object) -> int:
        del about
        raise Unsound("It uses entities of its own. Write the characters themselves.")

    def _start(self, name: str, given: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise Unsound(f"It has more than {MAX_ELEMENTS} elements. Draw it simpler.")
        if len(self._open) + self._skipped > MAX_DEPTH:
            raise Unsound(f"Its elements nest deeper than {MAX_DEPTH}. Draw it flatter.")
        local = name.removeprefix("svg:")
        if self._root is None and local != "svg":
            raise Unsound("The outermost element is not <svg>.")
        if local == "a":
            # A link shows what is in it, and leads nowhere.
            local, given = "g", {key: value for key, value in given.items() if "href" not in key}
        if self._skipped or local not in ELEMENTS:
            if not self._skipped and ":" not in local and local not in UNTOLD:
                self.left_out.append(f"<{local[:40]}>")
            self._skipped += 1
            return
        element = Element(local, {})
        self._fill(element, given)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, name: str) -> None:
        del name
        if self._skipped:
            self._skipped -= 1
            return
        element = self._open.pop()
        if element.name == "style":
            sheet, left, pointed = sheet_of("".join(child for child in element.children if isinstance(child, str)))
            element.children = [sheet]
            element.points_to += pointed
            self.left_out += left
            self._look_at(sheet)

    def _words(self, words: str) -> None:
        if self._skipped or not self._open or self._open[-1].name not in WORDED:
            return
        self._open[-1].children.append(words)
        if self._open[-1].name in WRITTEN and words.strip():
            self.written.append(words)

    def _fill(self, element: Element, given: dict[str, str]) -> None:
        for name, value in given.items():
            local = name.removeprefix("xlink:") if name == "xlink:href" else name
            if local == "href":
                self._refer(element, value.strip())
            elif local == "style":
                if self._root is None:
                    # Browsers paint it; renderers of pictures do not.
                    value, self.ground = _without_ground(value)
                kept, left = declarations_of(value)
                self.left_out += left
                if kept:
                    element.attributes["style"] = ";".join(f"{key}:{held}" for key, held in kept.items())
            elif local in ATTRIBUTES:
                self._keep(element, local, value)
            elif ":" not in local and not local.startswith(("xmlns", "data-", "aria-")) and local not in (
                "version", "baseProfile", "role", "lang", "tabindex",
            ):  # fmt: skip
                self.left_out.append(local[:40])
        for value in element.attributes.values():
            element.points_to += references_in(value)
            self._look_at(value)
        if element.name == "image" and "href" not in element.attributes:
            raise Unsound("An <image> has no picture. Place only pictures that were given, by their names.")

    def _keep(self, element: Element, name: str, value: str) -> None:
        sound = value_of(value)
        if name == "id" and (not NAME.fullmatch(value) or value in self._known):
            return
        if sound is None:
            if "url(" in value:
                raise Unsound(f"{name} refers to {_shown(value)}. Only url(#id) is taken.")
            self.left_out.append(name)
            return
        if name == "id":
            self._known.add(value)
        element.attributes[name] = family_of(sound) if name == "font-family" else sound
        if name == "font-family":
            self.families.add(element.attributes[name])
        elif name in ("font-weight", "font-style"):
            self.bold = True

    def _look_at(self, value: str) -> None:
        """What fonts a style asks for."""
        self.families |= {family for family in ("monospace", "serif") if f"font-family:{family}" in value}
        self.bold = self.bold or "font-weight" in value or "font-style" in value

    def _refer(self, element: Element, target: str) -> None:
        if element.name == "image":
            element.attributes["href"] = self._picture(target)
        elif element.name in REFERRING and target.startswith("#") and NAME.fullmatch(target[1:]):
            element.attributes["href"] = target
            element.points_to.append(target[1:])
        elif element.name in REFERRING:
            raise Unsound(f"<{element.name}> refers to {_shown(target)}. Only #id is taken.")
        else:
            self.left_out.append("href")

    def _picture(self, target: str) -> str:
        self._shown += 1
        if self._shown > _MAX_PICTURES:
            raise Unsound(f"It places more than {_MAX_PICTURES} pictures.")
        if target in self._pictures:
            return self._pictures[target]
        head = _DATA.match(target)
        if head is None:
            names = ", ".join(self._pictures) or "none were given"
            raise Unsound(f"<image> refers to {_shown(target)}. Only pictures that were given are taken: {names}.")
        try:
            data = base64.b64decode(re.sub(r"\s+", "", target[head.end() :]), validate=True)
            verified = verify_image(data, what="The picture", max_pixels=_MAX_PICTURE_PIXELS)
        except (binascii.Error, ValueError, BadResponse):
            raise Unsound("A picture inside the drawing is broken. Draw shapes instead.") from None
        return f"data:{verified.mime};base64,{base64.b64encode(data).decode()}"


def _as_xml(match: re.Match[str]) -> str:
    """A character as XML knows it: models write those of HTML, and lone ampersands."""
    name = match[1]
    if name is None:
        return "&amp;"
    known = html5.get(f"{name};")
    return match[0] if known is None else "".join(f"&#{ord(character)};" for character in known)


def _box(attributes: Mapping[str, str]) -> tuple[float, float, float, float]:
    given = [part for part in _PARTS.split(attributes.get("viewBox", "").strip()) if part]
    try:
        numbers = [float(part) for part in given]
    except ValueError:
        numbers = []
    if len(numbers) != 4:
        sides = [_length(attributes.get(side, "")) for side in ("width", "height")]
        if given or None in sides:
            raise Unsound('The viewBox of <svg> cannot be read. Write viewBox="0 0 WIDTH HEIGHT".')
        numbers = [0.0, 0.0, *(side or 0.0 for side in sides)]
    left, top, width, height = numbers
    if not all(abs(number) <= _MOST_EXTREME for number in numbers) or min(width, height) < 1e-3:
        raise Unsound("The viewBox of <svg> is too large, or empty. Use the size that was asked for.")
    if max(width, height) / min(width, height) > _MAX_ASPECT:
        raise Unsound("The viewBox of <svg> is a mere strip. Use the size that was asked for.")
    return left, top, width, height


def _without_ground(style: str) -> tuple[str, str | None]:
    """The style of the root without its background, and the background's colour."""
    found = _GROUND.search(style)
    colour = found[1].strip() if found else None
    return _GROUND.sub("", style), colour if colour and value_of(colour) and _COLOUR.fullmatch(colour) else None


def _ground(colour: str | None, box: tuple[float, float, float, float]) -> str:
    if colour is None:
        return ""
    left, top, width, height = (f"{number:.10g}" for number in box)
    return f'<rect x="{left}" y="{top}" width="{width}" height="{height}"{attributes_out({"fill": colour})}/>'


def _length(text: str) -> float | None:
    match = _NUMBER.match(text)
    return float(f"{match[1]}e{match[2] or 0}") if match else None


def _shown(target: str) -> str:
    """What was referred to, short: it is told to the model, and may be an address with a secret."""
    kind = target.split(":", 1)[0][:12] if ":" in target[:16] else ""
    return f"something of the kind {kind!r}" if kind else "something outside the drawing"
