"""Several critics, or one asked several times: the majority decides, scores are averaged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from langchain_core.runnables import Runnable

from langgraph_interleave.critic import Critic, OnText
from langgraph_interleave.errors import CallError, ConfigError, CritiqueError
from langgraph_interleave.ledger.records import ending_of, problem_of
from langgraph_interleave.registry import init_critic
from langgraph_interleave.types import Critique, CritiqueRequest, CritiqueResult, Scores, Usage, Verdict

#: How often a single critic is asked, unless said otherwise: an odd number, so that there is no tie.
TIMES = 3


class CriticEnsemble:
    """A critic that asks several critics at the same time, or one several times.

    The verdict is the majority's; a tie is `revise`, because a picture drawn once too often costs
    less than a wrong one that later steps build on. Each score is the mean of those given; one that
    nobody gave stays `None`. Reasoning, refined prompt and raw text are those of one voice of the
    winning side, the deciding one: on `revise` that with the lowest mean score (which saw the worst)
    among those with a refined prompt; on `accept` that with the lowest as well (which had most to say
    against it). The reasoning is given out once, when all have answered: before that nobody knows
    whose it will be.

    A critic that fails has no voice: as long as more than half of all answered they decide, with a
    warning. Usage is that of all requests together; each counts as a call.

    Args:
        critics: Critics, chat models, or names of either.
        times: How often each is asked; by default once, or three times when there is only one.

    Raises:
        ConfigError: There are fewer than two voices, or a name is not known.

    Example:
        >>> CriticEnsemble("pixel").calls_at_most
        3
        >>> CriticEnsemble("pixel", "pixel", times=2).calls_at_most
        4
    """

    def __init__(self, *critics: Critic | Runnable[Any, Any] | str, times: int | None = None) -> None:
        each = times if times is not None else (TIMES if len(critics) == 1 else 1)
        #: Every voice; one that is asked several times is here as often.
        self.members = tuple(named(critic) for critic in critics) * max(each, 0)
        if len(self.members) < 2:
            raise ConfigError(
                f"A CriticEnsemble of {len(self.members)} is none.",
                remedy="Give several critics, or one with times=3; as a name: ensemble:openai:a,openai:b.",
            )
        self.billed = any(member.billed for member in self.members)
        self.fingerprint = f"ensemble:{json.dumps([voice.fingerprint for voice in self.members])}"
        self.calls_at_most = sum(most_calls(voice) for voice in self.members)

    written = "ensemble:CRITIC,CRITIC or ensemble:CRITIC, which is asked three times"

    @classmethod
    def from_string(cls, argument: str) -> Self:
        """Make one from names with commas between: `openai:a,openai:b`; a single one is asked three times."""
        return cls(*names_in(argument))

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Ask all at once and count the votes.

        Raises:
            CritiqueError: Half of the critics or more failed, and some answered or were paid.
            CallError: None answered; the error of the first.
        """
        answers = await ask_all(self.members, request)
        result = self._decided(answers)
        if on_text is not None:
            on_text(result.critique.reasoning)
        return result

    def _decided(self, answers: Sequence[Answer]) -> CritiqueResult:
        votes = [answer.result for answer in answers if answer.result is not None]
        failed = [answer.error for answer in answers if answer.error is not None]
        usage = Usage.total(used for answer in answers if (used := answer.usage) is not None)
        if 2 * len(votes) <= len(answers):
            raise _no_majority(failed, votes=len(votes), usage=usage)
        verdict = majority([vote.critique.verdict for vote in votes])
        voice = deciding([vote for vote in votes if vote.critique.verdict == verdict])
        ayes = sum(vote.critique.verdict == verdict for vote in votes)
        critique = Critique(
            verdict=verdict,
            reasoning=f"{ayes} of {len(votes)} critics say {verdict}.\n{voice.critique.reasoning}".strip(),
            refined_prompt=voice.critique.refined_prompt if verdict == "revise" else None,
            scores=mean_scores([vote.critique.scores for vote in votes]),
            warnings=(*voice.critique.warnings, *(no_voice(error) for error in failed)),
        )
        return CritiqueResult(critique, usage, raw=voice.raw)


# --- votes ----------------------------------------------------------------------------------


def majority(verdicts: Sequence[Verdict]) -> Verdict:
    """What more than half say; `revise` on a tie.

    Example:
        >>> majority(["accept", "revise"])
        'revise'
    """
    return "accept" if 2 * verdicts.count("accept") > len(verdicts) else "revise"


def mean_scores(scores: Iterable[Scores]) -> Scores:
    """The mean of each score over those who gave it; `None` where nobody did.

    Example:
        >>> mean_scores([Scores(semantics=4, quality=8), Scores(semantics=7)])
        Scores(semantics=5.5, quality=8.0, consistency=None)
    """
    listed = list(scores)
    means: dict[str, float] = {}
    for axis in Scores.model_fields:
        given = [float(score) for one in listed if (score := getattr(one, axis)) is not None]
        if given:
            means[axis] = sum(given) / len(given)
    return Scores(**means)


def deciding(votes: Sequence[CritiqueResult]) -> CritiqueResult:
    """The voice that speaks for votes of one verdict: with a refined prompt, then the lowest mean, then the first."""

    def rank(vote: CritiqueResult) -> tuple[bool, bool, float]:
        mean = vote.critique.scores.mean
        wordless = vote.critique.verdict == "revise" and not vote.critique.refined_prompt
        return wordless, mean is None, mean or 0.0

    return min(votes, key=rank)


def _no_majority(failed: Sequence[CallError | CritiqueError], *, votes: int, usage: Usage) -> CallError | CritiqueError:
    """What is raised when too few answered: the first error, unless it would hide what was paid."""
    first = failed[0]
    if not votes and not would_hide(first, usage):
        return with_usage(first, usage)
    said = first if isinstance(first, CritiqueError) else None
    error = CritiqueError(
        f"Only {votes} of {votes + len(failed)} critics answered. {first.message}",
        remedy=first.remedy,
        raw=said.raw if said else "",
        truncated=said.truncated if said else False,
        usage=usage,
    )
    error.__cause__ = first
    return error


# --- asking one -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of asking one critic: a result or an error, and what was used if anything was."""

    result: CritiqueResult | None = None
    error: CallError | CritiqueError | None = None
    usage: Usage | None = None


async def ask(critic: Critic, request: CritiqueRequest, *, on_text: OnText | None = None) -> Answer:
    """Ask one critic; the errors its contract allows become part of the answer, others are raised."""
    try:
        result: Any = await critic.acritique(request, on_text=on_text)
        if not isinstance(result, CritiqueResult):
            raise CritiqueError(
                f"The critic {critic.fingerprint!r} returned a {type(result).__name__}.",
                remedy="A critic must return a CritiqueResult.",
            )
    except (CallError, CritiqueError) as error:
        used = error.usage
        # Provably not produced: nothing was used. Anything else was a request, of unknown cost.
        if used is None and ending_of(error, billed=critic.billed) != "released":
            used = Usage(calls=1)
        return Answer(error=error, usage=None if used is None else _known(used, critic))
    return Answer(result=result, usage=_known(result.usage, critic))


def _known(usage: Usage, critic: Critic) -> Usage:
    """Usage whose cost is known to be nothing where the critic is not billed, so that it can be added to others'."""
    return usage if critic.billed or usage.cost_usd is not None else usage.model_copy(update={"cost_usd": 0.0})


async def ask_all(critics: Sequence[Critic], request: CritiqueRequest) -> list[Answer]:
    """Ask critics at the same time. None goes on when this is cancelled, or when one raises what it must not."""
    tasks = [asyncio.ensure_future(ask(critic, request)) for critic in critics]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def named(critic: Any) -> Critic:
    """The critic itself, or the one of that name.

    Raises:
        ConfigError: The name is not known, or it is no critic.
    """
    if isinstance(critic, str):
        return init_critic(critic)
    if isinstance(critic, Runnable) and not isinstance(critic, Critic):
        from langgraph_interleave.critics.chat import ChatCritic

        return ChatCritic(critic)
    if isinstance(critic, type):
        raise ConfigError(f"{critic.__name__} is a class.", remedy=f"Write {critic.__name__}(...).")
    if not isinstance(critic, Critic):
        raise ConfigError(
            f"A {type(critic).__name__} is no critic.",
            remedy="Give critics, LangChain chat models, or names of either.",
        )
    return critic


def names_in(argument: str) -> list[str]:
    """Names with commas between.

    Raises:
        ConfigError: One of them is empty.
    """
    names = [name.strip() for name in argument.split(",")]
    if not all(names):
        raise ConfigError(
            f"{argument!r} has a critic without a name.", remedy="Write names with commas between, as in pixel,pixel."
        )
    return names


def most_calls(critic: Critic) -> int:
    """Requests that one critique of it takes at most; 1 where it does not say."""
    said = getattr(critic, "calls_at_most", 1)
    return said if isinstance(said, int) and said > 0 else 1


def would_hide(error: CallError | CritiqueError, usage: Usage) -> bool:
    """Whether what others used would not be counted if this error were all that is known of the call."""
    ending = ending_of(error, billed=True)
    told = usage != Usage(calls=usage.calls, cost_usd=usage.cost_usd)
    return (ending == "released" and usage.calls > 0) or (ending == "ambiguous" and told)


def with_usage(error: CallError | CritiqueError, usage: Usage) -> CallError | CritiqueError:
    """The error, telling all that was used on the way to it."""
    if usage.calls:
        error.usage = usage
    return error


def no_voice(error: CallError | CritiqueError) -> str:
    """The warning that a critic failed and had no voice."""
    problem = problem_of(error)
    return f"A critic failed and had no voice ({problem.error}): {problem.message}"
