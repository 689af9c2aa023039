"""LangChain's own standard tests of chat models, on a tiny model that sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_tests.integration_tests import ChatModelIntegrationTests
from tiny_vlm import tiny_llava

from langgraph_interleave.models.transformers import TransformersChat

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return tiny_llava(tmp_path_factory.mktemp("standard"))


class TestTransformersChat(ChatModelIntegrationTests):
    _folder: Path

    @pytest.fixture(autouse=True)
    def _built(self, folder: Path) -> None:
        type(self)._folder = folder

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return TransformersChat

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"model": str(self._folder), "device": "cpu", "max_new_tokens": 24, "temperature": 1.0, "seed": 5}

    @property
    def has_tool_calling(self) -> bool:
        return False

    @property
    def has_structured_output(self) -> bool:
        return False

    @property
    def supports_image_inputs(self) -> bool:
        # It sees; but the standard test fetches its picture from the internet.
        return False
