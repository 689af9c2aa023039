"""LangChain's own suites for chat models, over scripted roles that make a document of one step."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.integration_tests import chat_models as integration
from langchain_tests.unit_tests import ChatModelUnitTests

from langgraph_interleave import ChatInterleave
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan

pytestmark = pytest.mark.filterwarnings("ignore:.*in beta")


class Described:
    """What it is, and what of the suites does not apply to it."""

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return ChatInterleave

    @property
    def chat_model_params(self) -> dict[str, Any]:
        # One step, because the suite wants exactly one text block; objects, because it makes 60 models.
        roles = {"planner": ScriptedPlanner(simple_plan(1)), "backend": ScriptedBackend(), "critic": ScriptedCritic()}
        return {**roles, "checks": ()}

    @property
    def standard_chat_model_params(self) -> dict[str, Any]:
        return {}  # temperature and the like are planner's and critic's

    @property
    def has_tool_calling(self) -> bool:
        return False

    @property
    def has_tool_choice(self) -> bool:
        return False

    @property
    def has_structured_output(self) -> bool:
        return False

    @property
    def supports_image_inputs(self) -> bool:
        return True

    @property
    def supports_image_urls(self) -> bool:
        return False  # nothing is fetched from the web

    @property
    def supports_anthropic_inputs(self) -> bool:
        return False  # those tests send tool calls and cache marks

    @property
    def returns_usage_metadata(self) -> bool:
        return True


class TestUnit(Described, ChatModelUnitTests):
    @pytest.fixture(autouse=True)
    def soon(self, request: pytest.FixtureRequest) -> None:
        """The suite measures for a second how long it takes to make a model; a moment is enough here."""
        request.node.add_marker(pytest.mark.benchmark(max_time=0.05, min_rounds=1), append=False)

    @pytest.mark.xfail(reason="makes a model with max_tokens and stop, which are refused instead of swallowed")
    def test_standard_params(self, model: BaseChatModel) -> None:
        super().test_standard_params(model)


class TestIntegration(Described, ChatModelIntegrationTests):
    @pytest.fixture(autouse=True)
    def picture(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The suite fetches a picture from the web."""
        fetched = SimpleNamespace(content=noise_card("a picture").data)
        monkeypatch.setattr(integration, "httpx", SimpleNamespace(get=lambda *_args, **_kwargs: fetched))

    @pytest.mark.xfail(reason="stop words have no meaning for a document, and are refused")
    def test_stop_sequence(self, model: BaseChatModel) -> None:
        super().test_stop_sequence(model)


def test_traces_name_provider_and_model() -> None:
    model = ChatInterleave(model_name="mine", **Described().chat_model_params)
    assert model._get_ls_params() == {"ls_provider": "interleave", "ls_model_name": "mine", "ls_model_type": "chat"}


def test_the_picture_of_the_suite_reaches_the_planner() -> None:
    params = Described().chat_model_params
    encoded = base64.b64encode(noise_card("a picture").data).decode()
    ChatInterleave(**params).invoke(
        [HumanMessage([{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encoded}"}}, "and words"])]
    )
    assert params["planner"].requests[0].images[0].width == 16
