"""The heavy libraries of what runs in this process, loaded by the first call and not before."""

from __future__ import annotations

import importlib
import importlib.util
import os
import threading
import warnings
from types import ModuleType

from langgraph_interleave.errors import ConfigError

PIP = 'Run: pip install "langgraph-interleave[diffusers]"'
#: Importing them in two threads at once fails now and then: their modules are lazy.
_importing = threading.Lock()
_ready: dict[str, ModuleType] = {}
_quieted: set[str] = set()


def library(name: str) -> ModuleType:
    """Import `torch`, `diffusers` or `transformers`, silent from then on.

    Their own environment variables (`DIFFUSERS_VERBOSITY`, `TRANSFORMERS_VERBOSITY`) are heeded.

    Raises:
        ConfigError: It is not installed (with the pip line), or cannot be imported.
    """
    if name in _ready:
        return _ready[name]
    with _importing:
        try:
            with warnings.catch_warnings():
                # What they say about each other at import is nothing a reader of ours can act on.
                warnings.simplefilter("ignore")
                module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            missing = (error.name or name).partition(".")[0]
            raise ConfigError(f"A local model needs {missing}, which is not installed.", remedy=PIP) from error
        except (ImportError, OSError, RuntimeError) as error:
            brief = " ".join(str(error).split())[:200]
            raise ConfigError(
                f"{name} cannot be imported: {brief}", remedy=f"Its versions may not fit together. {PIP} --upgrade"
            ) from error
        if name in ("diffusers", "transformers"):
            _quiet(name)
        if name == "diffusers":
            # It loads the other as it needs it.
            _quiet("transformers")
        _ready[name] = module
        return module


def version(module: ModuleType) -> tuple[int, int]:
    """Major and minor version.

    Example:
        >>> module = ModuleType("x"); module.__version__ = "0.42.1.dev0"
        >>> version(module)
        (0, 42)
    """
    major, minor, *_ = str(module.__version__).split(".")
    return int(major), int("".join(c for c in minor if c.isdigit()) or 0)


def has(name: str) -> bool:
    """Whether a module can be imported; it is not.

    Example:
        >>> has("json"), has("no_such_module_at_all")
        (True, False)
    """
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _quiet(name: str) -> None:
    if name in _quieted or not has(name):
        return
    _quieted.add(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging = importlib.import_module(f"{name}.utils.logging")
    logging.disable_progress_bar()
    if f"{name.upper()}_VERBOSITY" not in os.environ:
        logging.set_verbosity_error()
