"""Prompt templates: `string.Template` files, checked when they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from langgraph_interleave.errors import ConfigError

#: Version of the built-in templates: the folder they are in.
VERSION = "v1"

#: Every template, and the placeholders it has. A replacement may leave out those in brackets of its own judgement,
#: but never use one that is not filled.
_FIELDS: dict[str, frozenset[str]] = {
    "planner": frozenset(),
    "planner_structured": frozenset(),
    "planner_tagged": frozenset(),
    "planner_facts": frozenset({"generator", "steps", "language", "style", "pictures"}),
    "planner_change": frozenset(),
    "planner_change_structured": frozenset(),
    "planner_change_tagged": frozenset(),
    "planner_change_plan": frozenset({"title", "style", "steps"}),
    "planner_change_wanted": frozenset(),
    "planner_again": frozenset({"reason", "shorter"}),
    "rephrase": frozenset({"prompt", "reason"}),
    "critic": frozenset(),
    "critic_structured": frozenset(),
    "critic_tagged": frozenset(),
    "critic_style": frozenset({"style"}),
    "critic_step": frozenset({"instruction"}),
    "critic_attempt": frozenset({"number", "prompt", "checks"}),
    "critic_earlier": frozenset({"verdict", "reasoning"}),
    "critic_again": frozenset({"reason"}),
    "svg": frozenset(),
    "svg_draw": frozenset({"prompt", "size", "pictures"}),
    "svg_edit": frozenset({"drawing", "prompt", "size", "pictures"}),
    "svg_again": frozenset({"reason"}),
}


class Prompts:
    """A set of templates, all of them present and each with known placeholders only.

    Attributes:
        version: Version of the built-in set, with a digest of what was replaced; part of every
            fingerprint, so that an answer to other words is never taken for an answer to these.

    Example:
        >>> Prompts.builtin().fill("critic_again", reason="No verdict.").splitlines()[0]
        'That answer cannot be used. No verdict.'
    """

    def __init__(self, texts: Mapping[str, str], *, version: str) -> None:
        self._texts = dict(texts)
        self.version = version

    def __repr__(self) -> str:
        return f"Prompts({self.version!r})"

    @classmethod
    def builtin(cls) -> Prompts:
        """The templates that come with this package."""
        return _builtin()

    @classmethod
    def folder(cls, path: str | Path) -> Prompts:
        """The built-in templates, with those replaced that are in a folder as `<name>.txt`.

        Raises:
            ConfigError: The folder is not there, a file is no template of ours, or one has a
                placeholder that is never filled.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise ConfigError(
                f"There is no prompt folder {str(path)!r}.", remedy="Give a folder with <name>.txt files."
            )
        own: dict[str, str] = {}
        for file in sorted(folder.glob("*.txt")):
            if file.stem not in _FIELDS:
                raise ConfigError(
                    f"{file.name} in {str(path)!r} is no prompt template.", remedy=f"Known: {', '.join(_FIELDS)}."
                )
            try:
                own[file.stem] = file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(f"{file} cannot be read: {error}.", remedy="It must be UTF-8 text.") from error
            _check(file.stem, own[file.stem], str(file))
        if not own:
            raise ConfigError(
                f"There is no template in {str(path)!r}.", remedy=f"Name them {', '.join(f'{n}.txt' for n in _FIELDS)}."
            )
        digest = hashlib.sha256(repr(sorted(own.items())).encode()).hexdigest()[:12]
        return cls({**_builtin()._texts, **own}, version=f"{VERSION}+{digest}")

    @classmethod
    def given(cls, prompts: Prompts | str | Path | None) -> Prompts:
        """Templates as they are, those of a folder, or the built-in ones.

        Raises:
            ConfigError: As `folder`.
        """
        if isinstance(prompts, Prompts):
            return prompts
        return cls.builtin() if prompts is None else cls.folder(prompts)

    def fill(self, name: str, **values: object) -> str:
        """A template with its placeholders filled; what is filled in is never read as a template itself.

        Raises:
            KeyError: There is no such template, or a placeholder has no value.
        """
        return Template(self._texts[name]).substitute({key: str(value) for key, value in values.items()})


@cache
def _builtin() -> Prompts:
    folder = files("langgraph_interleave.prompts") / VERSION
    texts = {name: (folder / f"{name}.txt").read_text(encoding="utf-8").strip() for name in _FIELDS}
    digest = hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()[:8]
    return Prompts(texts, version=f"{VERSION}-{digest}")


def _check(name: str, text: str, where: str) -> None:
    template = Template(text)
    if not template.is_valid():
        raise ConfigError(f"{where} has a lone '$'.", remedy="Write '$$' for a dollar sign.")
    unknown = set(template.get_identifiers()) - _FIELDS[name]
    if unknown:
        known = ", ".join(f"${field}" for field in sorted(_FIELDS[name])) or "none"
        raise ConfigError(
            f"{where} has the placeholder{'s' if len(unknown) > 1 else ''} "
            f"{', '.join(f'${field}' for field in sorted(unknown))}, never filled.",
            remedy=f"Placeholders of {name}: {known}.",
        )
