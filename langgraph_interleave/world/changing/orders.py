"""From the words of a change to its orders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from langgraph_interleave.world.changing.named import MARK, Named, named_in, number_of
from langgraph_interleave.world.changing.order import Kind, Order
from langgraph_interleave.world.changing.sayings import (
    ABOUT_STYLE,
    AFTER_PLACE,
    CONTENT,
    DELETED,
    FAILED,
    HEADING,
    INSERTED,
    KEPT,
    KEPT_ONLY,
    LANGUAGE,
    LOOK,
    MOVED,
    PALETTE,
    PLACES,
    REDONE,
    REDONE_SO,
    REVERSED,
    REWORDED,
    SIMPLER,
    SPLIT,
    STEP_COUNT,
    SWAPPED,
    TITLED,
    WORDED,
)
from langgraph_interleave.world.grammar.idioms import without_courtesies

#: Characters of a change that are read, and pieces.
_LONGEST = 6000
_MOST = 60
_QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』')
#: Stands for a quotation while its text is cut up; followed by its number.
_HELD = "\u2063"
_HELD_ONE = re.compile(rf"{_HELD}(\d+){_HELD}")
_BULLET = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*•–])\s+")
_SENTENCE = re.compile(r"(?<!\bno\.)(?<!\bnr\.)(?<=[.!?;])\s+|(?<=[。！？；])")
_VERB = (
    r"(?:delete|remove|drop|swap|exchange|move|put|redo|redraw|repeat|insert|add|make|change|set|rename|call|title|"
    r"turn|paint|recolou?r|give|let|show|caption|simplify|split)"
)
#: Where one piece of a sentence ends and another with steps of its own begins.
_CUT = re.compile(
    rf"\s*,\s*but\s+|\s*,\s*(?:and\s+)?(?={MARK}\s+\w)|"
    rf"(?:\s*,\s*(?:and\s+|but\s+)?(?:then\s+|also\s+)*|\s+(?:and|then|but)\s+(?:then\s+|also\s+)*)"
    rf"(?=(?:please\s+)?(?:(?:in|from|for|on)\s+{MARK}|{_VERB}\b[^,;.]*{MARK}|{MARK}\s*(?:is|are|should|must|:)|"
    r"(?:call|rename|entitle)\s+(?:it|the)\b|(?:add|insert)\s+(?:an?|another|one)\s+(?:\w+\s+)?(?:step|picture)\b|"
    r"reverse\s+the\b|translate\b))",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"\b(?:only|just)\s+(?:in\s+|for\s+)?{MARK}|{MARK}\s+(?:only|alone)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Piece:
    words: str
    named: tuple[Named, ...]
    held: tuple[str, ...]
    line: int

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(sorted({step for one in self.named for step in one.steps}))


def orders_of(text: str, drawn: Sequence[int], count: int, *, first: int = 1) -> list[Order]:
    """What the words of a change ask for, in order. Never raises; what fits nothing else is a `revise`.

    Args:
        text: The words.
        drawn: Indices of the steps with a picture.
        count: How many steps there are.
        first: What the first step is called.

    Example:
        >>> for order in orders_of("Delete step 2 and make step 3 night-time. Add a moon.", [0, 1, 2], 3):
        ...     print((order.kind, order.steps, order.words))
        ('delete', (1,), '')
        ('revise', (2,), 'make it night-time')
        ('revise', (2,), 'Add a moon')
    """
    failed = _failed(text, drawn, count, first)
    if failed is not None:
        return [failed]
    orders: list[Order] = []
    line = -1
    for piece in _pieces(text, drawn, count, first):
        order = _order(piece, count, first)
        before = orders[-1] if orders else None
        if before is not None and order.kind == "revise" and not piece.named:
            if before.kind == "insert" and before.words and piece.line == line:
                # What follows the words of a new step belongs to them.
                words, said = f"{before.words}. {order.words}", f"{before.said}. {order.said}"
                orders[-1] = replace(before, words=words, said=said)
                continue
            if before.kind in ("revise", "redo") and before.steps and not before.every:
                order = replace(order, steps=before.steps, alone=before.alone, inherited=True)
        orders.append(order)
        line = piece.line
    return orders


def _failed(text: str, drawn: Sequence[int], count: int, first: int) -> Order | None:
    """What a run says of a step it could not draw: the rest of its words tells why, and asks for nothing."""
    marked, named = named_in(text[:_LONGEST], drawn, count, first=first)
    failed = [named[marked[: match.start()].count(MARK)] for match in FAILED.finditer(marked)]
    if not failed:
        return None
    steps = tuple(sorted({step for one in failed for step in one.steps}))
    missing = tuple(name for one in failed for name in one.missing)
    return Order("simplify", text[:_LONGEST].strip(), steps, missing=missing)


def _pieces(text: str, drawn: Sequence[int], count: int, first: int) -> Iterator[_Piece]:
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(match[0])
        return f"{_HELD}{len(held) - 1}{_HELD}"

    plain = _QUOTED.sub(hold, text[:_LONGEST].replace(_HELD, " ").replace("’", "'"))
    found = 0
    for number, line in enumerate(plain.split("\n")):
        marked, named = named_in(_BULLET.sub("", line), drawn, count, first=first)
        left = list(named)
        for sentence in _SENTENCE.split(marked):
            for words in _cut(sentence):
                many = words.count(MARK)
                own, left = left[:many], left[many:]
                words = without_courtesies(words.strip(" \t,;.!?:。！？；，")).strip(" ,")
                if re.search(rf"[^\W_]|{MARK}", words) and found < _MOST:
                    found += 1
                    yield _Piece(words, tuple(own), tuple(held), number)


def _cut(sentence: str) -> Iterator[str]:
    start = 0
    colon = sentence.find(":")
    for match in _CUT.finditer(sentence):
        if 0 <= colon < match.start() and INSERTED.match(without_courtesies(sentence[start:].strip())):
            break
        yield sentence[start : match.start()]
        start = match.end()
    yield sentence[start:]


def _order(piece: _Piece, count: int, first: int) -> Order:
    words = piece.words
    missing = tuple(one for named in piece.named for one in named.missing)
    every = any(named.every for named in piece.named)
    alone = _ALONE.search(words) is not None
    said = _restored(words, piece)
    basis = Order("unclear", said, piece.steps, every=every, alone=alone, missing=missing)
    if missing and not piece.steps:
        return basis
    for find in (_of_text, _of_place, _of_steps, _of_look):
        order = find(piece, basis, count, first)
        if order is not None:
            return order
    if STEP_COUNT.search(words) and not piece.named:
        return basis
    return replace(basis, kind="revise", words=_restored(_of_scene(words), piece))


def _of_text(piece: _Piece, basis: Order, count: int, first: int) -> Order | None:
    """Captions, titles, languages."""
    del count, first
    for pattern in REWORDED:
        match = pattern.match(piece.words)
        if match is not None:
            titled = match["what"].casefold() in ("title", "heading", "name")
            kind: Kind = "heading" if basis.every and titled else "title" if titled else "caption"
            return replace(basis, kind=kind, words=_value(match["to"], piece))
    match = TITLED.match(piece.words)
    if match is not None and not re.match(r"(?:on|off|over|back|it)\b", match["to"]):
        return replace(basis, kind="heading" if basis.every else "title", words=_value(match["to"], piece))
    match = WORDED.match(piece.words)
    if match is not None:
        return replace(basis, kind="caption", words=_value(match["to"], piece))
    match = HEADING.match(piece.words)
    if match is not None:
        return replace(basis, kind="heading", words=_value(match["to"] or match["to2"] or match["to3"], piece))
    match = LANGUAGE.search(piece.words)
    if match is not None:
        return replace(basis, kind="language", words=match["to"] or "")
    return None


def _of_place(piece: _Piece, basis: Order, count: int, first: int) -> Order | None:
    """New steps, and steps that go elsewhere."""
    words = piece.words
    match = INSERTED.match(words)
    if match is not None:
        return _insertion(piece, basis, match, count, first)
    if SWAPPED.match(words) and len(basis.steps) == 2:
        return replace(basis, kind="swap")
    if REVERSED.match(words):
        return replace(basis, kind="reverse")
    match = MOVED.match(words)
    if match is not None and piece.named and piece.named[0].steps:
        moved = piece.named[0].steps
        place = _place(match["tail"] or match["tail2"], piece.named[1:], count, first, moved)
        if place is not None:
            return replace(basis, kind="move", steps=moved, place=place)
    return None


def _insertion(piece: _Piece, basis: Order, match: re.Match[str], count: int, first: int) -> Order:
    tail = match["tail"] or ""
    place: int | None = None
    named = piece.named
    if match["called"] is not None:
        # "Add a last step: …", "add a first step: …".
        place = count if 0 not in named[0].steps or count == 1 else 0
    before_tail = match["where"]
    if before_tail is not None:
        place = _place(f"{before_tail} {MARK}", named, count, first, ())
    head, colon, content = tail.partition(":")
    found = AFTER_PLACE.search(head)
    if place is None and found is not None:
        place = _place(found[0], named, count, first, ())
        head = head[: found.start()] + " " + head[found.end() :]
    if not colon:
        content = CONTENT.sub("", head.strip(" ,.-–"), count=1)
    words = _restored(re.sub(rf"\s*{MARK}\s*", " ", content).strip(" ,.-–"), piece)
    if _is_quoted(words):
        words = words[1:-1]
    return replace(basis, kind="insert", words=words, place=count if place is None else place)


def _place(tail: str, named: Sequence[Named], count: int, first: int, moved: Sequence[int]) -> int | None:
    """Before which step "after step 2", "to the end", "to position 3", "up" means; `None` for no place."""
    for pattern, meaning in PLACES:
        match = pattern.fullmatch(tail.strip(" ,.:"))
        if match is None:
            continue
        number = number_of(match["n"]) if "n" in pattern.groupindex and match["n"] else None
        steps = [number - first] if number is not None else [step for one in named for step in one.steps]
        match meaning:
            case "end":
                return count
            case "start":
                return 0
            case "up":
                return max(min(moved) - 1, 0) if moved else None
            case "down":
                return min(max(moved) + 2, count) if moved else None
            case _ if not steps or not 0 <= steps[0] < count:
                return None
            case "after":
                return max(steps) + 1
            case "before":
                return min(steps)
            case "between":
                return max(steps)
            case _:
                # To a position: before the step there, or behind it where the step comes from further up.
                return steps[0] + 1 if moved and min(moved) < steps[0] else steps[0]
    return None


def _of_steps(piece: _Piece, basis: Order, count: int, first: int) -> Order | None:
    """Whole steps: gone, again, simpler, as they are."""
    del first
    words = piece.words
    if SIMPLER.search(words) and basis.steps:
        return replace(basis, kind="simplify")
    if SPLIT.match(words) and basis.steps:
        return replace(basis, kind="split")
    if KEPT_ONLY.match(words) and basis.steps:
        return replace(basis, kind="delete", steps=tuple(index for index in range(count) if index not in basis.steps))
    if KEPT.match(words):
        return replace(basis, kind="keep")
    if any(pattern.match(words) for pattern in DELETED) and basis.steps:
        return replace(basis, kind="delete")
    match = REDONE_SO.match(words)
    if match is not None and not REDONE.match(words):
        return replace(basis, kind="revise", words=_restored(_of_scene(match["so"]), piece))
    if REDONE.match(words):
        return replace(basis, kind="redo", steps=basis.steps or tuple(range(count)))
    return None


def _of_look(piece: _Piece, basis: Order, count: int, first: int) -> Order | None:
    del count, first
    for pattern in ABOUT_STYLE:
        match = pattern.match(piece.words)
        if match is not None:
            return replace(basis, kind="look", words=_value(match["to"], piece))
    match = LOOK.match(piece.words)
    if match is not None:
        return replace(basis, kind="look", words=match["to"])
    match = PALETTE.match(piece.words)
    if match is not None and (basis.every or not basis.steps):
        return replace(basis, kind="palette", words=match["to"])
    return None


_SCENE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        (rf"\b(?:only|just)\s+(?=(?:in\s+|for\s+)?{MARK})|(?<={MARK})\s+(?:only|alone)\b", ""),
        (rf"^(make|set|turn|let|have|paint|colou?r|render)\s+{MARK}\s*", r"\1 it "),
        (rf"^(?:change|revise|adapt|adjust)\s+{MARK}\s*(?:(?:to|into|so\s+that|such\s+that)\b|:)\s*", ""),
        (rf"^{MARK}\s+(?:should|must|shall|has\s+to|needs\s+to)\s+(?:show|depict|display)\s+", "show "),
        ((rf"^{MARK}\s+(?:(?:should|must|shall|has\s+to|needs\s+to)\s+(?:also\s+)?(?:have|contain|include)|needs|lacks|"
         r"wants|(?:but\s+)?with)\s+"), "add "),
        (rf"^{MARK}\s+without\s+", "remove "),
        (rf"^{MARK}\s+(?:should|must|shall|has\s+to|have\s+to|needs\s+to)\s+be\s+", "it should be "),
        (rf"^{MARK}\s+(?:is|are)\s+", "it is "),
        (rf"\s*\b(?:in|at|of|for|on|from|to|im|within|during|en|dans|inside|auf)\s+{MARK}", " "),
        (rf"^在?{MARK}\s*[里中上]?\s*[:,–-]?\s*", ""),
        (rf"\s*{MARK}\s*", " "),
    )
)  # fmt: skip


def _of_scene(words: str) -> str:
    """A piece without the naming of its steps, as a remark about a picture."""
    for pattern, said in _SCENE:
        words = pattern.sub(said, words)
    return " ".join(words.split()).strip(" ,.:;–-")


def _restored(words: str, piece: _Piece) -> str:
    """With its quotations, and the steps named, again in it."""
    # What was named last stands last.
    names = iter(piece.named[len(piece.named) - words.count(MARK) :])
    text = re.sub(MARK, lambda _: next(names).said, words)
    return _HELD_ONE.sub(lambda match: piece.held[int(match[1])], text)


def _value(words: str, piece: _Piece) -> str:
    """A text that was given, without the quotation marks around it."""
    text = _restored(words, piece).strip()
    return text[1:-1].strip() if _is_quoted(text) else text.strip(" ")


def _is_quoted(text: str) -> bool:
    return len(text) >= 2 and _QUOTED.fullmatch(text) is not None
