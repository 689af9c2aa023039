"""From what a caller gave to a complete set of roles: names are looked up, gaps are filled or refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

from langchain_core.runnables import Runnable

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.base import Companions, ImageBackend
from langgraph_interleave.backends.given import Given, as_backend
from langgraph_interleave.checks.base import Check
from langgraph_interleave.context import SECOND_USD, InterleaveContext, Settings
from langgraph_interleave.critic import Critic
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.odds import Odds
from langgraph_interleave.planner import Planner
from langgraph_interleave.prices import Prices
from langgraph_interleave.profiles import profile_of
from langgraph_interleave.references import References
from langgraph_interleave.registry import init_check, init_critic, init_planner, keeps_contract
from langgraph_interleave.roles import Roles
from langgraph_interleave.types import Approve, Lookahead, OnExhausted, OnLimit, Plan, Publish


def choose_roles(
    planner: Planner | Runnable[Any, Any] | Plan | Sequence[str] | str | None,
    backend: Given | None,
    critic: Critic | Runnable[Any, Any] | str | None,
    *,
    limits: Limits | None = None,
    ceiling: Limits | None = None,
    artifacts: ArtifactStore | None = None,
    ledger: Ledger | None = None,
    checks: Sequence[Check | str] = (),
    on_exhausted: OnExhausted = "best",
    on_limit: OnLimit = "finish",
    approve: Collection[Approve] = (),
    draft: bool = False,
    lookahead: Lookahead | bool | None = None,
    second_usd: float | None = None,
    candidates: int = 1,
    early_start: bool | None = None,
    publish: Publish = "early",
    seed: int = 0,
    steps: int | None = None,
    size: str | None = None,
    language: str | None = None,
    style: str | None = None,
    references: References = "explicit",
    anchor_inputs: bool = False,
    reanchor_every: int | None = None,
    style_in_prompts: bool | None = None,
) -> Roles:
    """Look names up and fill in what is missing.

    Raises:
        ConfigError: A name is unknown; a backend that has no planner and critic of its own comes
            without; ledger and artifacts do not belong together; an option cannot be what it was given.
    """
    for name, given, kind, remedy in (
        ("limits", limits, Limits, "Limits(max_steps=…, …)"),
        ("ceiling", ceiling, Limits, "Limits(max_cost_usd=…, …)"),
        ("artifacts", artifacts, ArtifactStore, 'ArtifactStore.folder("…") or ArtifactStore.memory()'),
        ("ledger", ledger, Ledger, "Ledger(artifacts)"),
    ):
        if given is not None:
            _of_kind(name, given, kind, remedy)
    # The same rules as for a run's own values, and the same words.
    chosen = InterleaveContext(
        approve=approve,  # pyright: ignore[reportArgumentType] - any collection; made a tuple there
        draft=draft,
        limits=limits,
        steps=steps,
        size=size,
        seed=seed,
        language=language,
        style=style,
        on_exhausted=on_exhausted,
        on_limit=on_limit,
        lookahead=lookahead,  # pyright: ignore[reportArgumentType]
        second_usd=second_usd,
        candidates=candidates,
        early_start=early_start,
        publish=publish,
        references=references,
        anchor_inputs=anchor_inputs,
        reanchor_every=reanchor_every,
        style_in_prompts=style_in_prompts,
    )
    drawing = as_backend(backend if backend is not None else "simulator")
    brought = companions_of(drawing)
    missing = [role for role, given in (("planner", planner), ("critic", critic)) if given is None]
    if missing and brought is None:
        raise ConfigError(
            f"Backend {drawing.name!r} needs a {' and a '.join(missing)}.",
            remedy=f"Pass {', '.join(f'{role}=' for role in missing)} as an object or a name "
            f"(on the command line: {', '.join(f'--{role}' for role in missing)}); "
            "`langgraph-interleave backends` lists what is installed. Without models: planner=[prompts] "
            '(--planner given:FILE) and critic="none".',
        )
    own = cast("Companions", brought)  # needed only where one is missing, and then there
    planning = planner if planner is not None else own.planner
    planning = init_planner(planning) if isinstance(planning, str) else as_planner(planning)
    judging = critic if critic is not None else own.critic
    judging = init_critic(judging) if isinstance(judging, str) else as_critic(judging)
    if ledger is not None and artifacts is not None and ledger.artifacts is not artifacts:
        raise ConfigError(
            "The ledger keeps its records in another store than `artifacts`.",
            remedy="Pass only one of the two, or Ledger(artifacts).",
        )
    keeping = ledger.artifacts if ledger is not None else artifacts or ArtifactStore.memory()
    settings = Settings(
        limits=(limits or Limits()).within(ceiling, limits.model_fields_set if limits else ()),
        ceiling=ceiling,
        steps=steps,
        size=size,
        seed=seed,
        language=language,
        style=style,
        references=references,
        anchor_inputs=anchor_inputs,
        reanchor_every=reanchor_every,
        style_in_prompts=brought is None or brought.style_in_prompts if style_in_prompts is None else style_in_prompts,
        on_exhausted=on_exhausted,
        on_limit=on_limit,
        approve=chosen.approve or (),
        draft=draft,
        lookahead=chosen.lookahead or ("never" if drawing.capabilities.billed else "value"),
        second_usd=SECOND_USD if second_usd is None else second_usd,
        candidates=candidates,
        early_start=early_start,
        publish=publish,
    )
    return Roles(
        planner=planning,
        backend=drawing,
        critic=judging,
        artifacts=keeping,
        ledger=ledger or Ledger(keeping),
        checks=tuple(_checks(checks)),
        settings=settings,
        odds=_odds(drawing, judging),
        notes=tuple(note for note in (brought.note if brought else "", getattr(judging, "note", None)) if note),
    )


def _odds(backend: ImageBackend, critic: Critic) -> Odds:
    """What a bet is taken to win and lose before a call was made: as the estimates have it."""
    drawing, judging, can = profile_of("backend", backend), profile_of("critic", critic), backend.capabilities
    return Odds(
        draw_s=drawing.seconds,
        judge_s=judging.seconds,
        price_usd=drawing.cost(Prices.default())[0],
        held=can.concurrency == 1 and can.cancel == "none",
    )


def _of_kind(name: str, given: object, kind: type, remedy: str) -> None:
    if not isinstance(given, kind):
        raise ConfigError(f"{name} is a {type(given).__name__}, no {kind.__name__}.", remedy=f"Give {remedy}.")


def _checks(given: Sequence[Check | str] | str) -> Iterator[Check]:
    """Checks by name or as they are; one name is a list of one."""
    for check in (given,) if isinstance(given, str) else given:
        yield init_check(check) if isinstance(check, str) else keeps_contract("check", check, Check)


def companions_of(backend: ImageBackend) -> Companions | None:
    """The planner and critic that come with a backend, if it says so."""
    said = getattr(backend, "companions", None)
    return said if isinstance(said, Companions) else None


def as_planner(part: Planner | Runnable[Any, Any] | Plan | Sequence[str]) -> Planner:
    """A planner as it is; a LangChain chat model, a plan or its prompts as the planner they make."""
    if isinstance(part, Plan | Sequence):
        from langgraph_interleave.planners.given import GivenPlan

        return GivenPlan(part)
    if isinstance(part, Runnable) and not isinstance(part, Planner):
        from langgraph_interleave.planners.chat import ChatPlanner

        return ChatPlanner(part)
    return keeps_contract("planner", part, Planner)


def as_critic(part: Critic | Runnable[Any, Any]) -> Critic:
    """A critic as it is; a LangChain chat model as the critic it makes."""
    if isinstance(part, Runnable) and not isinstance(part, Critic):
        from langgraph_interleave.critics.chat import ChatCritic

        return ChatCritic(part)
    return keeps_contract("critic", part, Critic)


def check_references(settings: Settings, backend: ImageBackend) -> None:
    """Refuse a policy that gives pictures to a backend that takes none, before anything is spent.

    Raises:
        ConfigError: Naming the option.
    """
    if backend.capabilities.max_references:
        return
    asked = [f"references={settings.references!r}"] if settings.references != "explicit" else []
    asked += ["anchor_inputs=True"] if settings.anchor_inputs else []
    asked += [f"reanchor_every={settings.reanchor_every}"] if settings.reanchor_every else []
    if asked:
        raise ConfigError(
            f"Backend {backend.name!r} takes no pictures to build on, as {' and '.join(asked)} would have it.",
            remedy="Leave that out, or use a backend that edits; `langgraph-interleave backends` lists them.",
        )


def check_size(settings: Settings, backend: ImageBackend) -> None:
    """Refuse a size the backend cannot draw, before anything is spent.

    Raises:
        ConfigError: Naming the size and what is possible.
    """
    if settings.pixels is None:
        return
    width, height = settings.pixels
    can = backend.capabilities
    if min(width, height) < can.min_side or width * height > can.max_pixels:
        raise ConfigError(
            f"Backend {backend.name!r} cannot draw {width}x{height} pixels.",
            remedy=f"Ask for sides of at least {can.min_side} pixels, and at most {can.max_pixels:,} pixels in all.",
        )
