"""Values and style sheets of a drawing, by allow-list. What is not understood is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from langgraph_interleave.backends.svg.allowed import FUNCTIONS, PROPERTIES

#: The name of an element of the drawing.
NAME = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_URL = re.compile(r"url\(\s*(?P<quote>[\"']?)#(?P<id>[A-Za-z_][\w.-]{0,63})(?P=quote)\s*\)")
_SCHEME = re.compile(r"\s*[A-Za-z][\w+.-]*\s*:")
_BACKWARDS = re.compile(r"\s*([\w-]*)")
_SELECTOR = re.compile(r"[\w\-.#*>:() ]{1,200}")
_SHORTHAND = re.compile(
    r"^(?:(?P<style>italic|oblique)\s+)?(?:small-caps\s+)?(?:(?P<weight>bold|bolder|lighter|normal|[1-9]00)\s+)?"
    r"(?:(?P<late>italic|oblique)\s+)?(?P<size>[\d.]+(?:px|pt|em|rem|%)?)(?:\s*/\s*[\d.]+\w*)?\s+(?P<family>.+)$",
    re.IGNORECASE,
)
_MONO = re.compile(r"(?i)mono|courier|consol|menlo|code|typewriter")
_SERIF = re.compile(r"(?i)(?<!sans-)(?<!sans )\bserif|times|georgia|garamond|palatino|cambria|roman|math")


def value_of(text: str) -> str | None:
    """A value as it may stand in a drawing; `None` when it may not.

    It points nowhere but to `#id`, calls only known functions, and holds no escapes.

    Example:
        >>> value_of("url(#paper)"), value_of("url(http://example.org/x)"), value_of("expression(1)")
        ('url(#paper)', None, None)
    """
    text = text.replace("!important", "").strip()
    if any(character in text for character in "\\@<>{};") or "://" in text or _SCHEME.match(text):
        return None
    if any(name not in FUNCTIONS or name == "url" for name in _called(_URL.sub("", text))):
        return None
    return text


def references_in(text: str) -> Iterator[str]:
    """The elements a value points to.

    Example:
        >>> list(references_in("url(#paper) red"))
        ['paper']
    """
    return (found["id"] for found in _URL.finditer(text))


def family_of(text: str) -> str:
    """One of the three families every machine has: nobody knows which fonts are where a drawing is drawn.

    Example:
        >>> family_of("'Courier New', monospace"), family_of("Georgia, serif"), family_of("Inter, sans-serif")
        ('monospace', 'serif', 'sans-serif')
    """
    first = text.split(",")[0]
    for words in (first, text):
        if _MONO.search(words):
            return "monospace"
        if "sans" in words.lower() or "gothic" in words.lower():
            return "sans-serif"
        if _SERIF.search(words):
            return "serif"
    return "sans-serif"


def declarations_of(text: str) -> tuple[dict[str, str], list[str]]:
    """The properties of a `style` attribute that may stay, and the names of those left out.

    Example:
        >>> declarations_of("fill: red; behavior: url(x); font: bold 12px Arial")[0]
        {'fill': 'red', 'font-weight': 'bold', 'font-size': '12px', 'font-family': 'sans-serif'}
    """
    kept: dict[str, str] = {}
    left: list[str] = []
    for declaration in _without_comments(text).split(";"):
        name, colon, value = declaration.partition(":")
        name = name.strip().lower()
        if not colon or not name:
            continue
        sound = value_of(value)
        if sound is None or (name != "font" and name not in PROPERTIES):
            left.append(name if re.fullmatch(r"[\w-]{1,40}", name) else "a property")
        elif name == "font":
            kept.update(_spelled_out(sound))
        else:
            kept[name] = family_of(sound) if name == "font-family" else sound
    return kept, left


def sheet_of(text: str) -> tuple[str, list[str], list[str]]:
    """A style sheet's rules that may stay, what was left out, and the elements its values point to."""
    kept: list[str] = []
    left: list[str] = []
    pointed: list[str] = []
    text = _without_comments(text)
    if "@" in text or "\\" in text:
        # With at-rules and escapes a sheet reads otherwise to others than to us.
        return "", ["rules with @ or \\ in <style>"], []
    for rule in text.split("}"):
        head, brace, body = rule.partition("{")
        if not brace:
            continue
        selectors = [one.strip() for one in head.split(",")]
        sound = [one for one in selectors if _SELECTOR.fullmatch(one)]
        declarations, others = declarations_of(body)
        left += others
        if len(sound) < len(selectors):
            left.append("a selector in <style>")
        if sound and declarations:
            written = ";".join(f"{name}:{value}" for name, value in declarations.items())
            pointed += references_in(written)
            kept.append(f"{','.join(sound)}{{{written}}}")
    return "\n".join(kept), left, pointed


def _called(text: str) -> Iterator[str]:
    """The name before every opening bracket; read backwards, so that a long word is read once."""
    for before in text.split("(")[:-1]:
        match = _BACKWARDS.match(before[::-1])
        yield match[1][::-1].lower() if match else ""


def _without_comments(text: str) -> str:
    kept: list[str] = []
    while text:
        before, found, after = text.partition("/*")
        kept.append(before)
        # What is not closed goes on to the end.
        text = after.partition("*/")[2] if found else ""
    return "".join(kept)


def _spelled_out(shorthand: str) -> dict[str, str]:
    """The `font` shorthand as single properties: not every renderer reads it."""
    match = _SHORTHAND.match(shorthand)
    if match is None:
        return {}
    spelled = {
        "font-style": match["style"] or match["late"],
        "font-weight": match["weight"],
        "font-size": match["size"],
        "font-family": family_of(match["family"]),
    }
    return {name: value for name, value in spelled.items() if value}
