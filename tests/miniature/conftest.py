"""Weights: the real ones where they are, and a random pipeline of the same make for what does not depend on them."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def random_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like that of the weights, with a tiny random pipeline in it, and a reader that is never loaded."""
    pytest.importorskip("diffusers")
    from langgraph_interleave_miniature.storage import PIPELINE, READER
    from tiny_pipelines import folder

    weights = tmp_path_factory.mktemp("weights")
    (weights / PIPELINE).symlink_to(folder("klein"), target_is_directory=True)
    (weights / READER).write_bytes(b"")
    return weights


@pytest.fixture(scope="session")
def trained() -> Path:
    """The folder of the real weights."""
    pytest.importorskip("diffusers")
    storage = pytest.importorskip(
        "langgraph_interleave_miniature.storage", reason="not installed: pip install -e ./miniature"
    )
    from langgraph_interleave.errors import ConfigError

    try:
        return storage.weights_folder()
    except ConfigError as error:
        pytest.skip(f"{error.message}")
