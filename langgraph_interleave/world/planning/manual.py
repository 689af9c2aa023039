"""Manuals: honest general steps for a "how to" that nobody here knows."""

from __future__ import annotations

import re

from langgraph_interleave.world.grammar import read
from langgraph_interleave.world.grammar.languages import NOUNS, Language, names
from langgraph_interleave.world.grammar.phrases import article, listed
from langgraph_interleave.world.grammar.prose import phrase, with_ids
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.planning.items import without_lead
from langgraph_interleave.world.planning.outline import Outline, Part
from langgraph_interleave.world.procedures import Words
from langgraph_interleave.world.scene import Scene, Thing
from langgraph_interleave.world.vocabulary import KINDS

_HOW = re.compile(
    r"^(?:.*?\b)?(?:how\s+(?:to|do\s+(?:i|you|we)|can\s+(?:i|you|we)|should\s+(?:i|you|we)|does\s+one|do\s+people)\s+|"
    r"(?:guide|instructions|tutorial|steps|ways?)\s+(?:to|for|on)\s+|cómo\s+|comment\s+)(?P<en>.+)$|"
    r"^(?:.*?)(?:wie\s+(?:man\s+|ich\s+|wir\s+)?|anleitung\s+(?:zum|für|um)\s+)(?P<de>.+)$|"
    r"^(?:.*?)(?:如何|怎样|怎么|怎么样)(?P<zh>.+)$",
    re.IGNORECASE | re.DOTALL,
)

_STEPS: tuple[tuple[bool, Words, Words], ...] = (
    (False, Words("Get ready", "Vorbereiten", "准备"), Words(
        "Put everything ready that you need: {what}.", "Leg alles bereit, was du brauchst: {what}.",
        "准备好需要的东西：{what}。")),
    (False, Words("Look closely", "Genau ansehen", "仔细看"), Words(
        "Have a good look at it, and read what comes with it.", "Sieh es dir genau an und lies, was dabeiliegt.",
        "仔细观察，先读说明。")),
    (False, Words("Do it", "Ausführen", "动手"), Words(
        "Now {do}, calmly and one thing after the other.",
        "Jetzt geht es an die Arbeit, ruhig und eins nach dem anderen.",
        "现在开始：{do}。不要急，一步一步来。")),
    (False, Words("Check", "Prüfen", "检查"), Words(
        "Check that it is as it should be, and correct it if not.",
        "Prüfe, ob es so ist, wie es sein soll, und bessere nach.",
        "检查是否正确，不对就调整。")),
    (True, Words("Done", "Fertig", "完成"), Words(
        "Done. Tidy up, and enjoy the result.",
        "Fertig. Räum auf und freu dich am Ergebnis.", "完成了，收拾好，享受成果。")),
)  # fmt: skip
#: What stands beside the thing in each step.
_BESIDE: tuple[Thing | None, ...] = (
    None,
    Thing(id="magnifying_glass", kind="magnifying glass", at="right"),
    Thing(id="hand", kind="hand", state="pointing", at="right"),
    Thing(id="hand", kind="hand", state="thumb up", at="right"),
    Thing(id="face", kind="face", state="smiling", at="right"),
)


_DRAW = re.compile(r"\b(?:draw|sketch|paint|zeichne[nt]?|zeichnet|male[nt]?|malt|dibujar|dessiner)\b|画", re.IGNORECASE)
_DRAWING: tuple[tuple[bool, Words, Words], ...] = (
    (True, Words("Paper and pencil", "Papier und Bleistift", "纸和笔"), Words(
        "Take paper and a pencil.", "Nimm Papier und einen Bleistift.", "拿出纸和铅笔。")),
    (False, Words("Simple shapes", "Einfache Formen", "简单的形状"), Words(
        "Begin lightly with simple shapes, as large as the whole shall be.",
        "Beginne ganz leicht mit einfachen Formen, so groß wie das Ganze werden soll.",
        "先轻轻地画出简单的形状，定好大小。")),
    (False, Words("The outline", "Der Umriss", "轮廓"), Words(
        "Join them to one outline, and add what makes it what it is.",
        "Verbinde sie zu einem Umriss und zeichne die Einzelheiten dazu.", "连成轮廓，再画上细节。")),
    (False, Words("Colour", "Farbe", "上色"), Words(
        "Go over the good lines, and colour it in.", "Zieh die guten Linien nach und male alles aus.",
        "把好的线条描粗，再涂上颜色。")),
)  # fmt: skip


def drawing_outline(subject: str, language: Language) -> Outline | None:
    """General steps for drawing something the vocabulary knows, or `None`.

    Args:
        subject: The request without its wishes about form.
        language: Of captions.
    """
    match = _HOW.search(subject)
    if match is None or not _DRAW.search(subject):
        return None
    things = [thing for thing in read(subject, language=language).scene.things if thing.kind != "card"]
    known = KINDS.get(things[0].kind) if things else None
    if known is None or known.category in ("stationery", "shape"):
        return None
    spoken: Language = language if language in ("en", "de", "zh") else "en"
    thing = things[0].model_copy(
        update={"id": known.name.replace(" ", "_"), "size": "large", "at": "middle", "count": 1}
    )
    pencil = Thing(id="pencil", kind="pencil", at="right")
    brush = Thing(id="paintbrush", kind="paintbrush", at="right")
    shapes = Thing(id="circle", kind="circle", color="white", count=2, at="middle")
    sheet = Thing(id="paper_sheet", kind="paper sheet", state="blank", at="middle")
    outline = thing.model_copy(update={"color": "white"}) if known.recolourable else thing
    scenes = [(sheet, pencil), (shapes, pencil), (outline, pencil), (thing, brush)]
    parts = tuple(
        Part(caption.in_language(spoken), Scene(things=shown), title.in_language(spoken), extra=extra)
        for (extra, title, caption), shown in zip(_DRAWING, scenes, strict=True)
    )
    thoughts = (
        f"There is no page on drawing {article(known.name)} {known.name} in my book: I plan as one draws anything.",
    )
    return Outline(sentence(subject).rstrip(".。"), parts, "chain", spoken, thoughts, linked=True)


def manual_outline(subject: str, language: Language) -> Outline | None:
    """General steps for a "how to" request, or `None` when it is none.

    What is known of it is drawn, what is not is a labelled card. The steps say nothing that could
    be wrong: get ready, look, do it, check.

    Args:
        subject: The request without its wishes about form.
        language: Of captions.
    """
    match = _HOW.search(subject)
    if match is None:
        return None
    spoken: Language = language if language in ("en", "de", "zh") else "en"
    do = next(group for group in (match["en"], match["de"], match["zh"]) if group).strip(" ?.!？。")
    reading = read(_object_of(do, language), language=language)
    things = tuple(thing for thing in reading.scene.things if thing.kind != "hand")[:2]
    unknown = reading.unknown
    if not things:
        label = do if len(do) <= 24 else do[:24].rsplit(" ", 1)[0] + " …"
        things, unknown = (Thing(id="?", kind="card", label=label),), (*unknown, label)
    placed = with_ids(
        thing.model_copy(update={"at": "middle" if len(things) == 1 else ("left", "middle")[index]})
        for index, thing in enumerate(things)
    )
    what = _what(placed, _object_of(do, language), spoken)
    deed = _deed(do) if language == spoken else "do it"
    # A hand that points, points to the right: it stands left of what it shows, where there is room.
    beside_it = [
        beside.model_copy(update={"at": "left"})
        if beside is not None and beside.state == "pointing" and len(placed) == 1
        else beside
        for beside in _BESIDE
    ]
    parts = tuple(
        Part(
            caption=sentence(caption.in_language(spoken).format(what=what, do=deed)),
            scene=Scene(backdrop=reading.scene.backdrop, things=(*placed, *((beside,) if beside is not None else ()))),
            title=title.in_language(spoken),
            extra=extra,
        )
        for (extra, title, caption), beside in zip(_STEPS, beside_it, strict=True)
    )
    return Outline(
        title=sentence(subject).rstrip(".。"),
        parts=parts,
        order="chain",
        language=spoken,
        thoughts=(f"“{do}” is not in my book of procedures, so I plan general steps that hold for most things.",),
        unknown=unknown,
    )


def _object_of(do: str, language: Language) -> str:
    """What the deed is done to: the phrase without its verb, which comes first."""
    if language == "zh":
        things = read(do, language="zh").scene.things
        known = [thing for thing in things if thing.kind != "card"]
        first = things[0].label if things and things[0].kind == "card" and known else None
        return do.replace(first, "", 1) if first else do
    first, _, rest = without_lead(do).partition(" ")
    rest = re.sub(r"^(?:man|ich|wir|you|up|out|on|off|down|with)\b\s*", "", rest)
    return rest or first


def _what(things: tuple[Thing, ...], do: str, language: Language) -> str:
    if language == "zh":
        known = [name for row in NOUNS.values() for name in names(row, "zh") if name in do]
        return max(known, key=len) if known else do.strip(" 。")
    if language != "en":
        return do.strip(" .")
    named = [
        f"{article(thing.label)} {thing.label}" if thing.kind == "card" and thing.label else phrase(thing, placed=False)
        for thing in things
    ]
    return listed(named)


def _deed(do: str) -> str:
    return do[0].lower() + do[1:] if do[:1].isupper() and not do[:2].isupper() else do
