"""What a caller gives where a backend is wanted, and the backend it makes.

Every door takes the same: a backend, its name, a function that draws, a pipeline of diffusers, several of
these by name, or what makes one of them. Which callable draws and which makes a backend is a rule, not a
guess: what can be called with nothing makes a backend; what must be given something, or says that it takes
a `prompt` or `request`, draws.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from langchain_core.runnables import Runnable

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.drawing import draws, needs
from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.errors import ConfigError, InterleaveError
from langgraph_interleave.registry import keeps_contract

#: The class every pipeline of diffusers descends from.
_PIPELINE = "DiffusionPipeline"
#: What stands for a backend.
Given = ImageBackend | Callable[..., Any] | Mapping[str, Any] | str


def as_backend(given: Given) -> ImageBackend:
    """The backend that a caller means.

    Args:
        given: A backend; its name; a function `(prompt, references) -> picture`; a function without
            arguments that makes a backend; a pipeline object of diffusers; or a mapping of several by
            name, each perhaps with what it is for: `{"photo": ("openai", "photographs"), "plan": draw}`.

    Raises:
        ConfigError: It is none of these; the remedy is the line to write.

    Example:
        >>> as_backend("sketch").name, as_backend(lambda prompt, references: b"").name
        ('sketch', 'callable')
    """
    if isinstance(given, str):
        return init_image_backend(given)
    if isinstance(given, ImageBackend) and not isinstance(given, type):
        return given
    if isinstance(given, Mapping):
        from langgraph_interleave.backends.several import SeveralBackends

        return SeveralBackends(given)
    if is_pipeline(given):
        from langgraph_interleave.backends.diffusers import DiffusersBackend

        return DiffusersBackend(given)
    if isinstance(given, Runnable):
        raise _no_drawing(given)
    if callable(given) and not isinstance(given, type) and not hasattr(given, "agenerate"):
        if not draws(given):
            return as_backend(cast("Given", made(given)))
        from langgraph_interleave.backends.callable import CallableBackend

        return CallableBackend(given)
    return keeps_contract("backend", cast("ImageBackend", given), ImageBackend)


def factory_of(given: Given, *, call: str) -> Callable[[], ImageBackend]:
    """What makes the backend that is meant, as often as it is called.

    A class or function is called each time; a backend object is always the same one.

    Args:
        given: As for `as_backend`, or a class.
        call: The call it was given to, for the line to write.

    Raises:
        ConfigError: It is nothing that a backend can be made of.
    """
    if isinstance(given, type):
        if needed := needs(given):
            wanted = ", ".join(f"{name}=…" for name in needed)
            raise ConfigError(
                f"{given.__name__} needs {', '.join(needed)} to be made.",
                remedy=f"Write {call}(lambda: {given.__name__}({wanted})).",
            )
    elif isinstance(given, str | Mapping) or not callable(given) or is_pipeline(given) or draws(given):
        if isinstance(given, ImageBackend):
            return lambda: given
        return lambda: as_backend(given)
    return lambda: as_backend(cast("Given", made(given)))


def made(factory: Callable[[], object]) -> object:
    """What a factory makes, if it can stand for a backend.

    Raises:
        ConfigError: It fails, or makes something else: then it was perhaps to draw.
    """
    name = getattr(factory, "__name__", type(factory).__name__)
    try:
        backend = factory()
    except InterleaveError:
        raise
    except Exception as error:
        raise ConfigError(
            f"{name}() was to make a backend: {type(error).__name__}: {error}.",
            remedy="What can be called with nothing makes a backend; a function that draws takes (prompt, references).",
        ) from error
    several = isinstance(backend, Mapping) and bool(cast("Mapping[str, Any]", backend))
    if several or isinstance(backend, ImageBackend | str) or is_pipeline(backend) or _is_drawing(backend):
        return cast("object", backend)
    if isinstance(backend, Runnable):
        raise _no_drawing(backend)
    lacking = [one for one in ("name", "fingerprint", "capabilities", "agenerate") if not hasattr(backend, one)]
    raise ConfigError(
        f"{name}() made a {type(backend).__name__}, which is no image backend: it lacks {', '.join(lacking)}.",
        remedy="Meet the contract of langgraph_interleave.backends.base, or, if it was to draw, let it take "
        "(prompt, references).",
    )


def is_pipeline(given: object) -> bool:
    """Whether something is a pipeline object of diffusers; told from its classes' names, nothing is imported."""
    return any(one.__name__ == _PIPELINE and one.__module__.startswith("diffusers.") for one in type(given).__mro__)


def _is_drawing(made_by: object) -> bool:
    return (inspect.isroutine(made_by) or isinstance(made_by, functools.partial)) and draws(made_by)


def _no_drawing(model: Runnable[Any, Any]) -> ConfigError:
    return ConfigError(
        f"A {type(model).__name__} is a chat model, not an image backend.",
        remedy="Write SvgBackend(model), with which any model that writes draws, or ChatModelImageBackend(model) "
        "for one that returns pictures: from langgraph_interleave.backends.svg import SvgBackend; "
        "from langgraph_interleave.backends.chat_model import ChatModelImageBackend.",
    )
