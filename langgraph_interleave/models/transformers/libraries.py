"""The heavy libraries, loaded by the first call and not before."""

from __future__ import annotations

import importlib
import importlib.util
import os
import threading
import warnings
from typing import Any

from langgraph_interleave.errors import ConfigError

PIP = 'Run: pip install "langgraph-interleave[diffusers]"'
#: Their modules are lazy: imported in two threads at once, they fail now and then.
_importing = threading.Lock()
_quieted: set[str] = set()


def library(name: str) -> Any:
    """Import `torch` or `transformers`; the latter is silent from then on, unless TRANSFORMERS_VERBOSITY is set.

    Raises:
        ConfigError: It is not installed (with the pip line), or cannot be imported.
    """
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
        if name == "transformers" and name not in _quieted:
            _quieted.add(name)
            logging = importlib.import_module("transformers.utils.logging")
            logging.disable_progress_bar()
            if "TRANSFORMERS_VERBOSITY" not in os.environ:
                logging.set_verbosity_error()
        return module


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
