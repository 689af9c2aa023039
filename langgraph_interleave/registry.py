"""Names to parts: planners, backends, critics and checks are found through entry points.

The built-ins come in by the same door as a plugin's. A plugin declares, in its own metadata,

    [project.entry-points."langgraph_interleave.backends"]
    mine = "my_package.drawing:MyBackend"

and `"mine"` is then a name people can type. What an entry point names is a class or function,
called as `factory(**options)`. When the user wrote `"mine:large"`, its classmethod `from_string("large",
**options)` is called: without one a part takes options in Python, and no argument in its name. For
backends it may also be a function that draws, `(prompt, references) -> picture`. Making a part must be cheap:
weights, clients and files are opened by its first call, not before.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, TypeVar

from typing_extensions import get_protocol_members

from langgraph_interleave.checks.base import Check
from langgraph_interleave.critic import Critic
from langgraph_interleave.errors import ConfigError, InterleaveError
from langgraph_interleave.models.naming import example_of
from langgraph_interleave.planner import Planner

Part = TypeVar("Part")
Kind = Literal["backend", "planner", "critic", "check"]
KINDS: tuple[Kind, ...] = ("backend", "planner", "critic", "check")
#: Roles that any chat model can take.
CHAT_ROLES = ("planner", "critic")

#: How those are named.
CHAT_MODELS = "write provider:model, as in openai:gpt-5, or transformers:FOLDER for one that runs in this process"

OURS = "langgraph-interleave"
#: Names that come with a distribution of ours that is installed by itself, and how.
_ELSEWHERE = {"miniature": ("langgraph-interleave-miniature", "pip install ./miniature")}
_REQUIREMENT = re.compile(r"^\s*(?P<name>[\w.-]+).*\bextra\s*==\s*['\"](?P<extra>[\w.-]+)['\"]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One installed part: its name, the distribution it comes from, and how to load it.

    `shadowed` when another entry of the same name goes first: ours, then by distribution.
    """

    kind: Kind
    name: str
    distribution: str
    point: EntryPoint
    shadowed: bool = False


def group(kind: Kind) -> str:
    """The entry-point group of a kind of part.

    Example:
        >>> group("backend")
        'langgraph_interleave.backends'
    """
    return f"langgraph_interleave.{kind}s"


def installed(kind: Kind) -> tuple[Entry, ...]:
    """Everything installed of a kind, ours first, then by name; nothing is imported."""
    found = [
        Entry(kind=kind, name=point.name, distribution=point.dist.name if point.dist else "unknown", point=point)
        for point in entry_points(group=group(kind))
    ]
    found.sort(key=lambda entry: (entry.distribution != OURS, entry.name, entry.distribution))
    seen: set[str] = set()
    entries: list[Entry] = []
    for entry in found:
        if entry.name in seen:
            # A distribution seen twice (an editable install beside its source) is one.
            if any(other.name == entry.name and other.point.value == entry.point.value for other in entries):
                continue
            entries.append(Entry(entry.kind, entry.name, entry.distribution, entry.point, shadowed=True))
            continue
        seen.add(entry.name)
        entries.append(entry)
    return tuple(entries)


def split_name(text: str) -> tuple[str, str | None]:
    """Split what the user typed into a name and its argument.

    Example:
        >>> split_name("simulator:hard"), split_name("sketch")
        (('simulator', 'hard'), ('sketch', None))
        >>> split_name("openai?quality=low")
        ('openai', '?quality=low')
    """
    name, colon, argument = text.strip().partition(":")
    if "?" in name:
        # Options without an argument.
        name, _, options = text.strip().partition("?")
        return name.strip(), f"?{options}"
    return name.strip(), argument.strip() if colon else None


def load(entry: Entry) -> Callable[..., object]:
    """Import the factory an entry names.

    Raises:
        ConfigError: It cannot be imported. For a missing optional dependency the remedy is the pip
            line of the extra that brings it.
    """
    try:
        factory = entry.point.load()
    except ModuleNotFoundError as error:
        raise missing(entry, error) from error
    except Exception as error:  # a plugin may fail in any way; it must not take the others with it
        raise _broken(entry, error) from error
    if not callable(factory):
        raise ConfigError(
            f"{entry.kind} {entry.name!r} of {entry.distribution} is not callable.",
            remedy=f"{entry.point.value} must be a class or a function.",
        )
    return factory


Adapt = Callable[["Entry", Callable[..., object], dict[str, Any]], Callable[..., object]]


def init(kind: Kind, text: str, contract: type, *, adapt: Adapt | None = None, **options: Any) -> object:
    """Make a part from what the user typed.

    Args:
        kind: Which role.
        text: `name` or `name:argument`.
        contract: The role's protocol; the part is held against it.
        adapt: Makes a factory of what the entry names, where that may be something else.
        options: Passed to the factory.

    Raises:
        ConfigError: The name is unknown, the part cannot be imported, or it does not take these
            options.
    """
    name, argument = split_name(text)
    if kind in CHAT_ROLES and not _is_installed(kind, name):
        if argument is not None:
            # A chat model of LangChain's, `provider:model`.
            name, argument = "chat", text.strip()
        elif (example := example_of(name)) is not None:
            raise ConfigError(f"{kind} {name!r} names no model.", remedy=f"Write {example}.")
    entry = _find(kind, name)
    factory = load(entry) if adapt is None else adapt(entry, load(entry), options)
    arguments: tuple[str, ...] = ()
    if argument is not None:
        from_string = getattr(factory, "from_string", None)
        if from_string is None:
            raise ConfigError(
                f"{kind} {name!r} has no from_string, so nothing can be given to it after a colon ({argument!r} was).",
                remedy=f"Write {name!r}{_in_python(entry, factory)}.",
            )
        if not argument:
            raise ConfigError(f"{kind} {text!r} has nothing after the colon.", remedy=f"Write {name!r} or '{name}:…'.")
        factory, arguments = from_string, (argument,)
    _check_options(entry, factory, arguments, options)
    try:
        part = factory(*arguments, **options)
    except InterleaveError:
        raise
    except ModuleNotFoundError as error:
        raise missing(entry, error) from error
    except Exception as error:  # whatever a factory raises, the user is told which part it was
        raise _broken(entry, error) from error
    _check_contract(entry, part, contract)
    return part


def init_planner(text: str, **options: Any) -> Planner:
    """Make a planner by name; `provider:model` is a chat model.

    Example:
        >>> init_planner("scene").billed
        False
    """
    part = init("planner", text, Planner, **options)
    assert isinstance(part, Planner)
    return part


def init_critic(text: str, **options: Any) -> Critic:
    """Make a critic by name; `provider:model` is a chat model.

    Example:
        >>> init_critic("pixel").billed
        False
    """
    part = init("critic", text, Critic, **options)
    assert isinstance(part, Critic)
    return part


def init_check(text: str, **options: Any) -> Check:
    """Make a check by name.

    Example:
        >>> init_check("not_blank").name
        'not_blank'
    """
    part = init("check", text, Check, **options)
    assert isinstance(part, Check)
    return part


def missing(entry: Entry, error: ModuleNotFoundError) -> ConfigError:
    """Say what is not installed; with the pip line, when an extra of the same distribution brings it."""
    module = error.name or str(error)
    extra = extra_of(entry, module)
    if extra is None:
        return _broken(entry, error)
    return ConfigError(
        f"{entry.kind} {entry.name!r} needs {module.partition('.')[0]}, which is not installed.",
        remedy=f'Run: pip install "{entry.distribution}[{extra}]"',
    )


def extra_of(entry: Entry, module: str) -> str | None:
    """The smallest extra of the entry's distribution that lists the distribution of `module` by name."""
    wanted = _normal(module)
    extras: dict[str, list[str]] = {}
    for line in (entry.point.dist.requires if entry.point.dist else None) or ():
        match = _REQUIREMENT.match(line)
        if match:
            extras.setdefault(match["extra"], []).append(_normal(match["name"]))
    holding = [
        (len(names), extra)
        for extra, names in extras.items()
        # `import google.genai` fails on `google`, when nothing of that namespace is there.
        if any(name == wanted or wanted.startswith(f"{name}_") or name.startswith(f"{wanted}_") for name in names)
    ]
    return min(holding)[1] if holding else None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _is_installed(kind: Kind, name: str) -> bool:
    return any(entry.name == name for entry in installed(kind))


def _find(kind: Kind, name: str) -> Entry:
    entries = installed(kind)
    for entry in entries:
        if entry.name == name and not entry.shadowed:
            return entry
    names = sorted({entry.name for entry in entries})
    if not names:
        raise ConfigError(
            f"No {kind} {name!r}: none is installed at all.",
            remedy=f"The metadata of {OURS} is missing; install the package with pip rather than by copying it.",
        )
    if name in _ELSEWHERE:
        distribution, how = _ELSEWHERE[name]
        raise ConfigError(
            f"No {kind} {name!r} is installed: it comes with {distribution}.",
            remedy=f"In a copy of this project's repository, run: {how}",
        )
    close = difflib.get_close_matches(name, names, n=1)
    meant = f"Did you mean {close[0]}? " if close else ""
    others = f" Any chat model is one too: {CHAT_MODELS}." if kind in CHAT_ROLES else ""
    raise ConfigError(
        f"No {kind} {name!r} is installed.",
        remedy=f"{meant}Installed: {', '.join(names)}. A plugin adds more with pip.{others}",
    )


def _check_options(
    entry: Entry, factory: Callable[..., object], arguments: tuple[str, ...], options: dict[str, Any]
) -> None:
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # some callables written in C have none
        return
    try:
        signature.bind(*arguments, **options)
    except TypeError as error:
        taken = [
            name
            for name, parameter in signature.parameters.items()
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ][len(arguments) :]
        known = f"Options it takes: {', '.join(taken)}." if taken else "It takes no options."
        lacking = not options and not arguments and bool(taken)
        if lacking and hasattr(factory, "from_string"):
            written = getattr(factory, "written", f"'{entry.name}:…': what it needs stands after the colon")
            known = f"Write {written}. `langgraph-interleave backends {entry.name}` lists its options."
        elif lacking:
            known = f"Its name alone does not do{_in_python(entry, factory)}. {known}"
        raise ConfigError(f"{entry.kind} {entry.name!r}: {error}.", remedy=known) from error


def _in_python(entry: Entry, factory: Callable[..., object]) -> str:
    """How options are given to a part whose name takes no argument."""
    try:
        names = [name for name, one in inspect.signature(factory).parameters.items() if one.kind is not one.VAR_KEYWORD]
    except (TypeError, ValueError):  # some callables written in C have none
        names = []
    if not names:
        return ""
    return f"; in Python: init_{'image_' * (entry.kind == 'backend')}{entry.kind}({entry.name!r}, {names[0]}=…)"


def _check_contract(entry: Entry, part: object, contract: type) -> None:
    if isinstance(part, contract):
        return
    wanted = [name for name in dir(contract) if not name.startswith("_")]
    wanted += [name for name in contract.__annotations__ if name not in wanted]
    lacking = sorted(name for name in wanted if not hasattr(part, name))
    raise ConfigError(
        f"{entry.kind} {entry.name!r} of {entry.distribution} is no {contract.__name__}: "
        f"it lacks {', '.join(lacking)}.",
        remedy="Use another, or ask its authors to meet the contract.",
    )


def keeps_contract(role: str, part: Part, contract: type) -> Part:
    """Hold an object against the Protocol of its role, before anything is spent.

    Raises:
        ConfigError: It lacks a member, which is named; or it is a class where an object is wanted.
    """
    if isinstance(part, type):
        raise ConfigError(
            f"The {role} is the class {part.__name__}, not an object of it.", remedy=f"Write {part.__name__}(...)."
        )
    missing = [name for name in sorted(get_protocol_members(contract)) if not hasattr(part, name)]
    if missing:
        raise ConfigError(
            f"The {role} {type(part).__name__!r} has no {' and no '.join(missing)}.",
            remedy=f"A {role} has what the Protocol {contract.__module__}.{contract.__name__} lists.",
        )
    return part


def _broken(entry: Entry, error: Exception) -> ConfigError:
    return ConfigError(
        f"{entry.kind} {entry.name!r} of {entry.distribution} cannot be used: {type(error).__name__}: {error}.",
        remedy=f"Reinstall or remove {entry.distribution}, or use another {entry.kind}.",
    )
