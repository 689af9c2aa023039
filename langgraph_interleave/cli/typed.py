"""What the user typed for a document, as data."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Self, cast, get_args

from pydantic import TypeAdapter

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.limits import Limits
from langgraph_interleave.references import References
from langgraph_interleave.types import Approve, ImageBytes, Lookahead, OnExhausted, OnLimit

#: Caps that are typed for a document.
CAPS = (
    "max_attempts", "max_images", "max_calls", "max_seconds", "max_cost_usd",
    "step_max_images", "step_max_calls", "step_max_seconds", "step_max_cost_usd",
)  # fmt: skip
#: What a change of the document is made with too. Neither the number of steps nor look and language of the
#: captions: those may be what is to change.
_KEPT = (
    *CAPS, "seed", "size", "planner", "backend", "critic", "references", "anchor_inputs", "reanchor_every",
    "style_in_prompts", "on_exhausted", "on_limit", "lookahead", "candidates",
)  # fmt: skip
#: What one command is told, and the next may be told otherwise; pictures are kept as such.
_OF_ONE = ("images", "out", "answers", "yes", "estimate", "events", "open_page", "prices")
#: Roles, whose names may hold a key or a password.
ROLES = ("planner", "backend", "critic")
_SURROGATE = re.compile("[\ud800-\udfff]")
_USER = re.compile(r"(?<=//)[^/@?#\s]+@")
_SECRET = re.compile(r"(?i)[\w-]*(?:key|token|secret|password)=")


@dataclass(frozen=True, slots=True)
class Options:
    """What the user typed. `None` means: not given."""

    request: str
    #: Paths, and addresses of the web.
    images: tuple[str, ...] = ()
    steps: int | None = None
    out: Path | None = None
    max_attempts: int | None = None
    max_images: int | None = None
    max_calls: int | None = None
    max_seconds: float | None = None
    max_cost_usd: float | None = None
    step_max_images: int | None = None
    step_max_calls: int | None = None
    step_max_seconds: float | None = None
    step_max_cost_usd: float | None = None
    seed: int = 0
    size: str | None = None
    language: str | None = None
    style: str | None = None
    planner: str | None = None
    backend: str | tuple[str, ...] | None = None
    critic: str | None = None
    references: References = "explicit"
    anchor_inputs: bool = False
    reanchor_every: int | None = None
    style_in_prompts: bool | None = None
    on_exhausted: OnExhausted = "best"
    on_limit: OnLimit = "finish"
    approve: tuple[Approve, ...] = ()
    draft: bool = False
    answers: Path | None = None
    yes: bool = False
    lookahead: Lookahead | None = None
    candidates: int = 1
    estimate: bool = False
    #: A file; its rows are kept.
    prices: Path | None = None
    events: bool = False
    open_page: bool = True

    def __post_init__(self) -> None:
        """Words are text.

        Raises:
            ConfigError: Some were typed in another encoding than the terminal's.
        """
        for name in ("request", "size", "language", "style", *ROLES):
            if _SURROGATE.search(str(getattr(self, name) or "")):
                what = "What is asked" if name == "request" else f"--{name}"
                raise ConfigError(
                    f"{what} has bytes that are no text here.",
                    remedy="Write it in UTF-8, or set the locale (LC_ALL) to the encoding it is in.",
                )

    @property
    def limits(self) -> Limits:
        """The caps, with the defaults of those not given."""
        return limits_of(self, CAPS)

    @property
    def asks(self) -> bool:
        """Whether somebody is, or may be, asked on the way."""
        return bool(self.approve) or self.draft or "ask" in (self.on_exhausted, self.on_limit)

    @property
    def reviewed(self) -> tuple[str, ...]:
        """What somebody is asked about; whoever is asked may have the document otherwise.

        Example:
            >>> Options("a bean", draft=True, approve=("steps",)).reviewed
            ('draft', 'steps')
        """
        also = {"draft": self.draft, "exhausted": self.on_exhausted == "ask", "limit": self.on_limit == "ask"}
        return tuple(sorted({*self.approve, *(name for name, asked in also.items() if asked)}))

    def identity(self, pictures: Iterable[ImageBytes]) -> dict[str, Any]:
        """What the document depends on. Caps are not among it, nor who is asked: the same run goes on."""
        drawn_from = {
            "references": self.references,
            "anchor_inputs": self.anchor_inputs,
            "reanchor_every": self.reanchor_every,
            "style_in_prompts": self.style_in_prompts,
            "candidates": self.candidates,
        }
        default = Options("")
        return {
            "request": self.request,
            "images": [picture.sha256 for picture in pictures],
            "seed": self.seed,
            "steps": self.steps,
            "size": self.size,
            "language": self.language,
            "style": self.style,
            "roles": [self.planner, self.backend, self.critic],
            # What is as it always was is left out: folders made before these were options hold the same run.
            **{name: value for name, value in drawn_from.items() if value != getattr(default, name)},
        }

    def kept(self) -> dict[str, Any]:
        """What a later change of the document is made with, JSON types only; no secrets.

        Example:
            >>> Options("a bean", backend="openai:flux?base_url=http://me:pw@127.0.0.1:8000/v1").kept()["backend"]
            'openai:flux?base_url=http://127.0.0.1:8000/v1'
        """
        typed = asdict(self)
        return {name: _open(typed[name]) for name in _KEPT if typed[name] != getattr(_DEFAULT, name)}

    def begun(self) -> dict[str, Any]:
        """What the run is gone on with, JSON types only; no secrets, and no path.

        Example:
            >>> Options("a bean", seed=3, approve=("plan",), yes=True).begun()
            {'request': 'a bean', 'seed': 3, 'approve': ['plan']}
        """
        kept: dict[str, Any] = {"request": self.request}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _OF_ONE or value == getattr(_DEFAULT, field.name) or isinstance(value, Path):
                continue
            kept[field.name] = _open(value) if field.name in ROLES else list(value) if _is_tuple(value) else value
        return kept

    @property
    def withheld(self) -> tuple[str, ...]:
        """The roles whose names hold what nobody should read in a file."""
        return tuple(
            name for name in ROLES
            if (value := getattr(self, name)) is not None
            and _open(value) != (list(value) if _is_tuple(value) else value)
        )  # fmt: skip

    def going_on(self, begun: Mapping[str, Any], given: Collection[str]) -> Self:
        """The options of a run that goes on: as it was begun, but for what was `given` now.

        Args:
            begun: As `begun` gave it.
            given: Names of the options that were typed now.
        """
        known: dict[str, Any] = {
            field.name: tuple(value) if isinstance(value := begun[field.name], list) else value
            for field in fields(self)
            if field.name in begun and field.name not in given and field.name not in _OF_ONE
        }
        return replace(self, **known)

    def made_with(self, kept: Mapping[str, Any]) -> Self:
        """The options as typed, those that were not given as they were kept."""
        known = {name: kept[name] for name in _KEPT if name in kept and getattr(self, name) == getattr(_DEFAULT, name)}
        if isinstance(known.get("backend"), list):
            known["backend"] = tuple(cast("list[str]", known["backend"]))
        return replace(self, **known)


_DEFAULT = Options("")


def check_kept(kept: Mapping[str, Any]) -> None:
    """What was kept of options is of their types: a folder may be damaged, or have come from somebody else.

    Raises:
        ValueError: Something is not.
    """
    known = {field.name for field in fields(Options)} - {"out", "answers", "images", "prices"}
    text = json.dumps({"request": "", **{name: value for name, value in kept.items() if name in known}})
    _adapter().validate_json(text, strict=True)


@cache
def _adapter() -> TypeAdapter[Options]:
    return TypeAdapter(Options)


def limits_of(options: object, names: Iterable[str]) -> Limits:
    """The caps among some options, with the defaults of those not given."""
    given = {name: getattr(options, name) for name in names}
    return Limits(**{name: value for name, value in given.items() if value is not None})


def read_backends(given: Sequence[str] | None) -> str | tuple[str, ...] | None:
    """What `--backend` names: one, several, or none.

    Example:
        >>> read_backends(["sketch"]), read_backends(["a=sketch", "b=svg"]), read_backends([])
        ('sketch', ('a=sketch', 'b=svg'), None)
    """
    return given[0] if given and len(given) == 1 else tuple(given or ()) or None


def read_approve(given: Iterable[str]) -> tuple[Approve, ...]:
    """What `--approve` names, several times or with commas.

    Raises:
        ConfigError: One is neither `plan` nor `steps`.

    Example:
        >>> read_approve(["plan", "steps,plan"])
        ('plan', 'steps')
    """
    words = [word.strip().lower() for text in given for word in text.split(",") if word.strip()]
    for word in words:
        if word not in get_args(Approve):
            raise ConfigError(f"--approve {word!r} is neither plan nor steps.", remedy="Write --approve plan,steps.")
    return cast("tuple[Approve, ...]", tuple(dict.fromkeys(words)))


def public_name(name: str | tuple[str, ...] | None) -> object:
    """A role's name as it is kept: without a key or a password.

    Example:
        >>> public_name("openai?api_key=sk-1&size=big")
        'openai?size=big'
    """
    return _open(name)


def _is_tuple(value: object) -> bool:
    return isinstance(value, tuple)


def _open(value: object) -> object:
    """A name without what nobody should read in a file."""
    if isinstance(value, tuple):
        return [_open(one) for one in cast("tuple[object, ...]", value)]
    if not isinstance(value, str):
        return value
    name, mark, query = _USER.sub("", value).partition("?")
    options = [option for option in query.split("&") if not _SECRET.match(option)]
    return f"{name}{mark}{'&'.join(options)}" if options and mark else name
