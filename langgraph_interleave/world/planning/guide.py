"""Guides: what is done with a product, deed by deed: "unbox, assemble and use a lamp"."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from langgraph_interleave.world.grammar import read
from langgraph_interleave.world.grammar.phrases import article
from langgraph_interleave.world.grammar.prose import phrase, with_ids
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.planning.items import without_lead
from langgraph_interleave.world.planning.outline import Outline, Part
from langgraph_interleave.world.scene import Beside, Scene, Thing
from langgraph_interleave.world.vocabulary import KINDS

#: Deed → the words for it.
_DEEDS: Mapping[str, str] = {
    "unbox": r"unbox|unpack|unwrap|take out of the box",
    "assemble": r"assemble|build|put together|set up|install|mount|connect",
    "use": r"use|operate|switch on|turn on|try|start|enjoy",
    "clean": r"clean|wipe|maintain|care for|wash",
    "store": r"store|put away|pack up|pack away|repack",
}
_DEED = "|".join(sorted("|".join(_DEEDS.values()).split("|"), key=len, reverse=True))
_LIST = re.compile(
    rf"(?:^|[:\s])(?P<deeds>(?:{_DEED})(?:(?:\s*,\s*(?:and\s+|then\s+)?|\s+and\s+(?:then\s+)?|\s+then\s+)(?:{_DEED}))+)"
    r"\s+(?P<what>(?:an?|the|your|my|our|this|new)\s+.+?|it)\s*[.!]?$",
    re.IGNORECASE,
)
#: States of a product before and while it is used, the first it can be in.
_IDLE = ("off", "unlit", "closed", "empty")
_IN_USE = ("lit", "on", "running", "burning", "boiling", "full", "open")


def guide_outline(subject: str) -> Outline | None:
    """The outline of a product guide that lists its deeds, or `None` when the request is none.

    Each deed is one step, unboxing and using have a second one to tell when more steps are asked for.

    Args:
        subject: The request without its wishes about form; in English.

    Example:
        >>> outline = guide_outline("unbox, assemble and use a lamp")
        >>> [part.title for part in outline.parts if not part.extra]
        ['Unbox the lamp', 'Assemble the lamp', 'Use the lamp']
    """
    match = _LIST.search(subject)
    if match is None:
        return None
    reading = read(match["what"], language="en")
    if not reading.scene.things:
        return None
    product = reading.scene.things[0].model_copy(update={"at": "middle", "state": None, "count": 1})
    [product] = with_ids([product])
    known = KINDS.get(product.kind)
    backdrop = known.backdrop if known is not None and product.kind != "card" and known.backdrop != "paper" else "table"
    named = (
        product.label
        if product.kind == "card" and product.label
        else phrase(product.model_copy(update={"at": None}), placed=False).split(" ", 1)[-1]
    )
    parts: list[Part] = []
    for word in re.findall(_DEED, match["deeds"], re.IGNORECASE):
        deed = next(deed for deed, words in _DEEDS.items() if re.fullmatch(words, word, re.IGNORECASE))
        title = f"{word[0].upper()}{word[1:].lower()} the {named}"
        parts.extend(_SHOWN[deed](product, named, title, backdrop))
    lead = without_lead(subject[: match.start("deeds")])
    colon = ":" if subject[: match.start("deeds")].rstrip().endswith(":") else ""
    whole = f"{match['deeds']} {match['what']}"
    title = f"{sentence(lead).rstrip('.')}{colon} {whole}" if lead else sentence(whole).rstrip(".")
    thoughts = (f"This is a guide to {article(named)} {named}; each deed it lists is a step.",)
    return Outline(title, tuple(parts), "chain", "en", thoughts, unknown=reading.unknown, linked=True)


def _in_state(product: Thing, states: tuple[str, ...]) -> Thing:
    known = KINDS.get(product.kind)
    state = next((state for state in states if known is not None and state in known.states), None)
    return product.model_copy(update={"state": state})


def _scene(backdrop: str, *things: Thing) -> Scene:
    return Scene(backdrop=backdrop, things=things)


def _box(state: str) -> Thing:
    return Thing(id="box", kind="box", state=state, size="large" if state == "closed" else "medium",
                 at="middle" if state == "closed" else "left")  # fmt: skip


def _unbox(product: Thing, named: str, title: str, backdrop: str) -> tuple[Part, ...]:
    out = _in_state(product, _IDLE).model_copy(update={"at": "right"})
    return (
        Part("Put the box on a firm surface, the right way up.", _scene(backdrop, _box("closed").model_copy(
            update={"size": "medium", "at": "left"})), "The box", extra=True),
        Part(f"Open the box, lift the {named} out and check that nothing is missing.",
             _scene(backdrop, _box("open"), out), title),
    )  # fmt: skip


def _assemble(product: Thing, named: str, title: str, backdrop: str) -> tuple[Part, ...]:
    tool = Thing(id="screwdriver", kind="screwdriver", at="right")
    caption = f"Put the parts of the {named} together as the leaflet says, and tighten the screws."
    return (Part(caption, _scene(backdrop, _in_state(product, _IDLE), tool), title),)


def _use(product: Thing, named: str, title: str, backdrop: str) -> tuple[Part, ...]:
    hand = Thing(id="hand", kind="hand", state="pointing", at="left")
    running = _in_state(product, _IN_USE)
    done = Thing(id="face", kind="face", state="smiling", at="right")
    return (
        Part(f"Now the {named} is ready: switch it on and try it." if running.state in ("lit", "on", "running")
             else f"Now the {named} is ready: try it.", _scene(backdrop, running, hand), title),
        Part(f"Enjoy your {named}, and keep the leaflet.", _scene(backdrop, running, done), "Done", extra=True),
    )  # fmt: skip


def _clean(product: Thing, named: str, title: str, backdrop: str) -> tuple[Part, ...]:
    towel = Thing(id="towel", kind="towel", at="right")
    return (
        Part(f"Wipe the {named} with a soft, dry cloth.", _scene(backdrop, _in_state(product, _IDLE), towel), title),
    )


def _store(product: Thing, named: str, title: str, backdrop: str) -> tuple[Part, ...]:
    kept = _in_state(product, _IDLE).model_copy(update={"at": Beside(relation="in", of="box"), "size": "small"})
    box = _box("open").model_copy(update={"at": "middle"})
    return (Part(f"Put the {named} back into its box until you need it again.", _scene(backdrop, box, kept), title),)


_SHOWN: Mapping[str, Callable[[Thing, str, str, str], tuple[Part, ...]]] = {
    "unbox": _unbox, "assemble": _assemble, "use": _use, "clean": _clean, "store": _store,
}  # fmt: skip
