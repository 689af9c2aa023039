"""The tables of docs/options.md: what can be said to each built-in part, from its signature and docstring.

    python benchmarks/options_page.py            print them
    python benchmarks/options_page.py --write    write them into docs/options.md

A test holds the document against this.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from langgraph_interleave.cli.backends import shown
from langgraph_interleave.cli.options import Described, Option, besides, built_in

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "options.md"
BEGIN, END = "<!-- options: begin -->", "<!-- options: end -->"
HEADINGS = {"backend": "Backends", "planner": "Planners", "critic": "Critics", "check": "Checks"}


def page() -> str:
    """All tables; nothing in them differs from machine to machine."""
    parts: list[str] = []
    for kind, heading in HEADINGS.items():
        parts += [f"## {heading}", *(section(part) for part in built_in(kind))]  # type: ignore[arg-type]
    parts += ["## Local chat models", *(section(part) for part in besides() if part.kind == "model")]
    return "\n\n".join(parts) + "\n"


def section(part: Described) -> str:
    """One part."""
    lines = [f"### `{part.name}`" if part.name != "transformers" else "### `transformers`", ""]
    lines += [part.summary, "", f"Written `{part.written}`; in Python `{part.place}`."]
    if part.options:
        lines += ["", "| option | default | meaning |", "|---|---|---|", *map(row, part.options)]
    return "\n".join(lines)


def row(option: Option) -> str:
    """One option."""
    meaning = option.meaning.replace("|", "\\|")
    default = shown(option)
    written = f"`{option.name}`" + (" ?" if option.in_name else "")
    return f"| {written} | {default if default in ('–', '(needed)') else f'`{default}`'} | {meaning} |"


def inserted(text: str, tables: str) -> str:
    """A document with the tables between their marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables}\n{END}{after}"


def main(arguments: list[str] | None = None) -> int:
    """Print, or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write into docs/options.md")
    options = parser.parse_args(arguments)
    if options.write:
        text = DOCUMENT.read_text(encoding="utf-8")
        DOCUMENT.write_text(inserted(text, page()), encoding="utf-8")
    else:
        sys.stdout.write(page())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
