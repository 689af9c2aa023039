"""What a model is told when it draws, and the drawing found in what it says."""

from __future__ import annotations

import asyncio
import base64
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langgraph_interleave.backends.svg.sanitizer import clean
from langgraph_interleave.backends.svg.source import shown
from langgraph_interleave.backends.svg.tree import Unsound
from langgraph_interleave.imaging import downscale
from langgraph_interleave.imaging.drawings import source_of
from langgraph_interleave.models.messages import picture_part, text_part
from langgraph_interleave.prompts import Prompts
from langgraph_interleave.types import ImageBytes, ImageRequest

#: Longest side of a picture placed in a drawing, in pixels.
_PLACED = 1024
#: Side of a drawing nobody asked a size for, in pixels.
_SIDE = 1024
#: Shortest and longest side that is drawn, in pixels.
MIN_SIDE, MAX_SIDE = 16, 4096
#: Longest drawing of another reference that is shown as a drawing, in characters.
_LONGEST_OTHER = 20_000
_LONGEST_AGAIN = 60_000
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FENCED = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)
_BEGIN = re.compile(r"<(?:svg:)?svg[\s>/]")
_END = re.compile(r"</(?:svg:)?svg\s*>")


@dataclass(frozen=True, slots=True)
class Material:
    """What a drawing can be made from.

    Attributes:
        drawing: The drawing to change, with names in the place of pictures.
        pictures: Names that may be placed, and the data URLs that stand for them.
        seen: References as they are shown to the model, each with the words before it.
        others: Drawings of further references.
        notes: What should be known about it.
    """

    drawing: str | None = None
    pictures: dict[str, str] = field(default_factory=dict[str, str])
    seen: tuple[tuple[str, ImageBytes], ...] = ()
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


async def material_of(references: Sequence[ImageBytes], *, show_side: int) -> Material:
    """Look at the references of a request: which of them is a drawing, which are pictures."""
    return await asyncio.to_thread(_material, tuple(references), show_side)


def _material(references: Sequence[ImageBytes], show_side: int) -> Material:
    material = Material()
    seen: list[tuple[str, ImageBytes]] = []
    others: list[str] = []
    for number, reference in enumerate(references, 1):
        name = f"picture:{number}"
        text = _drawing_of(reference)
        material.pictures[name] = _data_url(reference, drawn=text is not None)
        if text is not None and number == 1:
            named, kept = shown(text)
            material.pictures.update(kept)
            material = replace(material, drawing=named)
            continue
        if text is not None and len(named := shown(text)[0]) <= _LONGEST_OTHER:
            others.append(f"{name} is this drawing:\n{named}")
        seen.append((f"{name}:", downscale(reference, show_side)))
    missing = bool(references) and material.drawing is None
    note = ("The picture to change holds no drawing: a new one was made, in which it may be placed.",)
    return replace(material, seen=tuple(seen), others=tuple(others), notes=note if missing else ())


def _drawing_of(reference: ImageBytes) -> str | None:
    """The drawing in a picture; it was in a file, so it is made safe again."""
    text = source_of(reference.data)
    if text is None:
        return None
    try:
        return clean(text).svg()
    except Unsound:
        return None


def _data_url(reference: ImageBytes, *, drawn: bool) -> str:
    jpeg = reference.mime == "image/jpeg"
    placed = downscale(reference, _PLACED, mime="image/jpeg" if jpeg else "image/png")
    data = _without_source(placed.data) if drawn and placed is reference else placed.data
    return f"data:{placed.mime};base64,{base64.b64encode(data).decode()}"


def _without_source(data: bytes) -> bytes:
    """The same pixels: a drawing placed in another one does not bring its own text along."""
    from PIL import Image

    buffer = io.BytesIO()
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        image.info.clear()
        image.save(buffer, "PNG")
    return buffer.getvalue()


def size_of(request: ImageRequest, ratio: float | None = None) -> tuple[int, int]:
    """How large a picture becomes, in pixels.

    A side nobody asked for follows from a shape that anybody may have drawn: it is 16 to 4096 all the same.

    Args:
        request: What was asked; else the first reference has the size.
        ratio: Width over height of the drawing, once there is one.

    Example:
        >>> size_of(ImageRequest("a", width=400), ratio=2.0), size_of(ImageRequest("a"), ratio=0.5)
        ((400, 200), (512, 1024))
    """
    width, height = request.width, request.height
    first = request.references[0] if request.references else None
    if not width and not height and first is not None:
        width, height = first.width, first.height
        scale = min(1.0, 2 * _SIDE / max(width, height))
        return _side(width * scale), _side(height * scale)
    if width and height:
        return width, height
    shape = first.width / first.height if first is not None else ratio or 4 / 3
    if width:
        return width, _side(width / shape)
    if height:
        return _side(height * shape), height
    return (_SIDE, _side(_SIDE / shape)) if shape >= 1 else (_side(_SIDE * shape), _SIDE)


def _side(pixels: float) -> int:
    return min(MAX_SIDE, max(MIN_SIDE, round(pixels)))


def messages_for(request: ImageRequest, material: Material, prompts: Prompts, *, look: bool) -> list[BaseMessage]:
    """What is said at first.

    Args:
        request: The request.
        material: What there is to draw from.
        prompts: The templates.
        look: Whether pictures are shown.
    """
    width, height = size_of(request)
    free = not request.width and not request.height and not request.references
    size = f'{width} by {height} (viewBox="0 0 {width} {height}")' + (
        ", or another shape of about that area where the subject wants it" if free else ""
    )
    if request.transparent:
        size += ", on a transparent ground"
    prompt = request.prompt.strip()
    if request.negative_prompt and request.negative_prompt.strip():
        prompt += f"\n\nThe drawing must not show: {request.negative_prompt.strip()}"
    values = {"prompt": prompt, "size": size, "pictures": ", ".join(material.pictures) or "none"}
    if material.drawing is None:
        words = prompts.fill("svg_draw", **values)
    else:
        words = prompts.fill("svg_edit", drawing=material.drawing, **values)
    parts = [text_part(other) for other in material.others]
    if look:
        for name, picture in material.seen:
            parts += [text_part(name), picture_part(picture)]
    # The task comes last, after everything it speaks of.
    parts.append(text_part(words))
    return [SystemMessage(prompts.fill("svg")), HumanMessage(content=list(parts))]


def asked_again(said: str, reason: str, prompts: Prompts) -> list[BaseMessage]:
    """What is said about a drawing that cannot be drawn."""
    again = HumanMessage(prompts.fill("svg_again", reason=reason))
    shown_again = said.strip() if 0 < len(said.strip()) <= _LONGEST_AGAIN else "[an answer that is not repeated here]"
    return [AIMessage(shown_again), again]


def drawing_in(said: str, *, truncated: bool = False) -> str:
    """The SVG document in an answer: in a fence or bare, after whatever was thought before.

    Raises:
        Unsound: There is none, or its end is missing.

    Example:
        >>> drawing_in("<think>An <svg>…</think>Here it is: <svg><g/></svg> Enjoy.")
        '<svg><g/></svg>'
    """
    # Whatever comes before the end of a thought is one.
    text = _THOUGHT.split(said)[-1]
    fenced = [block for block in _FENCED.findall(text) if _BEGIN.search(block)]
    text = fenced[-1] if fenced else text
    begin = _BEGIN.search(text)
    if begin is None:
        raise Unsound("There is no <svg> element in the answer.")
    ends = [match.end() for match in _END.finditer(text)]
    if not ends or ends[-1] <= begin.start():
        why = (
            "It was cut off by the limit on the answer's length: draw it with less."
            if truncated
            else "</svg> is missing."
        )
        raise Unsound(why)
    return text[begin.start() : ends[-1]]
