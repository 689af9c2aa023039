"""From a safe drawing to a PNG, in a process of its own with a deadline and a cap on memory."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_interleave.backends.svg.fonts import Fonts, fonts_for
from langgraph_interleave.backends.svg.sanitizer import Drawing
from langgraph_interleave.backends.svg.tree import Unsound
from langgraph_interleave.errors import ConfigError

#: Memory a drawing may take beyond its pixels, in bytes.
_MEMORY = 1536 * 1024 * 1024
_WORKER = Path(__file__).with_name("worker.py")
#: What a process needs of the environment to start at all; keys and tokens are no part of it.
_ENVIRONMENT = ("LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")
_LONGEST_WORDS = 300


@dataclass(frozen=True, slots=True)
class Rendered:
    """A PNG, and what the fonts of this machine could not do."""

    png: bytes
    fonts: Fonts


async def render(drawing: Drawing, width: int, height: int, *, transparent: bool, deadline_s: float) -> Rendered:
    """Draw.

    Args:
        drawing: What to draw; its box is fitted into the picture, its aspect kept.
        width: Of the picture, in pixels.
        height: Of the picture, in pixels.
        transparent: Whether the ground stays transparent; else it is white.
        deadline_s: Seconds it may take.

    Raises:
        Unsound: It cannot be drawn, takes too long or too much memory; with the renderer's words.
        ConfigError: There is no renderer.
    """
    fonts = await asyncio.to_thread(fonts_for, drawing.written, drawing.families, styled=drawing.bold)
    options: dict[str, Any] = {
        "skip_system_fonts": True,
        "font_files": list(fonts.files),
        "background": None if transparent else "#ffffff",
        "font_family": fonts.sans,
        "sans_serif_family": fonts.sans,
        "serif_family": fonts.serif,
        "monospace_family": fonts.mono,
    }
    options = {name: value for name, value in options.items() if value is not None}
    job = _Job(drawing.svg(width, height), options, memory=_MEMORY + 16 * width * height, deadline_s=deadline_s)
    try:
        return Rendered(await asyncio.to_thread(job.run), fonts)
    except asyncio.CancelledError:
        job.stop()
        raise


class _Job:
    """One run of the worker, which can be stopped from another thread."""

    def __init__(self, svg: str, options: dict[str, Any], *, memory: int, deadline_s: float) -> None:
        self._asked = {"svg": svg, "options": options, "memory": memory, "seconds": max(1, int(deadline_s) + 1)}
        self._deadline_s = deadline_s
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def run(self) -> bytes:
        asked = json.dumps({**self._asked, "paths": _paths()}).encode()
        with self._lock:
            if self._stopped:
                raise Unsound("It was stopped.")
            self._process = process = _started()
        with process:
            try:
                out, said = process.communicate(asked, timeout=self._deadline_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise Unsound(
                    f"Drawing it takes longer than {self._deadline_s:g} s. Use fewer elements, filters and patterns."
                ) from None
        words = said.decode("utf-8", "replace").strip()
        if process.returncode == 4:
            raise ConfigError(f"resvg-py cannot be loaded: {words}.", remedy="Run: pip install resvg-py")
        if process.returncode == 0 and out.startswith(b"\x89PNG"):
            return out
        if process.returncode == 3 and words:
            raise Unsound(f"The renderer says: {_last(words)}.")
        raise Unsound("Drawing it takes too much memory or time. Use fewer elements, filters and patterns.")


def _started() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    try:
        return subprocess.Popen(  # noqa: S603 - our own file, by the interpreter that runs us
            [sys.executable, "-I", "-B", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=tempfile.gettempdir(),
        )
    except OSError as error:
        raise ConfigError(
            f"No process can be started to draw in: {error.strerror or error}.",
            remedy="Run where Python can start another Python (sys.executable).",
        ) from error


def _paths() -> list[str]:
    """Where the renderer is installed: an isolated interpreter need not look there."""
    found = importlib.util.find_spec("resvg_py")
    if found is None or found.origin is None:
        raise ConfigError("The backend svg needs resvg-py, which is not installed.", remedy="Run: pip install resvg-py")
    return [str(Path(found.origin).parent.parent)]


def _last(words: str) -> str:
    line = words.splitlines()[-1].rstrip(". ")
    return line if len(line) <= _LONGEST_WORDS else f"{line[:_LONGEST_WORDS]}…"
