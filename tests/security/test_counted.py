"""SECURITY.md says how many cases of each kind there are."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import hostile
from hostile_words import MARKUP

HERE = Path(__file__).parent


def module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"counted_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_numbers_are_those_of_the_suite() -> None:
    addresses, door, paths = (module(f"test_{name}") for name in ("addresses", "links_and_door", "paths"))
    assert len(paths.DOORS) == 6
    found = {
        "addresses of the inside": len(hostile.INSIDE),
        "addresses spelled": len(hostile.SPELLINGS),
        "answers that lead astray": len(addresses.ANSWERS),
        "paths and addresses": len(hostile.PATHS) * len(paths.DOORS),
        "ids, scopes, keys": 4 * len(hostile.NAMES),
        "words (": 6 * len(MARKUP),
        "links that were": len(door.TAMPERED),
        "names, origins": len(door.HOSTS) + len(door.ORIGINS) + len(door.KEYS) + 8 * 4,
        "connections": 7 + 9,
    }
    page = (HERE.parents[1] / "SECURITY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \|$", page, re.MULTILINE)
    told = {start: [int(number) for kind, number in rows if kind.startswith(start)] for start in found}
    assert told == {start: [number] for start, number in found.items()}
