"""Models in memory: loaded once, shared by whoever names the same weights in the same place."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from langgraph_interleave.background import DaemonThreads
from langgraph_interleave.models.libraries import library
from langgraph_interleave.models.transformers.loading import Weights, configuration, load
from langgraph_interleave.models.transformers.placement import (
    Quantization,
    choose_device,
    choose_dtype,
    free_memory,
)
from langgraph_interleave.models.transformers.prefix import Prefixes

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model as somebody names it: which weights, where, and in which numbers."""

    path: str
    revision: str | None
    identity: str
    device: str
    dtype: str
    quantization: Quantization | None
    slots: int


class Loaded:
    """One model, and its turn: whoever uses it does so in its one thread, one after another.

    Attributes:
        prefixes: Caches of earlier prompts.
    """

    def __init__(self, wanted: Wanted, device: str, dtype: str, config: Any) -> None:
        self._wanted, self._device, self._dtype, self._config = wanted, device, dtype, config
        # A thread of the standard pool would be waited for when the process ends, before it is asked to stop.
        self._thread = DaemonThreads(1, "transformers", stand_in=False)
        self._weights: Weights | None = None
        self.prefixes = Prefixes(wanted.slots)

    def weights(self) -> Weights:
        """The weights, loaded by the first who asks. Only within the model's turn.

        Raises:
            ConfigError: They cannot be loaded.
        """
        if self._weights is None:
            wanted = self._wanted
            self._weights = load(
                wanted.path, wanted.revision, self._config, self._device, self._dtype, wanted.quantization
            )
        return self._weights

    def submit(self, work: Callable[[], _Result]) -> Future[_Result]:
        """Have something done in the model's turn."""
        return self._thread.submit(work)

    def close(self) -> None:
        """Let go of the weights, once what is under way has ended."""
        self._thread.submit(self._forget)
        self._thread.shutdown(wait=False)

    def _forget(self) -> None:
        if self._weights is not None:
            self._weights = None
            self.prefixes.clear()
            if self._device != "cpu":
                # An accelerator's memory stays with torch until it is told.
                free_memory()


@dataclass(slots=True)
class _Entry:
    loaded: Loaded
    holders: int = 0


_Key = tuple[Any, ...]

_entries: dict[_Key, _Entry] = {}
_guard = threading.Lock()
# The garbage collector may come in the middle of anything, whatever locks its thread then holds (those
# of `concurrent.futures` among them): it only leaves word here, and a thread of its own lets go.
_let_go: queue.SimpleQueue[_Key] = queue.SimpleQueue()
_keeper: threading.Thread | None = None


class Lease:
    """Holds a model in memory as long as it exists itself, or until it is closed.

    Copies of a chat model share one.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._held: weakref.finalize[Any, Any] | None = None
        self._loaded: Loaded | None = None
        self._making = threading.Lock()

    def loaded(self) -> Loaded:
        """The model, its weights not necessarily loaded yet. Imports torch: call it in a thread.

        Raises:
            ConfigError: It cannot run here, or there is none.
        """
        with self._making:
            if self._loaded is None:
                key, self._loaded = _acquire(self._wanted)
                self._held = weakref.finalize(self, _let_go.put, key)
                # At its end the process gives everything back by itself, and takes no new work.
                self._held.atexit = False
            return self._loaded

    def close(self) -> None:
        """Let go; the next use loads it again."""
        with self._making:
            held, self._held, self._loaded = self._held, None, None
        left = held.detach() if held is not None else None
        if left is not None:
            _release(left[2][0])


def in_memory() -> int:
    """How many models are held."""
    return len(_entries)


def _acquire(wanted: Wanted) -> tuple[_Key, Loaded]:
    library("transformers")
    config = configuration(wanted.path, wanted.revision)
    device = choose_device(wanted.device, wanted.quantization)
    dtype = choose_dtype(wanted.dtype, device, _stored(config))
    key = (wanted.path, wanted.revision, wanted.identity, device, dtype, wanted.quantization)
    with _guard:
        _watch()
        entry = _entries.get(key)
        if entry is None:
            entry = _entries[key] = _Entry(Loaded(wanted, device, dtype, config))
        entry.holders += 1
        # Whoever wants most slots is given them.
        entry.loaded.prefixes.most = max(entry.loaded.prefixes.most, wanted.slots)
        return key, entry.loaded


def _watch() -> None:
    global _keeper
    if _keeper is None or not _keeper.is_alive():  # not alive: this process was forked
        _keeper = threading.Thread(target=_keep, name="transformers-keeper", daemon=True)
        _keeper.start()


def _keep() -> None:
    while True:
        _release(_let_go.get())


def _release(key: _Key) -> None:
    with _guard:
        entry = _entries.get(key)
        if entry is None:
            return
        entry.holders -= 1
        if entry.holders == 0:
            del _entries[key]
            entry.loaded.close()


def _stored(config: Any) -> str | None:
    for held in (config, getattr(config, "text_config", None)):
        name = str(getattr(held, "dtype", None) or "").removeprefix("torch.")
        if name in ("bfloat16", "float16", "float32"):
            return name
    return None
