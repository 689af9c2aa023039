"""One pipeline for all who use it: one lock, one queue, what was encoded before."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from langgraph_interleave import ending
from langgraph_interleave.backends.diffusers.drawing import Outcome, draw
from langgraph_interleave.backends.diffusers.families import Family
from langgraph_interleave.backends.diffusers.hardware import choose
from langgraph_interleave.backends.diffusers.jobs import Job, together
from langgraph_interleave.backends.diffusers.loading import Recipe, load, place
from langgraph_interleave.backends.diffusers.probe import family_of
from langgraph_interleave.backends.diffusers.prompts import Encoded
from langgraph_interleave.errors import BadResponse, CallError, Cancelled, ConfigError, InvalidRequest, Unavailable
from langgraph_interleave.models.transformers.placement import free_memory, is_out_of_memory

#: How long the first of several requests waits for the others of its moment, in seconds.
GATHER_S = 0.01


class _Lock:
    """A lock that keeps alive what it locks, so that its identity is nobody else's meanwhile."""

    def __init__(self, locked: Any) -> None:
        self.locked = locked
        self.lock = threading.Lock()


class SharedPipeline:
    """A loaded pipeline with its queue. Made by `shared` and `loaded`, which give everybody the same.

    Its calls are made one after another by a thread that lives while anything waits: pipelines keep
    the state of a drawing in themselves and in their scheduler.

    Args:
        pipe: The pipeline.
        name: Where it comes from.

    Raises:
        ConfigError: It cannot be called from words.
    """

    def __init__(self, pipe: Any, name: str) -> None:
        self.pipe = pipe
        self.name = name
        self.family: Family = family_of(pipe, name)
        self.encoded = Encoded()
        self.most = 1 << 30
        self.calls = 0
        # Pipelines made from one another share their scheduler.
        self._turn = _lock_of(getattr(pipe, "scheduler", None) or pipe)
        self._guard = threading.Lock()
        self._waiting: list[Job] = []
        self._working = False
        self._placed: tuple[str, str | None] | None = None

    def place(self, recipe: Recipe) -> None:
        """Put a pipeline object where it runs: where it is, unless a device or offloading is asked for.

        Raises:
            ConfigError: The device is not there, or it was placed in another way before.
        """
        asked = (recipe.offload, recipe.device)
        with self._turn.lock:
            if asked == ("none", None):
                self.pipe.set_progress_bar_config(disable=True)
                return
            if self._placed is None:
                place(self.pipe, choose(recipe.device, None, recipe.offload), recipe)
                self._placed = asked
            elif self._placed != asked:
                raise ConfigError(
                    f"{self.name} was placed with offload={self._placed[0]!r}, device={self._placed[1]!r} before.",
                    remedy="Give every backend over one pipeline the same.",
                )

    def submit(self, job: Job) -> None:
        """Have a job drawn, together with others of the same look."""
        with self._guard:
            self._waiting.append(job)
            if self._working:
                return
            self._working = True
        threading.Thread(target=self._work, args=(job.look.most,), name="interleave-diffusers", daemon=True).start()

    def leave(self, job: Job) -> None:
        """Nobody waits for a job any more: it is not begun, or stopped after the step under way."""
        job.left = True
        with self._guard:
            if job in self._waiting:
                self._waiting.remove(job)
                job.future.cancel()

    def _work(self, most: int) -> None:
        if most > 1:
            time.sleep(GATHER_S)
        while True:
            with self._guard:
                if not self._waiting:
                    self._working = False
                    return
                shared = self.family.batch == "shared_references"
                limit = 1 if self.family.batch == "none" else min(self._waiting[0].look.most, self.most)
                batch = together(self._waiting, limit, with_references=shared)
                self._waiting = [job for job in self._waiting if job not in batch]
            batch = [job for job in batch if job.future.set_running_or_notify_cancel()]
            if batch:
                with ending.computing(stops=True):
                    self._draw(batch)
            # A job, its pictures and its error live no longer than whoever waits for them.
            del batch

    def _draw(self, batch: list[Job]) -> None:
        with self._turn.lock:
            try:
                self._settle(batch, self._drawn(batch, most=min(batch[0].look.most, self.most)))
                return
            except BaseException as error:  # noqa: BLE001 - belongs to those who wait; some libraries panic with these
                failed = self._recovered(error)
            if failed is not None and len(batch) > 1 and not isinstance(failed, Cancelled):
                # One of them cannot be drawn, perhaps: who it is shows when each is drawn alone.
                for job in batch:
                    self._alone(job)
                return
            if failed is not None:
                for job in batch:
                    job.fail(failed)
                return
            # Out of memory. What was held is free now: once more, one picture at a time.
            self.most = max(1, min(self.most, sum(len(job.seeds) for job in batch) // 2))
            for job in batch:
                self._alone(job)

    def _alone(self, job: Job) -> None:
        if job.future.done():
            return
        try:
            self._settle([job], self._drawn([job], most=1))
        except BaseException as error:  # noqa: BLE001 - belongs to who waits
            job.fail(self._recovered(error) or _no_memory(self.name, job))

    def _drawn(self, batch: list[Job], *, most: int) -> list[Outcome]:
        self.calls += 1
        return draw(self.pipe, self.family, batch, self.encoded, name=self.name, most=most)

    @staticmethod
    def _settle(batch: list[Job], outcomes: list[Outcome]) -> None:
        for job, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, CallError):
                job.fail(outcome)
            elif not job.future.done():
                job.future.set_result(outcome)

    def _recovered(self, error: BaseException) -> Exception | None:
        """Make the pipeline ready for its next call; the error that whoever waits is told, `None` for memory."""
        with contextlib.suppress(AttributeError):
            # What was moved onto the accelerator for the call that broke off goes back.
            self.pipe.maybe_free_model_hooks()
        if is_out_of_memory(error):
            # Its frames hold the tensors there was no room for.
            error.__traceback__ = None
            error.__context__ = None
            free_memory()
            return None
        # Whoever keeps the error must not keep the tensors of its frames.
        traceback.clear_frames(error.__traceback__)
        if isinstance(error, CallError):
            return error
        brief = " ".join(str(error).split())[:300]
        ours: CallError
        if isinstance(error, ValueError):
            ours = InvalidRequest(
                f"{self.name} does not draw this: {brief}", remedy="Change size, pictures or options."
            )
        else:
            ours = BadResponse(
                f"{self.name} broke off: {type(error).__name__}: {brief}",
                remedy="Draw again; if it stays so, the model, its options or the device do not fit together.",
                ambiguous=False,
            )
        ours.__cause__ = error
        return ours


def _no_memory(name: str, job: Job) -> Unavailable:
    width, height = job.look.size
    return Unavailable(
        f"{name} has not enough memory for a picture of {width}x{height}.",
        remedy="Ask for a smaller one, or use offload=model or sequential, or quantization=fp8.",
        code="out_of_memory",
    )


_registry = threading.Lock()
_locks: WeakValueDictionary[int, _Lock] = WeakValueDictionary()
_by_object: WeakValueDictionary[int, SharedPipeline] = WeakValueDictionary()
_by_recipe: WeakValueDictionary[Recipe, SharedPipeline] = WeakValueDictionary()
_loading: WeakValueDictionary[Recipe, _Lock] = WeakValueDictionary()


def _lock_of(locked: Any) -> _Lock:
    return _locks.setdefault(id(locked), _Lock(locked))


def shared(pipe: Any, name: str) -> SharedPipeline:
    """What everybody who uses a pipeline object shares."""
    with _registry:
        found = _by_object.get(id(pipe))
        if found is None:
            found = _by_object[id(pipe)] = SharedPipeline(pipe, name)
        return found


def loaded(recipe: Recipe, name: str, loader: Callable[[Recipe], Any] = load) -> SharedPipeline:
    """The pipeline of a recipe, loaded if nobody has it yet; whoever asks meanwhile waits for the same."""
    with _registry:
        turn = _loading.setdefault(recipe, _Lock(recipe))
    with turn.lock:
        with _registry:
            found = _by_recipe.get(recipe)
        if found is None:
            made = shared(loader(recipe), name)
            with _registry:
                found = _by_recipe[recipe] = made
        return found
