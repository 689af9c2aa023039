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
def trained_reader() -> Path:
    """The file of the trained reader's real weights."""
    pytest.importorskip("torch")
    return _stored("READER")


@pytest.fixture(scope="session")
def trained_pipeline() -> Path:
    """The folder of the trained pipeline."""
    pytest.importorskip("diffusers")
    return _stored("PIPELINE")


def _stored(part: str) -> Path:
    reason = "not installed: pip install -e ./miniature"
    storage = pytest.importorskip("langgraph_interleave_miniature.storage", reason=reason)
    from langgraph_interleave.errors import ConfigError

    try:
        return storage.weights(getattr(storage, part))
    except ConfigError as error:
        pytest.skip(error.message)
