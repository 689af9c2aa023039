"""Every example in a docstring of the miniature runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

miniature = pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")
#: Their examples need the trained weights.
TRAINED = {"langgraph_interleave_miniature.reader"}
MODULES = sorted(f"{miniature.__name__}.{info.name}" for info in pkgutil.iter_modules(miniature.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_every_example_in_a_docstring_runs(name: str, request: pytest.FixtureRequest) -> None:
    if name.endswith((".network", ".reader", ".backend")):
        pytest.importorskip("torch")
    if name in TRAINED:
        request.getfixturevalue("trained_reader")
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed
