"""One picture of a document, for a README or a slide: its accepted pictures in a row, a rejected one below.

python examples/strip.py "How to plant a bean, in 5 steps" --seed 7 --out strip.png
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from langgraph_interleave import ArtifactStore, Document, create_interleave_graph

SIDE, GAP, INK, PAPER = 300, 12, "#3a3a38", "#fdfcf7"


def main() -> None:
    """Run a request and put its pictures into one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("request")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("strip.png"))
    options = parser.parse_args()
    artifacts = ArtifactStore.memory()
    graph = create_interleave_graph(artifacts=artifacts, seed=options.seed)
    result = graph.invoke({"request": options.request})
    document = Document.load(result["document"], artifacts)
    strip(document, artifacts).save(options.out, optimize=True)


def strip(document: Document, artifacts: ArtifactStore) -> Image.Image:
    """The accepted pictures in a row; where a step was corrected, its first rejected picture beneath."""
    shown = [(step.title or "", image.data) for step, image in document.images()]
    rejected = {
        record.index: artifacts.get(record.attempts[0].image)
        for record in document.records()
        if record is not None and record.kept and record.attempts[0].image is not None
    }
    font = ImageFont.load_default(18)
    line = 30
    height = SIDE + line + (SIDE // 2 + line if rejected else 0)
    sheet = Image.new("RGB", (len(shown) * (SIDE + GAP) - GAP, height), PAPER)
    pen = ImageDraw.Draw(sheet)
    for column, (title, data) in enumerate(shown):
        x = column * (SIDE + GAP)
        sheet.paste(_picture(data, SIDE), (x, 0))
        pen.text((x + SIDE / 2, SIDE + line / 2), f"{column + 1}  {title}", INK, font, anchor="mm")
        if column in rejected:
            half = SIDE // 2
            sheet.paste(_picture(rejected[column], half), (x + half // 2, SIDE + line))
            pen.text(
                (x + SIDE / 2, SIDE + line + half + line / 2), "rejected, then redrawn", "#9c2f22", font, anchor="mm"
            )
    return sheet


def _picture(data: bytes, side: int) -> Image.Image:
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGB").resize((side, side), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
