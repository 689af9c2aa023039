"""Choosing the roles: names, gaps, wrong objects, sizes; all refused before anything is spent."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from langgraph_interleave.agents import create_interleave_agent
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.base import Companions
from langgraph_interleave.backends.simulator import SIMULATED
from langgraph_interleave.backends.sketch import SKETCHED
from langgraph_interleave.chat import ChatInterleave
from langgraph_interleave.choose import check_size, choose_roles
from langgraph_interleave.context import InterleaveContext, Settings
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.graph import create_interleave_graph, interleave_state_graph
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan
from langgraph_interleave.types import Capabilities

PLANNER = ScriptedPlanner(simple_plan(1))


def test_nothing_chosen_is_the_simulator_and_says_so() -> None:
    roles = choose_roles(None, None, None)
    assert (roles.backend.name, roles.notes) == ("simulator", (SIMULATED,))
    assert choose_roles(None, "sketch", None).notes == (SKETCHED,)


def test_a_backend_of_ones_own_needs_a_planner_and_a_critic() -> None:
    with pytest.raises(ConfigError, match="planner and a critic"):
        choose_roles(None, ScriptedBackend(), None)
    roles = choose_roles(PLANNER, ScriptedBackend(), ScriptedCritic())
    assert roles.notes == ()


class Accompanied(ScriptedBackend):
    """A third party's backend that brings its planner and its critic."""

    companions = Companions(planner="scene", critic="pixel", note="Made by somebody.")


def test_a_backend_may_bring_its_planner_and_its_critic() -> None:
    roles = choose_roles(None, Accompanied(), None)
    assert (type(roles.planner).__name__, type(roles.critic).__name__) == ("ScenePlanner", "PixelCritic")
    assert roles.notes == ("Made by somebody.",) and roles.settings.style_in_prompts
    critic = ScriptedCritic()
    own = choose_roles(PLANNER, Accompanied(), critic)
    assert own.planner is PLANNER and own.critic is critic and own.notes == roles.notes
    assert not choose_roles(None, "sketch", None).settings.style_in_prompts


@pytest.mark.parametrize(
    ("roles", "says"),
    [
        ((PLANNER, object(), ScriptedCritic()), "The backend 'object' has no agenerate and no capabilities"),
        ((object(), ScriptedBackend(), ScriptedCritic()), "The planner 'object' has no aplan"),
        ((PLANNER, ScriptedBackend(), object()), "The critic 'object' has no acritique"),
        ((PLANNER, ScriptedBackend, ScriptedCritic()), "the class ScriptedBackend, not an object"),
        (("nobody", ScriptedBackend(), ScriptedCritic()), "nobody"),
    ],
)
def test_what_is_no_such_role_is_named(roles: tuple[Any, Any, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        choose_roles(*roles)


def test_a_ledger_and_a_store_belong_together() -> None:
    store = ArtifactStore.memory()
    assert choose_roles(None, None, None, ledger=Ledger(store), artifacts=store).artifacts is store
    with pytest.raises(ConfigError, match="another store"):
        choose_roles(None, None, None, ledger=Ledger(store), artifacts=ArtifactStore.memory())


def test_nothing_is_drawn_on_a_bet_where_drawing_is_billed() -> None:
    billed = ScriptedBackend(capabilities=Capabilities(billed=True))
    assert choose_roles(PLANNER, billed, ScriptedCritic()).settings.lookahead == "never"
    assert choose_roles(PLANNER, billed, ScriptedCritic(), lookahead=True).settings.lookahead == "always"
    assert choose_roles(PLANNER, ScriptedBackend(), ScriptedCritic()).settings.lookahead == "value"


def test_a_size_the_backend_cannot_draw_is_refused() -> None:
    backend = ScriptedBackend(capabilities=Capabilities(min_side=64, max_pixels=512 * 512))
    check_size(Settings(size="64x512"), backend)
    check_size(Settings(), backend)
    for size in ("32x512", "1024x512"):
        with pytest.raises(ConfigError, match=f"cannot draw {size}"):
            check_size(Settings(size=size), backend)


#: What belongs to one door alone: live objects of the graph around it, and how an agent's answer shows pictures.
DOORS = {
    create_interleave_graph: {"checkpointer", "store", "name"},
    interleave_state_graph: set[str](),
    create_interleave_agent: {"checkpointer", "store", "name", "images"},
}


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_every_door_takes_the_same_options_with_the_same_defaults(door: Callable[..., Any]) -> None:
    """They are written out at each of them, for whoever reads a signature; this holds them together."""
    own = {"planner", "backend", "critic", *DOORS[door]}
    wanted = options_of(choose_roles, without={"planner", "backend", "critic"}) | {"checks": ("not_blank",)}
    assert options_of(door, without=own) == wanted


def test_a_chat_model_takes_them_too_and_a_run_may_set_all_that_are_plain_values() -> None:
    wanted = set(options_of(choose_roles, without=set()))
    assert set(options_of(ChatInterleave.__init__, without={"self", "graph", "images", "context"})) == wanted
    settings = set(Settings.model_fields) - {"version", "ended_at", "ceiling"}  # the run's own, and the graph's
    assert wanted - settings == {"planner", "backend", "critic", "artifacts", "ledger", "checks", "ceiling"}
    assert set(InterleaveContext.model_fields) == settings | {"run_id"}


def options_of(called: Callable[..., Any], *, without: set[str]) -> dict[str, Any]:
    """The named parameters of a function, with their defaults."""
    parameters = inspect.signature(called).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is not one.VAR_KEYWORD and one.name not in without}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"references": "latest"}, "references='latest' is unknown. Say 'explicit', 'previous', 'first', 'all' or 'sheet'"),
    ({"on_exhausted": "never"}, "on_exhausted='never' is unknown. Say 'best', 'last', 'ask', 'replan' or 'fail'."),
    ({"approve": "pictures"}, "approve='pictures' is unknown. Say 'plan' or 'steps'."),
    ({"approve": {"plan", "all"}}, "approve='all' is unknown. Say 'plan' or 'steps'."),
    ({"publish": "never"}, "publish='never' is unknown. Say 'early' or 'verified'."),
    ({"seed": -1}, "seed=-1 is not possible. It should be greater than or equal to 0."),
    ({"steps": 0}, "steps=0 is not possible. It should be greater than or equal to 1."),
    ({"steps": "many"}, "steps='many' is not possible. It should be a valid integer"),
    ({"size": "large"}, "size 'large' is not WIDTHxHEIGHT. Write for example 512x512."),
    ({"reanchor_every": 0}, "reanchor_every=0 is not possible."),
    ({"lookahead": "perhaps"}, "lookahead='perhaps' is unknown. Say 'never', 'value' or 'always'"),
    ({"candidates": 9}, "candidates=9 is not possible. It should be less than or equal to 8"),
    ({"limits": 3}, "limits is a int, no Limits. Give Limits(max_steps=…, …)."),
    ({"checks": ("blank",)}, "No check 'blank' is installed."),
    ({"checks": (3,)}, "The check 'int' has no check and no name."),
    ({"artifacts": "pictures"}, 'artifacts is a str, no ArtifactStore. Give ArtifactStore.folder("…")'),
]  # fmt: skip
MAKERS: list[Callable[..., Any]] = [
    create_interleave_graph, interleave_state_graph, create_interleave_agent, ChatInterleave,
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("options", "says"), WRONG)
def test_an_option_that_cannot_be_is_named_with_what_it_may_be(
    make: Callable[..., Any], options: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        make(**options)
    assert str(caught.value).startswith(says)
    assert "pydantic" not in str(caught.value)


async def test_the_options_of_a_run_are_named_as_well() -> None:
    graph = create_interleave_graph()
    says = "references='latest' is unknown. Say 'explicit'"
    with pytest.raises(ConfigError, match=says):
        await graph.ainvoke({"request": "x"}, context={"references": "latest"})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=says):
        await graph.ainvoke({"request": "x"}, {"configurable": {"references": "latest"}})
    with pytest.raises(ConfigError, match="max_steps=0 is not possible. It should be greater"):
        Limits(max_steps=0)


def test_one_check_by_name_is_a_list_of_one() -> None:
    assert [check.name for check in choose_roles(None, None, None, checks="not_blank").checks] == ["not_blank"]
