"""Image backends by name, and what each of those installed can do."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.drawing import draws, needs
from langgraph_interleave.errors import ConfigError, InterleaveError
from langgraph_interleave.registry import Entry, init, installed, load
from langgraph_interleave.types import Capabilities


def init_image_backend(name: str, **options: Any) -> ImageBackend:
    """Make an image backend by name, as `init_chat_model` makes a chat model.

    Args:
        name: `name` or `name:argument`, as `langgraph-interleave backends` lists them.
        options: Passed to the backend.

    Returns:
        A backend; nothing is loaded or connected before it draws.

    Raises:
        ConfigError: The name is unknown, an optional dependency is missing (with the pip line), or
            the backend does not take this argument or these options.

    Example:
        >>> init_image_backend("sketch").capabilities.generate
        True
    """
    backend = init("backend", name, ImageBackend, adapt=_drawing, **options)
    assert isinstance(backend, ImageBackend)
    return backend


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """One line of the list of backends.

    `capabilities` is `None` when they depend on the argument, or when there is a `problem`.
    """

    entry: Entry
    summary: str = ""
    capabilities: Capabilities | None = None
    problem: ConfigError | None = None


def survey_backends() -> tuple[BackendInfo, ...]:
    """Look at every installed backend; a broken plugin is reported in its line and stops nothing."""
    return tuple(map(survey, installed("backend")))


def survey(entry: Entry) -> BackendInfo:
    """Look at one installed backend: what it says it is, what it can do, what is missing."""
    if entry.shadowed:
        problem = ConfigError(
            f"Another backend is called {entry.name!r} too, and goes first.",
            remedy=f"Ask the authors of {entry.distribution} for another name.",
        )
        return BackendInfo(entry, problem=problem)
    try:
        factory = load(entry)
    except ConfigError as error:
        return BackendInfo(entry, problem=error)
    summary = (inspect.getdoc(factory) or "").partition("\n")[0]
    if needs(factory) and hasattr(factory, "from_string"):
        return BackendInfo(entry, summary=summary)
    try:
        backend = init_image_backend(entry.name)
        capabilities = backend.capabilities
    except ConfigError as error:
        return BackendInfo(entry, summary=summary, problem=error)
    except Exception as error:  # noqa: BLE001 - a plugin's property may fail in any way; the list goes on
        remedy = error.remedy if isinstance(error, InterleaveError) else f"Reinstall or remove {entry.distribution}."
        problem = ConfigError(f"It does not say what it can do: {type(error).__name__}: {error}", remedy=remedy)
        return BackendInfo(entry, summary=summary, problem=problem)
    return BackendInfo(entry, summary=summary, capabilities=capabilities)


def describe(capabilities: Capabilities) -> tuple[str, ...]:
    """Capabilities in words, the most important first.

    Example:
        >>> describe(Capabilities(edit="instruct", max_references=2))[:2]
        ('draws from text', 'edits as told, up to 2 references')
    """
    words: list[str] = []
    if capabilities.generate:
        words.append("draws from text")
    references = _count(capabilities.max_references, "reference")
    if capabilities.edit == "instruct":
        words.append(f"edits as told, up to {references}")
    elif capabilities.edit == "img2img":
        words.append(f"restyles a picture, up to {references}")
    elif capabilities.max_references:
        words.append(f"looks at up to {references}")
    else:
        words.append("does not edit")
    if capabilities.max_images > 1:
        words.append(f"{capabilities.max_images} pictures a call")
    words.append("same seed, same picture" if capabilities.seed == "exact" else "seed ignored")
    if capabilities.progress == "previews":
        words.append("shows previews")
    if capabilities.concurrency > 1:
        words.append(f"{capabilities.concurrency} at once")
    most = capabilities.max_pixels
    words.append(f"up to {most / 1e6:.1f} megapixels" if most >= 100_000 else f"up to {most:,} pixels")
    words.append("billed" if capabilities.billed else "free of charge")
    return tuple(words)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _drawing(entry: Entry, factory: Callable[..., object], options: Mapping[str, Any]) -> Callable[..., object]:
    """A function that draws, as an entry point may name one, as what makes the backend of it."""
    if hasattr(factory, "from_string") or not draws(factory) or (options and set(needs(factory)) <= set(options)):
        return factory
    from langgraph_interleave.backends.callable import CallableBackend

    return functools.partial(CallableBackend, factory, name=entry.name)
