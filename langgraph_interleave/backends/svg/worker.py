"""Draws one SVG in a process of its own, and is ended with it. Run as a file; imports nothing of the package.

In: JSON on standard input (`svg`, `options` of resvg, `memory`, `seconds`, `paths`). Out: a PNG on standard
output, or words on standard error and the status 3 (the drawing is at fault) or 4 (the renderer is missing).
"""

from __future__ import annotations

import json
import sys
from typing import Any


def limit(memory: int, seconds: int) -> None:
    """Take away what a drawing does not need. Where a system has no such limits, the deadline is all there is."""
    try:
        import resource
    except ImportError:
        return
    for kind, value in (
        (getattr(resource, "RLIMIT_AS", None), memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        if kind is None:
            continue
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            continue


def main() -> int:
    """Draw what standard input says."""
    asked: dict[str, Any] = json.load(sys.stdin.buffer)
    sys.path += asked["paths"]
    try:
        import resvg_py
    except ImportError as error:
        sys.stderr.write(str(error))
        return 4
    limit(asked["memory"], asked["seconds"])
    try:
        data = resvg_py.svg_to_bytes(svg_string=asked["svg"], **asked["options"])
    except MemoryError:
        sys.stderr.write("it takes too much memory")
        return 3
    except Exception as error:  # noqa: BLE001 - whatever the renderer raises is its word about the drawing
        sys.stderr.write(f"{error}")
        return 3
    sys.stdout.buffer.write(bytes(data))
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
