"""Several critics: votes, scores, who speaks, what fails, what it costs, and how it stops."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.critic import Critic
from langgraph_interleave.critics.ensemble import CriticEnsemble, majority, mean_scores
from langgraph_interleave.critics.first_look import FirstLook
from langgraph_interleave.errors import CallError, ConfigError, CritiqueError, RateLimited, Unavailable
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Critique, CritiqueRequest, CritiqueResult, Scores, Usage, Verdict


def asked() -> CritiqueRequest:
    return CritiqueRequest(instruction="Show a cat.", prompt="a cat", after=noise_card("a cat"))


def says(
    verdict: Verdict,
    reasoning: str = "Because.",
    *,
    scores: Scores | None = None,
    prompt: str | None = None,
    usage: Usage | None = None,
) -> CritiqueResult:
    critique = Critique(verdict=verdict, reasoning=reasoning, refined_prompt=prompt, scores=scores or Scores())
    return CritiqueResult(critique, usage or Usage(input_tokens=10, output_tokens=1), raw=f"<{reasoning}>")


def critic(reply: Any, *, billed: bool = False, name: str = "c") -> ScriptedCritic:
    return ScriptedCritic(lambda _: reply, billed=billed, fingerprint=name)


async def outcome(*replies: Any) -> CritiqueResult:
    return await CriticEnsemble(*(critic(reply) for reply in replies)).acritique(asked())


# --- verdict, scores, voice -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (["accept", "accept", "revise"], "accept"),
        (["accept", "revise", "revise"], "revise"),
        (["accept", "revise"], "revise"),
        (["accept", "accept"], "accept"),
        (["accept", "accept", "revise", "revise"], "revise"),
    ],
)
async def test_the_majority_decides_and_a_tie_is_revise(votes: list[Verdict], verdict: Verdict) -> None:
    result = await outcome(*(says(vote) for vote in votes))
    assert result.critique.verdict == verdict
    assert result.critique.reasoning.startswith(f"{votes.count(verdict)} of {len(votes)} critics say {verdict}.")


async def test_scores_are_means_of_those_given() -> None:
    result = await outcome(
        says("accept", scores=Scores(semantics=8, quality=6)),
        says("accept", scores=Scores(semantics=9)),
        says("revise", scores=Scores(semantics=1, quality=3)),
    )
    assert result.critique.scores == Scores(semantics=6, quality=4.5, consistency=None)


async def test_the_voice_that_saw_the_worst_speaks_for_a_revise() -> None:
    result = await outcome(
        says("revise", "Mild.", scores=Scores(semantics=5), prompt="mild"),
        says("revise", "Bad.", scores=Scores(semantics=2), prompt="bad"),
        says("accept", "Worst, and yet.", scores=Scores(semantics=0)),
    )
    assert result.critique.refined_prompt == "bad"
    assert result.critique.reasoning == "2 of 3 critics say revise.\nBad."
    assert result.raw == "<Bad.>"


async def test_a_voice_with_words_speaks_before_one_without_and_a_scored_before_an_unscored() -> None:
    wordless = says("revise", "Wordless.", scores=Scores(semantics=0))
    unscored = says("revise", "Unscored.", prompt="unscored")
    scored = says("revise", "Scored.", scores=Scores(semantics=9), prompt="scored")
    assert (await outcome(wordless, unscored)).critique.refined_prompt == "unscored"
    assert (await outcome(wordless, unscored, scored)).critique.refined_prompt == "scored"
    assert (await outcome(wordless, wordless)).critique.refined_prompt is None


async def test_an_accept_has_no_refined_prompt() -> None:
    result = await outcome(says("accept", prompt="the same"), says("accept"))
    assert result.critique.refined_prompt is None


async def test_the_reasoning_is_given_out_once_when_it_is_known_whose_it_is() -> None:
    told: list[str] = []
    ensemble = CriticEnsemble(critic(says("accept", "Fine.")), critic(says("revise", "Wrong.")))
    result = await ensemble.acritique(asked(), on_text=told.append)
    assert told == [result.critique.reasoning] == ["1 of 2 critics say revise.\nWrong."]


@given(st.lists(st.sampled_from(["accept", "revise"]), min_size=1, max_size=9))
def test_a_majority_is_more_than_half(votes: list[Any]) -> None:
    assert (majority(votes) == "accept") == (votes.count("accept") > votes.count("revise"))


_score = st.none() | st.floats(0, 10)


@given(st.lists(st.builds(Scores, semantics=_score, quality=_score, consistency=_score), max_size=6))
def test_a_mean_lies_between_the_scores_and_is_none_where_nobody_gave_one(scores: list[Scores]) -> None:
    mean = mean_scores(scores)
    for axis in Scores.model_fields:
        given_ones = [getattr(one, axis) for one in scores if getattr(one, axis) is not None]
        found = getattr(mean, axis)
        assert (found is None) == (not given_ones)
        if given_ones:
            assert min(given_ones) - 1e-9 <= found <= max(given_ones) + 1e-9


# --- who is asked ---------------------------------------------------------------------------


async def test_one_critic_is_asked_three_times_and_at_the_same_time() -> None:
    everyone = asyncio.Barrier(3)

    async def together(_: CritiqueRequest) -> CritiqueResult:
        await everyone.wait()
        return says("accept")

    one = ScriptedCritic(together)
    async with asyncio.timeout(5):
        result = await CriticEnsemble(one).acritique(asked())
    assert len(one.requests) == 3
    assert result.usage == Usage(input_tokens=30, output_tokens=3, calls=3, cost_usd=0)


async def test_every_critic_is_asked_as_often_as_said() -> None:
    one, other = critic(says("accept"), name="a"), critic(says("accept"), name="b")
    ensemble = CriticEnsemble(one, other, times=2)
    await ensemble.acritique(asked())
    assert (len(one.requests), len(other.requests), ensemble.calls_at_most) == (2, 2, 4)


def test_it_is_a_critic_with_the_fingerprints_of_all() -> None:
    one, other = critic(says("accept"), name="a"), critic(says("accept"), name="b", billed=True)
    ensemble = CriticEnsemble(one, other)
    assert isinstance(ensemble, Critic)
    assert ensemble.billed and not CriticEnsemble(one).billed
    prints = {
        CriticEnsemble(one, other).fingerprint,
        CriticEnsemble(other, one).fingerprint,
        CriticEnsemble(one, times=2).fingerprint,
        CriticEnsemble(one, times=3).fingerprint,
        CriticEnsemble(critic(says("accept"), name='a", "b'), times=2).fingerprint,
        CriticEnsemble(critic(says("accept"), name="a"), critic(says("accept"), name="a"), one, other).fingerprint,
    }
    assert len(prints) == 6


def test_names_are_looked_up() -> None:
    assert [type(member).__name__ for member in CriticEnsemble("pixel", "pixel").members] == ["PixelCritic"] * 2
    assert CriticEnsemble.from_string("pixel").calls_at_most == 3
    assert CriticEnsemble.from_string("pixel, pixel").calls_at_most == 2
    with pytest.raises(ConfigError, match="No critic 'nobody'"):
        CriticEnsemble("pixel", "nobody")
    with pytest.raises(ConfigError, match="without a name"):
        CriticEnsemble.from_string("pixel,")


@pytest.mark.parametrize(
    ("members", "times", "says_so"),
    [
        ([], None, "Ensemble of 0"),
        ([critic("accept")], 1, "Ensemble of 1"),
        ([critic("accept")], 0, "Ensemble of 0"),
        ([ScriptedCritic, critic("accept")], None, "ScriptedCritic is a class"),
        ([critic("accept"), 3], None, "A int is no critic"),
    ],
)
def test_what_is_no_ensemble_is_refused(members: list[Any], times: int | None, says_so: str) -> None:
    with pytest.raises(ConfigError, match=says_so):
        CriticEnsemble(*members, times=times)


# --- failures -------------------------------------------------------------------------------


async def test_a_failing_critic_has_no_voice_while_most_answer() -> None:
    broken = CritiqueError("No verdict in it.", usage=Usage(input_tokens=7, output_tokens=2))
    result = await outcome(says("accept"), broken, says("accept"))
    assert result.critique.verdict == "accept"
    assert result.critique.warnings == ("A critic failed and had no voice (CritiqueError): No verdict in it.",)
    assert (result.usage.calls, result.usage.input_tokens) == (3, 27)


async def test_a_warning_holds_no_secret() -> None:
    result = await outcome(says("accept"), says("accept"), Unavailable("Bad key sk-abcdefghijklmnop."))
    assert "abcdefgh" not in result.critique.warnings[0]


async def test_half_is_no_majority_and_what_was_paid_is_told() -> None:
    with pytest.raises(CritiqueError, match=r"Only 1 of 2 critics answered. Slow down.") as caught:
        await outcome(says("accept"), RateLimited("Slow down."))
    assert caught.value.usage == Usage(input_tokens=10, output_tokens=1, calls=1, cost_usd=0)
    assert isinstance(caught.value.__cause__, RateLimited)


async def test_when_nobody_answers_the_error_of_the_first_is_raised() -> None:
    with pytest.raises(RateLimited, match="first") as caught:
        await outcome(RateLimited("first"), RateLimited("second"))
    assert caught.value.usage is None, "nothing was produced: it may be sent again"
    spent = CallError("first", usage=Usage(input_tokens=3, cost_usd=0.1))
    with pytest.raises(CallError, match="first") as caught_too:
        await outcome(spent, RateLimited("second"))
    assert caught_too.value.usage == Usage(input_tokens=3, cost_usd=0.1, calls=1)
    with pytest.raises(CritiqueError, match="Only 0 of 2") as counted:
        await outcome(RateLimited("first"), CritiqueError("second", usage=Usage(input_tokens=3, cost_usd=0.1)))
    assert counted.value.usage == Usage(input_tokens=3, cost_usd=0.1, calls=1)


async def test_a_result_that_is_none_is_a_failure() -> None:
    class Odd:
        fingerprint, billed = "odd", False

        async def acritique(self, request: CritiqueRequest, *, on_text: Any = None) -> Any:
            return "accept"

    result = await CriticEnsemble(Odd(), critic(says("accept")), critic(says("accept"))).acritique(asked())
    assert result.critique.warnings == (
        "A critic failed and had no voice (CritiqueError): The critic 'odd' returned a str.",
    )


async def test_costs_are_known_when_those_of_the_billed_are() -> None:
    paid = critic(says("accept", usage=Usage(input_tokens=1, cost_usd=0.25)), billed=True)
    untold = critic(says("accept"), billed=True)
    free = critic(says("accept"))
    assert (await CriticEnsemble(paid, free).acritique(asked())).usage.cost_usd == 0.25
    assert (await CriticEnsemble(paid, untold).acritique(asked())).usage.cost_usd is None


# --- stopping -------------------------------------------------------------------------------


class Waiting:
    """A critic that waits for ever and says when it was stopped."""

    fingerprint, billed = "waiting", False

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.stopped = False

    async def acritique(self, request: CritiqueRequest, *, on_text: Any = None) -> CritiqueResult:
        self.begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            self.stopped = True
            raise
        raise AssertionError("not stopped")


async def test_cancelling_stops_every_critic_before_it_returns() -> None:
    members = [Waiting(), Waiting()]
    task = asyncio.create_task(CriticEnsemble(*members).acritique(asked()))
    await asyncio.gather(*(member.begun.wait() for member in members))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert all(member.stopped for member in members)
    assert len(asyncio.all_tasks()) == 1


async def test_an_unexpected_error_stops_the_others() -> None:
    waiting = Waiting()
    with pytest.raises(ZeroDivisionError):
        await CriticEnsemble(critic(ZeroDivisionError("bug")), waiting).acritique(asked())
    assert waiting.stopped
    assert len(asyncio.all_tasks()) == 1


# --- in the graph ---------------------------------------------------------------------------


async def test_in_a_run_every_request_counts_as_a_call() -> None:
    ensemble = CriticEnsemble(ScriptedCritic(), ScriptedCritic(["revise", "accept"]), ScriptedCritic(), times=1)
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ensemble)
    result = await graph.ainvoke({"request": "a cat"})
    assert result["outcome"] == "complete"
    assert result["spend"]["calls"] == {"backend": 1, "critic": 3, "planner": 1}


async def test_in_a_run_an_ensemble_without_a_majority_is_asked_again_and_all_of_it_counts() -> None:
    def unreadable() -> CritiqueError:
        return CritiqueError("No verdict in it.", raw="hm", usage=Usage(input_tokens=7))

    critics = [ScriptedCritic([unreadable(), "accept"]) for _ in range(2)]
    steady = ScriptedCritic(["accept", "accept"])
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(), CriticEnsemble(*critics, steady)
    )
    result = await graph.ainvoke({"request": "a cat"})
    assert result["outcome"] == "complete"
    assert result["spend"]["calls"] == {"backend": 1, "critic": 6, "planner": 1}
    # The plan's 10; 7 + 7 + 5 of the first round and 5 of each in the second.
    assert result["spend"]["input_tokens"] == 10 + 19 + 15
    assert [critic.requests[1].unusable[0].raw for critic in critics] == ["hm", "hm"]


async def test_a_run_that_is_cancelled_leaves_no_critic_behind() -> None:
    members = [Waiting(), Waiting()]
    graph = create_interleave_graph(ScriptedPlanner(simple_plan(1)), ScriptedBackend(), CriticEnsemble(*members))
    run = asyncio.create_task(graph.ainvoke({"request": "a cat"}))
    for _ in range(200):
        if all(member.begun.is_set() for member in members):
            break
        await asyncio.sleep(0.01)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    for _ in range(100):
        if all(member.stopped for member in members):
            break
        await asyncio.sleep(0.01)
    assert all(member.stopped for member in members)


@pytest.mark.parametrize("first_look", [False, True])
async def test_what_one_used_is_counted_where_the_other_broke_off(first_look: bool) -> None:
    used = Usage(input_tokens=70, output_tokens=3, calls=1)
    cut = critic(Unavailable("broke off", ambiguous=True), billed=True)
    unreadable = critic(CritiqueError("unreadable", usage=used), billed=True)
    several = FirstLook(unreadable, cut) if first_look else CriticEnsemble(cut, unreadable)
    with pytest.raises(CritiqueError) as caught:
        await several.acritique(asked())
    told = caught.value.usage
    assert told is not None and (told.input_tokens, told.calls, told.cost_usd) == (70, 2, None)
    with pytest.raises(Unavailable):
        await CriticEnsemble(cut, cut).acritique(asked())
