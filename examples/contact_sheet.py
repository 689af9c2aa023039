"""Everything `sketch` can draw, on one sheet: all kinds in all their states, or all backdrops, or all colours.

python examples/contact_sheet.py --out sheet.png                  every kind in every state
python examples/contact_sheet.py --category animal --out sheet.png
python examples/contact_sheet.py --show backdrops --side 256 --out sheet.png
python examples/contact_sheet.py --show colors --out sheet.png
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from PIL import Image, ImageDraw

from langgraph_interleave.world.kind import Category
from langgraph_interleave.world.palette import COLORS
from langgraph_interleave.world.render import render
from langgraph_interleave.world.scene import Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

LINE = 16


def main() -> None:
    """Draw the sheet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", choices=("kinds", "backdrops", "colors"), default="kinds")
    parser.add_argument("--category", choices=get_args(Category), help="only these kinds")
    parser.add_argument("--side", type=int, default=160, help="pixels of one picture")
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("contact_sheet.png"))
    options = parser.parse_args()
    cells = list({"kinds": kinds, "backdrops": backdrops, "colors": colors}[options.show](options.category))
    sheet(cells, options.side, options.columns, options.seed).save(options.out)
    print(f"{len(cells)} pictures in {options.out}")


def kinds(category: str | None) -> Iterator[tuple[str, Scene]]:
    """Every kind in every state, where it belongs."""
    for kind in KINDS.values():
        if category in (None, kind.category):
            for state in kind.states or (None,):
                thing = Thing(id=kind.name, kind=kind.name, state=state)
                yield f"{kind.name} {state or ''}".strip(), Scene(backdrop=kind.backdrop, things=(thing,))


def backdrops(category: str | None) -> Iterator[tuple[str, Scene]]:
    """Every backdrop, empty."""
    for backdrop in BACKDROPS:
        yield backdrop, Scene(backdrop=backdrop)


def colors(category: str | None) -> Iterator[tuple[str, Scene]]:
    """A thing of each category in every colour."""
    for color in COLORS:
        for kind in ("cube", "cat", "car", "cup", "tree", "person", "book", "balloon", "shirt", "house"):
            yield f"{color} {kind}", Scene(things=(Thing(id=kind, kind=kind, color=color),))


def sheet(cells: list[tuple[str, Scene]], side: int, columns: int, seed: int) -> Image.Image:
    """Pictures in rows, each with its words below."""
    rows = -(-len(cells) // columns)
    image = Image.new("RGB", (columns * side, rows * (side + LINE)), "#ffffff")
    pen = ImageDraw.Draw(image)
    for number, (words, scene) in enumerate(cells):
        left, top = number % columns * side, number // columns * (side + LINE)
        with Image.open(io.BytesIO(render(scene, width=side, height=side, seed=seed).data)) as drawn:
            image.paste(drawn, (left, top))
        pen.text((left + 4, top + side), words[: side // 6], fill="#333333")
    return image


if __name__ == "__main__":
    main()
