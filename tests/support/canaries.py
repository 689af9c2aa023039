"""Keys that are planted everywhere, a listener that hears everything, and the search for the ones in the other."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import pickle
import traceback
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from langchain_core.callbacks import BaseCallbackHandler


class Canaries:
    """One key for each place. None looks like a provider's, so that no pattern recognises it."""

    def __init__(self) -> None:
        self.by_place: dict[str, str] = {}

    def __call__(self, place: str) -> str:
        """The key that is planted in a place."""
        # With what is written differently in addresses, in JSON and in base64.
        sure = hashlib.sha256(f"canary of {place}".encode()).hexdigest()[:20]
        return self.by_place.setdefault(place, f"q{sure}-{len(self.by_place)}z")

    def found_in(self, data: bytes, *, known: frozenset[str] = frozenset()) -> set[str]:
        """The places whose keys are in it: plainly, encoded for an address, or in base64 at any offset."""
        return {
            place
            for place, key in self.by_place.items()
            if place not in known and any(form in data for form in _forms(key))
        }


def _forms(key: str) -> Iterator[bytes]:
    yield key.encode()
    yield quote(key, safe="").encode()
    for before in range(3):
        # The groups of four that hold nothing but the key, wherever it begins in a group.
        encoded = base64.b64encode(b" " * before + key.encode())
        yield encoded[4 if before else 0 : (before + len(key)) // 3 * 4]


class Heard(BaseCallbackHandler):
    """Hears all there is to hear: logs of every logger, warnings, callbacks, and what it is given."""

    raise_error = True

    def __init__(self) -> None:
        self.parts: list[tuple[str, bytes]] = []
        self.traced = 0

    def note(self, where: str, value: object) -> None:
        """Keep everything that a value can be read as."""
        texts = [value if isinstance(value, str) else "", repr(value), str(value)]
        try:
            texts.append(json.dumps(value, default=vars_of))
        except (TypeError, ValueError, RecursionError):
            texts.append(repr(vars_of(value)))
        if isinstance(value, BaseException):
            texts.append("".join(traceback.format_exception(value)))
            texts += [repr(vars_of(link)) for link in chain(value)]
            texts += [repr(vars_of(part)) for link in chain(value) for part in vars(link).values()]
        data = "\n".join(texts).encode("utf-8", "replace")
        if isinstance(value, bytes):
            data += value
        with suppress(Exception):  # what cannot be pickled is not kept so
            data += pickle.dumps(value)
        self.parts.append((where, data))

    def file(self, path: Path) -> None:
        """Keep the bytes of a file, or of all files below a folder, and their names."""
        for one in [path] if path.is_file() else sorted(path.rglob("*")):
            self.parts.append((f"file {one.name}", str(one).encode() + (one.read_bytes() if one.is_file() else b"")))

    def leaks(self, canaries: Canaries, *, known: frozenset[str] = frozenset()) -> list[str]:
        """Where which key was heard."""
        return sorted(
            {f"{place} in {where}" for where, data in self.parts for place in canaries.found_in(data, known=known)}
        )

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_"):

            def heard(*args: Any, **kwargs: Any) -> None:
                self.traced += len(repr((args, kwargs)))
                for each in (*args, *kwargs.values()):
                    self.note(name, each)

            return heard
        return super().__getattribute__(name)


def chain(error: BaseException) -> list[BaseException]:
    """An exception and what it is chained to."""
    links: list[BaseException] = []
    todo: list[BaseException | None] = [error]
    while todo:
        link = todo.pop()
        if link is not None and link not in links:
            links.append(link)
            todo += [link.__cause__, link.__context__]
    return links


def vars_of(value: object) -> object:
    """The attributes of an object, with the words of those that hide theirs."""
    held = getattr(value, "__dict__", None)
    if not isinstance(held, dict):
        return repr(value)
    told = {name: repr(inner) for name, inner in held.items()}
    for name in ("headers", "content", "url", "text"):
        with suppress(Exception):  # a body that was never read
            inner = getattr(value, name, None)
            told[f"its {name}"] = repr(dict(inner) if name == "headers" else inner) if inner else ""
    return told


@contextmanager
def listening() -> Generator[Heard]:
    """Hear the logs of all loggers at DEBUG, and the warnings, inside."""
    heard = Heard()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.note(f"log {record.name}", logging.Formatter("%(message)s %(exc_text)s").format(record))
            heard.note(f"log {record.name}", repr(record.args))

    handler, root = Handler(), logging.getLogger()
    names = list(logging.root.manager.loggerDict)
    before = {name: logging.getLogger(name).level for name in ["", *names]}
    for name in before:
        logging.getLogger(name).setLevel(logging.DEBUG)
    root.addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield heard
        for warning in warned:
            heard.note("warning", str(warning.message))
    finally:
        root.removeHandler(handler)
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
