"""Per-run values: what a caller may set for one run, and how it is resolved against the defaults."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field, field_validator

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.fields import describe_fields
from langgraph_interleave.limits import Chosen, Limits
from langgraph_interleave.references import References
from langgraph_interleave.types import Approve, Lookahead, OnExhausted, OnLimit, Publish
from langgraph_interleave.types.base import Frozen

#: What a second less of waiting is taken to be worth, in US dollars: about 7 dollars an hour.
SECOND_USD = 0.002


class InterleaveContext(Chosen):
    """Plain values for one run; everything left out keeps the default the graph was made with.

    Live objects (planner, backend, critic, stores) belong to `create_interleave_graph`.

    Attributes:
        limits: Caps on steps, attempts, images, calls and seconds; only those that are given.
        steps: Number of steps, when it must be exact.
        size: Size of each picture, `WIDTHxHEIGHT` in pixels.
        seed: Seed of the run; every attempt derives its own from it.
        language: Language of the captions; the request's own if empty.
        style: The look all pictures share.
        on_exhausted: What happens when no attempt was accepted: `best` or `last` is kept, a reviewer is
            asked (`ask`), the step is planned otherwise (`replan`), or the run fails (`fail`).
        on_limit: What happens when the run has reached one of its limits: it ends with what is there
            (`finish`), or somebody is asked whether to raise it (`ask`).
        approve: What a reviewer is asked about: the `plan` before anything is drawn, the `steps` before
            they count.
        draft: Sketch every step for nothing, and have the plan approved by the sketches.
        lookahead: Draw the next step on the bet that this one is accepted: `always`, `never`, or where what
            is won is worth what it may cost (`value`); true and false are always and never.
        second_usd: What a second less of waiting is worth, in US dollars; `lookahead="value"` weighs it
            against what lost bets cost.
        candidates: Pictures drawn for each attempt; the critic's best is taken.
        early_start: Draw the first steps while the plan is still written.
        publish: Captions while the picture is drawn (`early`), or once it was judged (`verified`).
        references: What each step is drawn from: what the plan says (`explicit`), the picture before
            (`previous`), the first of its chain of edits (`first`), all of them (`all`), or also a sheet
            of characters that is drawn first (`sheet`).
        anchor_inputs: Give the pictures of the request to every step.
        reanchor_every: Draw every k-th edit of a chain from the picture the chain began with.
        style_in_prompts: Tell the style guide to the backend with every prompt.
        redraw_missing: Make calls again whose pictures are gone from the store, or damaged; they are paid for again.
        run_id: An id of the caller's own; the same id never pays twice.

    Raises:
        ConfigError: There is no such option, or it cannot be that.

    Example:
        >>> InterleaveContext(steps=4, seed=7).steps
        4
    """

    model_config = ConfigDict(extra="forbid", defer_build=True, json_schema_extra=describe_fields)

    limits: Limits | None = Field(
        default=None, description="Caps on steps, attempts, images, calls and seconds; only those that are given."
    )
    steps: int | None = Field(default=None, ge=1, description="Number of steps, when it must be exact.")
    size: str | None = Field(default=None, description="Size of each picture, WIDTHxHEIGHT in pixels.")
    seed: int | None = Field(default=None, ge=0, description="Seed of the run; every attempt derives its own from it.")
    language: str | None = Field(default=None, description="Language of the captions; the request's own if empty.")
    style: str | None = Field(default=None, description="The look all pictures share.")
    on_exhausted: OnExhausted | None = Field(
        default=None,
        description="What happens when no attempt was accepted: best or last is kept, a reviewer is asked (ask), the "
        "step is planned otherwise (replan), or the run fails (fail).",
    )
    on_limit: OnLimit | None = Field(
        default=None,
        description="What happens when the run has reached one of its limits: it ends with what is there (finish), or "
        "somebody is asked whether to raise it (ask).",
    )
    approve: tuple[Approve, ...] | None = Field(
        default=None,
        description="What a reviewer is asked about: the plan before anything is drawn, the steps before they count.",
    )
    draft: bool | None = Field(
        default=None, description="Sketch every step for nothing, and have the plan approved by the sketches."
    )
    lookahead: Lookahead | None = Field(
        default=None,
        description="Draw the next step on the bet that this one is accepted: always, never, or where what is won is "
        "worth what it may cost (value).",
    )
    second_usd: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        description='What a second less of waiting is worth, in US dollars; lookahead="value" weighs it against what '
        "lost bets cost.",
    )
    candidates: int | None = Field(
        default=None, ge=1, le=8, description="Pictures drawn for each attempt; the critic's best is taken."
    )
    early_start: bool | None = Field(
        default=None, description="Draw the first steps while the plan is still written; default: as lookahead."
    )
    publish: Publish | None = Field(
        default=None, description="Captions while the picture is drawn (early), or once it was judged (verified)."
    )
    references: References | None = Field(
        default=None,
        description="What each step is drawn from: what the plan says (explicit), the picture before (previous), "
        "the first of its chain of edits (first), all of them (all), or also a sheet of characters (sheet).",
    )
    anchor_inputs: bool | None = Field(default=None, description="Give the pictures of the request to every step.")
    reanchor_every: int | None = Field(
        default=None, ge=1, description="Draw every k-th edit of a chain from the picture the chain began with."
    )
    style_in_prompts: bool | None = Field(
        default=None, description="Tell the style guide to the backend with every prompt."
    )
    redraw_missing: bool | None = Field(
        default=None,
        description="Make calls again whose pictures are gone from the store, or damaged; they are paid for again.",
    )
    run_id: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-]{1,64}$",
        description="An id of the caller's own; the same id never pays twice.",
    )

    @field_validator("approve", mode="before")
    @classmethod
    def _approve_is_a_set(cls, approve: object) -> object:
        if isinstance(approve, str):
            return (approve,)
        return tuple(sorted(approve)) if isinstance(approve, set | frozenset) else approve

    @field_validator("lookahead", mode="before")
    @classmethod
    def _lookahead_may_be_a_switch(cls, lookahead: object) -> object:
        return _switched(lookahead)

    @field_validator("size")
    @classmethod
    def _size_is_two_numbers(cls, size: str | None) -> str | None:
        if size is not None:
            parse_size(size)
        return size


def _switched(lookahead: object) -> object:
    return ("always" if lookahead else "never") if isinstance(lookahead, bool) else lookahead


def parse_size(size: str) -> tuple[int, int]:
    """Read `WIDTHxHEIGHT` in pixels.

    Raises:
        ConfigError: It is something else, or a side is not within 16 to 8192.

    Example:
        >>> parse_size("512x384")
        (512, 384)
    """
    width, _, height = size.lower().replace("×", "x").partition("x")
    if not (width.strip().isdecimal() and height.strip().isdecimal()):
        raise ConfigError(f"size {size!r} is not WIDTHxHEIGHT.", remedy="Write for example 512x512.")
    sides = int(width), int(height)
    if not all(16 <= side <= 8192 for side in sides):
        raise ConfigError(f"size {size!r} is out of range.", remedy="Each side must be 16 to 8192 pixels.")
    return sides


class Settings(Frozen):
    """The resolved values of one run; stored with its plan, so that a resume goes on with the same.

    No run's own limits, and nobody who is asked to raise one, may go above the `ceiling`.
    """

    limits: Limits = Limits()
    ceiling: Limits | None = None
    steps: int | None = None
    size: str | None = None
    seed: int = 0
    language: str | None = None
    style: str | None = None
    on_exhausted: OnExhausted = "best"
    on_limit: OnLimit = "finish"
    ended_at: str | None = Field(
        default=None, description="the limit at which somebody said to finish: nothing more is drawn"
    )
    approve: tuple[Approve, ...] = ()
    draft: bool = False
    version: int = Field(default=1, ge=1, description="of the document: what is drawn again is not drawn the same")
    lookahead: Lookahead = "value"
    second_usd: float = Field(default=SECOND_USD, ge=0)
    candidates: int = Field(default=1, ge=1, le=8)
    early_start: bool | None = None
    publish: Publish = "early"
    references: References = "explicit"
    anchor_inputs: bool = False
    reanchor_every: int | None = Field(default=None, ge=1)
    style_in_prompts: bool = False
    redraw_missing: bool = False

    @field_validator("lookahead", mode="before")
    @classmethod
    def _lookahead_was_a_switch(cls, lookahead: object) -> object:
        return _switched(lookahead)

    def resolve(self, context: object, configurable: Mapping[str, Any]) -> tuple[Settings, str | None]:
        """Lay a run's own values over these defaults.

        Args:
            context: The runtime's context. Inside another graph it is that graph's own, and is
                ignored unless it is an `InterleaveContext`.
            configurable: `config["configurable"]`; fields of `InterleaveContext` under their names.

        Returns:
            The settings of the run, and the caller's own run id, if any.

        Raises:
            ConfigError: A value is not valid.
        """
        given = context if isinstance(context, InterleaveContext) else context_of(configurable)
        chosen = {
            name: getattr(given, name)
            for name in type(self).model_fields
            if getattr(given, name, None) is not None
        }  # fmt: skip
        if given.limits is not None:
            # Of the limits too, what is left out keeps its default: raising one cap must not lift another.
            own = {name: getattr(given.limits, name) for name in given.limits.model_fields_set}
            chosen["limits"] = self.limits.model_copy(update=own).within(self.ceiling, own)
        return self.model_copy(update=chosen), given.run_id

    @property
    def pixels(self) -> tuple[int, int] | None:
        """`size` as numbers."""
        return parse_size(self.size) if self.size else None

    def attempt_seed(self, step: int, attempt: int) -> int:
        """Seed of one attempt: 0 to 2**32-1, another for each, the same for the same run seed."""
        seed = self.seed if self.version == 1 else derive_seed(self.seed, self.version, 0)
        return derive_seed(seed, step, attempt)

    def candidate_seed(self, step: int, attempt: int, candidate: int) -> int:
        """Seed of one of several pictures of an attempt: the first has the attempt's, each further one the next."""
        return (self.attempt_seed(step, attempt) + candidate) % 2**32

    @property
    def asks(self) -> bool:
        """Whether somebody is, or may be, asked on the way."""
        return bool(self.approve) or self.draft or "ask" in (self.on_exhausted, self.on_limit)

    @property
    def plan_approved(self) -> bool:
        """Whether a plan is put before a reviewer."""
        return self.draft or "plan" in self.approve


def context_of(configurable: Mapping[str, Any]) -> InterleaveContext:
    """The per-run values in `config["configurable"]`: fields of `InterleaveContext` under their names.

    The run's id is there under `interleave_run_id`: `run_id` in a config is LangChain's tracing id, not ours.

    Raises:
        ConfigError: A value is not valid.

    Example:
        >>> context_of({"seed": 7, "thread_id": "t"}).seed
        7
    """
    fields = set(InterleaveContext.model_fields) - {"run_id"}
    chosen = {name: configurable[name] for name in fields if configurable.get(name) is not None}
    return InterleaveContext(**chosen, run_id=configurable.get("interleave_run_id"))


def derive_seed(seed: int, step: int, attempt: int) -> int:
    """Mix a run's seed with step and attempt into 0 to 2**32-1, evenly spread and stable for ever."""
    digest = hashlib.sha256(f"{seed}/{step}/{attempt}".encode()).digest()
    return int.from_bytes(digest[:4], "big")
