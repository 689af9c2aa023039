"""A cheap critic first: who is asked, whose critique stands, and what it costs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langgraph_interleave.critic import Critic
from langgraph_interleave.critics.ensemble import CriticEnsemble
from langgraph_interleave.critics.first_look import FirstLook
from langgraph_interleave.errors import ConfigError, CritiqueError, QuotaExhausted, RateLimited
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Critique, CritiqueRequest, CritiqueResult, Scores, Usage, Verdict


def asked() -> CritiqueRequest:
    return CritiqueRequest(instruction="Show a cat.", prompt="a cat", after=noise_card("a cat"))


def says(verdict: Verdict, reasoning: str, *, cost: float = 0.0) -> CritiqueResult:
    critique = Critique(
        verdict=verdict, reasoning=reasoning, refined_prompt=f"{reasoning} prompt", scores=Scores(quality=3)
    )
    return CritiqueResult(critique, Usage(input_tokens=10, cost_usd=cost), raw=f"<{reasoning}>")


def critic(reply: Any, *, billed: bool = True, name: str = "c") -> ScriptedCritic:
    return ScriptedCritic(lambda _: reply, billed=billed, fingerprint=name)


async def test_a_revise_of_the_cheap_critic_stands_and_the_other_is_not_asked() -> None:
    cheap, strong = critic(says("revise", "Cheap.", cost=0.01)), critic(says("accept", "Strong.", cost=1))
    told: list[str] = []
    result = await FirstLook(cheap, strong).acritique(asked(), on_text=told.append)
    assert result.critique == says("revise", "Cheap.").critique
    assert (result.raw, told, len(strong.requests)) == ("<Cheap.>", ["Cheap."], 0)
    assert result.usage == Usage(input_tokens=10, cost_usd=0.01, calls=1)


@pytest.mark.parametrize("verdict", ["accept", "revise"])
async def test_what_the_cheap_critic_accepts_the_other_decides(verdict: Verdict) -> None:
    cheap, strong = critic(says("accept", "Cheap.", cost=0.01)), critic(says(verdict, "Strong.", cost=1))
    told: list[str] = []
    result = await FirstLook(cheap, strong).acritique(asked(), on_text=told.append)
    assert result.critique == says(verdict, "Strong.").critique
    assert (result.raw, told) == ("<Strong.>", ["Strong."])
    assert result.usage == Usage(input_tokens=20, cost_usd=1.01, calls=2)


async def test_when_the_cheap_critic_fails_the_other_decides_with_a_warning() -> None:
    result = await FirstLook(critic(RateLimited("Slow down.")), critic(says("accept", "Strong."))).acritique(asked())
    assert result.critique.verdict == "accept"
    assert result.critique.warnings == ("A critic failed and had no voice (RateLimited): Slow down.",)
    assert result.usage.calls == 1


async def test_when_the_deciding_critic_fails_nothing_stands_and_what_was_paid_is_told() -> None:
    cheap = critic(says("accept", "Cheap.", cost=0.01))
    unreadable = CritiqueError("No verdict.", usage=Usage(input_tokens=5, cost_usd=1))
    with pytest.raises(CritiqueError, match="No verdict") as caught:
        await FirstLook(cheap, critic(unreadable)).acritique(asked())
    assert caught.value.usage == Usage(input_tokens=15, cost_usd=1.01, calls=2)
    # An error that says nothing was used would hide what the cheap critic cost.
    with pytest.raises(CritiqueError, match="deciding critic failed. No credit") as counted:
        await FirstLook(cheap, critic(QuotaExhausted("No credit."))).acritique(asked())
    assert counted.value.usage == Usage(input_tokens=10, cost_usd=0.01, calls=1)


async def test_when_both_refuse_it_may_be_sent_again() -> None:
    with pytest.raises(RateLimited, match="two") as caught:
        await FirstLook(critic(RateLimited("one")), critic(RateLimited("two"))).acritique(asked())
    assert caught.value.usage is None and caught.value.resendable


def test_it_is_a_critic_with_both_fingerprints() -> None:
    one, other = critic("accept", name="a"), critic("accept", name="b", billed=False)
    look = FirstLook(one, other)
    assert isinstance(look, Critic)
    assert look.billed and not FirstLook(other, other).billed
    assert look.fingerprint != FirstLook(other, one).fingerprint
    assert look.calls_at_most == 2
    assert FirstLook(one, CriticEnsemble(other)).calls_at_most == 4


def test_names_are_looked_up() -> None:
    assert FirstLook.from_string("pixel,pixel").calls_at_most == 2
    with pytest.raises(ConfigError, match="names 1"):
        FirstLook.from_string("pixel")


async def test_it_stops_when_it_is_cancelled() -> None:
    slow = ScriptedCritic(delay_s=60)
    for look in (FirstLook(slow, critic("accept")), FirstLook(critic("accept"), slow)):
        task = asyncio.create_task(look.acritique(asked()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(asyncio.all_tasks()) == 1


async def test_in_a_run_each_request_counts_as_a_call() -> None:
    look = FirstLook(ScriptedCritic(["revise", "accept"]), ScriptedCritic(["accept"]))
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(1)), ScriptedBackend(), look)
    result = await graph.ainvoke({"request": "a cat"})
    assert result["outcome"] == "complete"
    # Sent back by the first alone; then accepted by both.
    assert result["spend"]["calls"] == {"backend": 2, "critic": 3, "planner": 1}
