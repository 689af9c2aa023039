"""Benchmarks are scripts beside the package: their folder is put on the path, as running one does."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="session")
def load() -> Callable[[str], ModuleType]:
    """Loads a module of the benchmarks by name."""

    def module(name: str) -> ModuleType:
        if str(FOLDER) not in sys.path:
            sys.path.insert(0, str(FOLDER))
        return importlib.import_module(name)

    return module
