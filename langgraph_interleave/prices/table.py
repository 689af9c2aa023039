"""The table of prices: the built-in one, what users add to it, and how a model's name finds its row."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, cast, runtime_checkable

from pydantic import ValidationError

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.prices.price import Price, Rates
from langgraph_interleave.types.usage import Usage

#: Names a file of the user's own prices, or holds them as JSON, for `Prices.default`.
ENVIRONMENT = "LANGGRAPH_INTERLEAVE_PRICES"

#: Prefixes of a name that say whose model it is, by the provider of its row.
_PREFIXES: Mapping[str, frozenset[str]] = {
    "openai": frozenset({"openai"}),
    "anthropic": frozenset({"anthropic"}),
    "google": frozenset({"google", "google_genai", "google-genai", "gemini", "models"}),
}
_PREFIX = re.compile(r"^(?P<provider>[^/:]+)[/:](?P<rest>.+)$")
#: What people write for a field, where its own name is not near.
_MEANT: Mapping[str, str] = {
    "cached": "cached_input", "completion": "output", "image": "picture", "images": "picture", "per_image": "picture",
    "per_picture": "picture", "price": "picture", "prompt": "input",
}  # fmt: skip
#: The date of a snapshot at the end of a name: -2026-04-21 or -20251001.
_DATED = re.compile(r"-20\d{2}(?P<dash>-?)(?:0[1-9]|1[0-2])(?P=dash)(?:0[1-9]|[12]\d|3[01])$")


_DOTTED = 'A model with a dot in its name is written ["{}"].'
_FIELDS = (
    'A table such as ["my-model"] holds US dollars: picture for each picture drawn; or per million tokens '
    f"{', '.join(name for name in Rates.model_fields if name != 'picture')}. "
    f"Besides: {', '.join(name for name in Price.model_fields if name not in Rates.model_fields)}."
)


@runtime_checkable
class Costs(Protocol):
    """Who knows prices, as `Prices` does."""

    def cost(self, model: str, usage: Usage) -> float | None:
        """US dollars for one call, or `None` when the model's price is not known."""
        ...


class Prices:
    """Prices by model name.

    A name finds the row of exactly that name; else, without the date of a snapshot
    (`gpt-5-2025-08-07`) and without the prefix of the row's own provider (`openai/…`, `openai:…`),
    the row of that name. It never finds a cousin's: `gpt-5-mini` is not `gpt-5`, and a model
    resold by somebody else (`groq:…`) is not the provider's. The prices are those for ordinary
    requests, without batch, priority or regional tariffs, taxes, and what providers charge for
    writing to a cache. Not guaranteed: that a price is still the one charged.

    Args:
        rows: Prices by name.
        day: The day prices are asked for; today by default.

    Example:
        >>> prices = Prices.builtin().merged({"my-model": {"input": 2, "output": 8}})
        >>> prices.cost("my-model", Usage(input_tokens=500_000, output_tokens=250_000))
        3.0
        >>> prices.cost("nobody-knows", Usage(input_tokens=1)) is None
        True
    """

    def __init__(self, rows: Mapping[str, Price] | None = None, *, day: date | None = None) -> None:
        self._rows = MappingProxyType(dict(rows or {}))
        self._day = day
        self._names: dict[str, str] = {}
        for name, price in self._rows.items():
            for alias in price.aliases:
                self._names.setdefault(_folded(alias), name)
        # A row's own name goes before another's alias.
        self._names.update({_folded(name): name for name in self._rows})

    @staticmethod
    def builtin() -> Prices:
        """Prices of OpenAI, Google and Anthropic as their public price pages had them; each row has its date."""
        return _builtin()

    @staticmethod
    def default() -> Prices:
        """The built-in prices, with those over them that `LANGGRAPH_INTERLEAVE_PRICES` names: a file, or JSON itself.

        Raises:
            ConfigError: That file cannot be read.
        """
        own = os.environ.get(ENVIRONMENT, "").strip()
        if own.startswith("{"):
            return _builtin().merged(_parse_json(own, ENVIRONMENT))
        return _builtin().merged(own) if own else _builtin()

    def merged(self, other: Prices | Mapping[str, Price | Mapping[str, Any]] | str | os.PathLike[str]) -> Prices:
        """These prices with others over them; a row replaces the row of the same name as a whole.

        Args:
            other: Prices, a mapping from name to the fields of `Price`, or a TOML or JSON file of such tables.

        Raises:
            ConfigError: The file cannot be read, or a row is not a price; it is named.
        """
        if isinstance(other, Prices):
            rows: Mapping[str, Price] = other._rows
        elif isinstance(other, Mapping):
            rows = {name: _price(name, row, "The prices given") for name, row in other.items()}
        else:
            rows = read_prices(Path(other))
        # Every name of theirs is theirs, an alias as well.
        taken = {_folded(name) for own, row in rows.items() for name in (own, *row.aliases)}
        left = {
            name: row.model_copy(update={"aliases": tuple(one for one in row.aliases if _folded(one) not in taken)})
            for name, row in self._rows.items()
            if _folded(name) not in taken
        }
        return Prices({**left, **rows}, day=self._day)

    def on(self, day: date) -> Prices:
        """The same prices, as of another day than today."""
        return Prices(self._rows, day=day)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all rows, in order."""
        return tuple(self._rows)

    @property
    def rows(self) -> Mapping[str, Price]:
        """All rows by name, whatever the day."""
        return self._rows

    def of(self, model: str) -> Price | None:
        """The price of a model; `None` when it is not known, or not for this day."""
        name = self._find(model)
        day = self._day or datetime.now(UTC).date()
        return None if name is None else self._rows[name].on(day)

    def cost(self, model: str, usage: Usage) -> float | None:
        """What one call cost, in US dollars. A cost the provider reported itself goes before the table.

        Args:
            model: As the provider, LangChain or a router calls it.
            usage: Of one call.

        Returns:
            The cost; `None`, never 0, when model or rate is unknown or the usage tells of nothing.
        """
        if usage.cost_usd is not None:
            return usage.cost_usd
        price = self.of(model)
        return None if price is None else price.cost(usage)

    def priced(self, model: str, usage: Usage) -> Usage:
        """The usage with its cost, where that is known; else as it is."""
        cost = self.cost(model, usage)
        return usage if cost is None else usage.model_copy(update={"cost_usd": cost})

    def _find(self, model: str) -> str | None:
        rest = _folded(model)
        prefixes: list[str] = []
        while True:
            found = self._names.get(rest) or self._names.get(_DATED.sub("", rest))
            if found is not None:
                provider = self._rows[found].provider
                own = _PREFIXES.get(provider, frozenset({provider}))
                return found if own.issuperset(prefixes) else None
            match = _PREFIX.match(rest)
            if match is None:
                return None
            prefixes.append(match["provider"])
            rest = match["rest"]


def read_prices(path: Path) -> dict[str, Price]:
    """Read a TOML file, or a JSON one by its ending: one table per model, with the fields of `Price`.

    Raises:
        ConfigError: It cannot be read, or a table is not a price.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The prices in {path} cannot be read: {getattr(error, 'strerror', None) or error}.",
            remedy=f"Name a TOML or JSON file, in the call or in {ENVIRONMENT}.",
        ) from error
    return _parse_json(text, str(path)) if path.suffix.lower() == ".json" else _parse(text, str(path))


def _parse_json(text: str, where: str) -> dict[str, Price]:
    try:
        tables: object = json.loads(text)
    except ValueError as error:
        raise ConfigError(
            f"{where} is not JSON: {error}.", remedy='Write {"my-model": {"input": 2, "output": 8}}.'
        ) from error
    if not isinstance(tables, dict):
        raise ConfigError(f"{where} holds no table of prices.", remedy='Write {"my-model": {"input": 2, "output": 8}}.')
    return {name: _price(name, table, where) for name, table in cast("dict[str, object]", tables).items()}


def _parse(text: str, where: str) -> dict[str, Price]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where} is not TOML: {error}.", remedy=_DOTTED.format("gpt-5.4-mini")) from error
    return {name: _price(name, table, where) for name, table in tables.items()}


def _price(name: str, row: object, where: str) -> Price:
    if isinstance(row, Price):
        return row
    try:
        return Price.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        unknown = first["type"] == "extra_forbidden"
        dotted = unknown and isinstance(first["input"], Mapping)
        raise ConfigError(
            f"{where}: the price of {name!r} is not one: {f'{field}: ' if field else ''}"
            f"{'there is no such field' if unknown else first['msg']}.",
            remedy=f"{_DOTTED.format(f'{name}.{field}')} " * dotted + _near(field) * unknown + _FIELDS,
        ) from error


def _near(field: str) -> str:
    """The field that was meant, perhaps, by one that is none."""
    name = field.rpartition(".")[2]
    close = [_MEANT[name]] if name in _MEANT else difflib.get_close_matches(name, Price.model_fields, n=1)
    return f"Did you mean {close[0]}? " if close else ""


@cache
def _builtin() -> Prices:
    text = files("langgraph_interleave.prices").joinpath("prices.toml").read_text(encoding="utf-8")
    return Prices(_parse(text, "prices.toml"))


def _folded(name: str) -> str:
    return name.strip().lower()
