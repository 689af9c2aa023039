"""What is given where a backend is wanted: everything that can be one is one at every door, the rest has a remedy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from langgraph_interleave.agents import create_image_tools, create_interleave_agent
from langgraph_interleave.backends.callable import CallableBackend
from langgraph_interleave.backends.given import as_backend, is_pipeline
from langgraph_interleave.backends.several import SeveralBackends
from langgraph_interleave.backends.sketch import SketchBackend
from langgraph_interleave.chat import ChatInterleave
from langgraph_interleave.choose import choose_roles
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.testing import (
    Options,
    ScriptedBackend,
    ScriptedCritic,
    ScriptedPlanner,
    acheck_backend,
    check_backend,
    noise_card,
    simple_plan,
)

PLANNER, CRITIC = ScriptedPlanner(simple_plan(1)), ScriptedCritic()


def draw(prompt: str, refs: Any) -> bytes:
    return noise_card(prompt).data


class Drawing:
    """An object that draws when it is called."""

    def __call__(self, prompt: str, references: Any) -> bytes:
        return noise_card(prompt).data


class NeedsModel(ScriptedBackend):
    """A backend that must be told something to be made."""

    def __init__(self, model: str, *, steps: int) -> None:
        super().__init__(name=f"{model}{steps}")


def pipeline_class() -> type:
    """A class as diffusers has them: what descends from a class of that name in that library."""
    body = {"__module__": "diffusers.pipelines.pipeline_utils", "components": {}, "__call__": lambda self, prompt: None}
    base = type("DiffusionPipeline", (), body)
    return type("MyPipeline", (base,), {"__module__": "my_package"})


DOORS: list[Callable[[Any], Any]] = [
    lambda given: choose_roles(PLANNER, given, CRITIC).backend,
    lambda given: create_interleave_agent(PLANNER, given, CRITIC),
    lambda given: ChatInterleave(planner=PLANNER, backend=given, critic=CRITIC),
    lambda given: create_image_tools(given),
    lambda given: SeveralBackends({"it": (given, "all")}).members["it"],
    lambda given: as_backend({"it": given}),
]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "given",
    [
        "sketch",
        draw,
        Drawing(),
        functools.partial(draw, refs=()),
        ScriptedBackend(),
        lambda: SketchBackend(),
        lambda: draw,
        lambda: "sketch",
        {"one": "sketch", "two": (draw, "pictures")},
    ],
)
def test_every_door_takes_what_can_be_a_backend(door: Callable[[Any], Any], given: Any) -> None:
    assert door(given) is not None


def test_what_each_becomes() -> None:
    assert type(as_backend(draw)) is CallableBackend
    assert type(as_backend(lambda: SketchBackend())) is SketchBackend
    assert type(as_backend({"a": draw})) is SeveralBackends
    one = ScriptedBackend()
    assert as_backend(one) is one


@pytest.mark.parametrize("door", DOORS)
def test_a_bare_chat_model_is_told_which_backend_draws_with_it(door: Callable[[Any], Any]) -> None:
    with pytest.raises(ConfigError) as raised:
        door(FakeListChatModel(responses=[]))
    assert raised.value.message == "A FakeListChatModel is a chat model, not an image backend."
    for words in (
        "SvgBackend(model)",
        "ChatModelImageBackend(model)",
        "from langgraph_interleave.backends.svg import SvgBackend",
        "from langgraph_interleave.backends.chat_model import ChatModelImageBackend",
    ):
        assert words in raised.value.remedy


def test_a_pipeline_is_known_by_its_descent() -> None:
    kind = pipeline_class()
    assert is_pipeline(kind()) and not is_pipeline(kind) and not is_pipeline(ScriptedBackend())
    other = type("DiffusionPipeline", (), {"__module__": "somebody.elses"})
    assert not is_pipeline(other())


@pytest.mark.parametrize("door", DOORS)
def test_an_object_of_no_kind_is_named(door: Callable[[Any], Any]) -> None:
    with pytest.raises(ConfigError, match="has no agenerate"):
        door(object())


SHORT = Options(size=(64, 64), max_calls=1)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("sketch", "sketch"),
        (SketchBackend, "sketch"),
        (SketchBackend(), "sketch"),
        (lambda: SketchBackend(), "sketch"),
        (functools.partial(ScriptedBackend, name="mine"), "mine"),
        (draw, "callable"),
        (Drawing(), "callable"),
        ({"one": draw, "two": "sketch"}, "several"),
        (lambda: draw, "callable"),
    ],
)
def test_the_check_takes_what_a_graph_takes(given: Any, name: str) -> None:
    report = check_backend(given, options=SHORT)
    assert report.backend == name
    assert report["draws"].status == "passed"
    assert report["contract"].status == "passed"


def test_one_object_is_not_said_to_be_two() -> None:
    assert "only one object" in check_backend(SketchBackend(), options=SHORT)["contract"].says
    assert "a second object" in check_backend(SketchBackend, options=SHORT)["contract"].says


def painted() -> Any:
    return 3


def failing() -> Any:
    raise ValueError("no disk")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            NeedsModel,
            r"NeedsModel needs model, steps .* Write check_backend\(lambda: NeedsModel\(model=…, steps=…\)\)\.",
        ),
        (painted, r"painted\(\) made a int, .*lacks name.* let it take \(prompt, references\)"),
        (failing, r"failing\(\) was to make a backend: ValueError: no disk"),
        (FakeListChatModel(responses=[]), r"SvgBackend\(model\)"),
        (lambda: FakeListChatModel(responses=[]), r"SvgBackend\(model\)"),
        (7, "The backend 'int' has no agenerate"),
        (lambda prompt, refs, ink: b"", "Rename refs to references"),
    ],
)
async def test_what_cannot_be_checked_has_the_line_to_write(given: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        await acheck_backend(given, options=SHORT)
