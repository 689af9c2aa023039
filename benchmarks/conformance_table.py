"""The tables of docs/backends.md and README.md: what the conformance suite finds out about each built-in backend.

    python benchmarks/conformance_table.py            print both
    python benchmarks/conformance_table.py --write    the whole one into docs/backends.md, its summary into README.md

Nothing leaves the machine: backends that talk to a server talk to one on a loopback address, those
that load a model load a tiny one made in code, the miniature its own. Tests hold the documents against this.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.testing.conformance import ITEMS, Report, Status, check_backend

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENT, README = REPOSITORY / "docs" / "backends.md", REPOSITORY / "README.md"
BEGIN, END = "<!-- conformance: begin -->", "<!-- conformance: end -->"
MARKS: Mapping[Status, str] = {"passed": "yes", "failed": "**no**", "not applicable": "–", "not provable": "?"}

#: Which items a column of the summary counts.
GROUPS: Mapping[str, frozenset[str]] = {
    "pictures, sizes": frozenset(
        {"contract", "draws", "usage", "size_as_asked", "odd_sizes", "extreme_sizes", "batch", "progress",
         "empty_prompt", "long_prompt", "wrong_numbers"}
    ),
    "edits, references": frozenset(
        {"edits", "references_arrive", "references_order", "every_reference", "too_many_references",
         "broken_reference", "mask", "negative_prompt", "transparent"}
    ),
    "seeds": frozenset({"same_seed", "other_seed"}),
    "several at once, stopping": frozenset({"concurrency", "cancellation", "deadline"}),
    "metadata, secrets, origin": frozenset({"metadata", "provenance", "silence"}),
}  # fmt: skip

Factory = Callable[[], ImageBackend]


@contextmanager
def sketch() -> Generator[Factory]:
    """The backend `sketch`."""
    from langgraph_interleave.backends.sketch import SketchBackend

    yield SketchBackend


@contextmanager
def simulator() -> Generator[Factory]:
    """The backend `simulator`."""
    from langgraph_interleave.backends.simulator import SimulatorBackend

    yield SimulatorBackend


def collage(prompt: str, references: list[Any], width: int | None, height: int | None, seed: int | None) -> Any:
    """A function that draws: stripes in colours of the words, and the references in a row."""
    from hashlib import shake_256

    from PIL import Image

    first = references[0].size if references else (256, 256)
    size = (width or first[0], height or first[1])
    colours = shake_256(f"{seed}/{prompt}".encode()).digest(12)
    picture = Image.new("RGB", size, tuple(colours[:3]))
    for stripe in range(1, 4):
        box = (0, size[1] * stripe // 4, size[0], size[1] * stripe // 4 + max(1, size[1] // 8))
        picture.paste(tuple(colours[3 * stripe : 3 * stripe + 3]), box)
    for place, reference in enumerate(references):
        room = max(1, size[0] // len(references))
        picture.paste(reference.convert("RGB").resize((room, max(1, size[1] // 2))), (place * room, 0))
    return picture


@contextmanager
def function() -> Generator[Factory]:
    """The backend `callable`, around a function."""
    from langgraph_interleave.backends.callable import CallableBackend

    # Smaller than it must be: the suite asks for more than the largest.
    told = replace(CallableBackend(collage).capabilities, max_pixels=1024 * 1024)
    yield lambda: CallableBackend(collage, capabilities=told)


@contextmanager
def openai() -> Generator[Factory]:
    """The backend `openai`, and a server that draws from all it is sent."""
    from langgraph_interleave.backends.openai_images import OpenAIImagesBackend

    with support("loopback").serving() as server:
        for route in ("generations", "edits"):
            server.script(route, support("stand_ins").answered)
        yield lambda: OpenAIImagesBackend(api_key="sk-loopback", base_url=server.base_url, billed=False)


@contextmanager
def chat_model() -> Generator[Factory]:
    """The backend `chat_model`, around a model that draws from all it is sent."""
    from langgraph_interleave.backends.chat_model import ChatModelImageBackend

    yield lambda: ChatModelImageBackend(support("stand_ins").PaintingChat(), billed=False)


@contextmanager
def svg() -> Generator[Factory]:
    """The backend `svg`, around a model that writes SVG from all it is sent."""
    from langgraph_interleave.backends.svg import SvgBackend

    model = support("stand_ins").DrawingChat(profile={"image_inputs": True})
    yield lambda: SvgBackend(model, billed=False)


@contextmanager
def comfyui() -> Generator[Factory]:
    """The backend `comfyui`, and a server that runs workflows."""
    from langgraph_interleave.backends.comfyui import ComfyUIBackend

    comfy = support("comfy_server")
    with comfy.serving_comfy() as server:
        server.script([comfy.Play(previews=True)] * 100)
        flows = comfy.text_workflow(), comfy.reference_workflow(2)
        yield lambda: ComfyUIBackend(flows[0], server.base_url, edit_workflow=flows[1])


@contextmanager
def hf_inference() -> Generator[Factory]:
    """The backend `hf_inference`, and an endpoint that draws from all it is sent."""
    from huggingface_hub import constants

    from langgraph_interleave.backends.hf_inference import HfInferenceBackend

    # It speaks to nobody where the hub is off, not even to this machine.
    offline, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, False
    try:
        with support("stand_ins").inference_endpoint() as address:
            yield lambda: HfInferenceBackend(base_url=address, api_key="hf_loopback", billed=False)
    finally:
        constants.HF_HUB_OFFLINE = offline


@contextmanager
def diffusers() -> Generator[Factory]:
    """The backend `diffusers`, and a real FLUX.2 klein pipeline of 600 kB with random weights."""
    from langgraph_interleave.backends.diffusers import DiffusersBackend

    pipeline = support("tiny_pipelines").load("klein")
    # Where no size is asked for, 64 pixels do: on a CPU a million take their time.
    yield lambda: DiffusersBackend(pipeline, defaults={"size": 64})


@contextmanager
def miniature() -> Generator[Factory]:
    """The backend `miniature`, with its own trained weights."""
    from langgraph_interleave_miniature.backend import MiniatureBackend

    yield MiniatureBackend


#: Which backends, by the heading of their column; those that take seconds apart.
QUICK: Mapping[str, Callable[[], Any]] = {
    "sketch": sketch,
    "simulator": simulator,
    "callable": function,
    "openai": openai,
    "chat_model": chat_model,
    "hf_inference": hf_inference,
}
SLOW: Mapping[str, Callable[[], Any]] = {
    "comfyui": comfyui,
    "svg": svg,
    "diffusers": diffusers,
    "miniature": miniature,
}


def support(name: str) -> Any:
    """A module of the tests' support: the servers on loopback addresses and the tiny models."""
    folder = str(REPOSITORY / "tests" / "support")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def report(name: str) -> Report:
    """Try a built-in backend."""
    with {**QUICK, **SLOW}[name]() as factory:
        return check_backend(factory)


def table(reports: Mapping[str, Report]) -> str:
    """The table, and in words what is not plainly a yes: nothing in it differs from machine to machine."""
    lines = [
        f"| what is asked | {' | '.join(f'`{name}`' for name in reports)} |",
        f"|---|{'---|' * len(reports)}",
        *(f"| {item.asks} | {' | '.join(mark(one, item.name) for one in reports.values())} |" for item in ITEMS),
        "",
    ]
    for name, one in reports.items():
        lines += [
            f"- `{name}`, {finding.asks[0].lower()}{finding.asks[1:]}: {finding.says}"
            for finding in one.findings
            if finding.status in ("failed", "not provable")
        ]
    return "\n".join(lines)


def mark(one: Report, item: str) -> str:
    """What a cell of the table says."""
    return MARKS[one[item].status]


def summary(marks: Mapping[str, list[str]]) -> str:
    """How many items of each group are a yes, of those that apply: one row for each backend.

    Args:
        marks: The columns of the whole table.
    """
    lines = [f"| backend | {' | '.join(GROUPS)} |", f"|---|{'---|' * len(GROUPS)}"]
    for name, column in marks.items():
        cells = [
            counted([one for item, one in zip(ITEMS, column, strict=True) if item.name in group])
            for group in GROUPS.values()
        ]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def counted(marks: list[str]) -> str:
    """What a cell of the summary says."""
    apply = [one for one in marks if one != MARKS["not applicable"]]
    if not apply:
        return MARKS["not applicable"]
    unknown = apply.count(MARKS["not provable"])
    of = f"{apply.count(MARKS['passed'])} of {len(apply)}"
    return f"{of}, {unknown} ?" if unknown else of


def columns(text: str) -> dict[str, list[str]]:
    """The marks of each column of a document's table."""
    inside = text.partition(BEGIN)[2].partition(END)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in inside.splitlines() if line[:1] == "|"]
    heads = [head.strip("`") for head in rows[0][1:]]
    return {head: [row[place] for row in rows[2:]] for place, head in enumerate(heads, 1)}


def said(text: str, name: str) -> list[str]:
    """What a document says in words about one backend."""
    inside = text.partition(BEGIN)[2].partition(END)[0]
    return [line for line in inside.splitlines() if line.startswith(f"- `{name}`,")]


def put(made: str, into: Path) -> None:
    """Put a table where a document has one."""
    text = into.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    into.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")


def main() -> int:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put them into docs/backends.md and README.md")
    wanted = parser.parse_args()
    made = table({name: report(name) for name in (*QUICK, *SLOW)})
    short = summary(columns(f"{BEGIN}\n{made}\n{END}"))
    if not wanted.write:
        print(f"{short}\n\n{made}")
        return 0
    put(made, DOCUMENT)
    put(short, README)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
