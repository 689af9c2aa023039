"""`langgraph-interleave run`: one request to one document in a folder."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.drawing import choose_backend
from langgraph_interleave.cli.folder import STORE, TRAJECTORY, Place, choose_folder, run_id, shown
from langgraph_interleave.cli.money import hint_of
from langgraph_interleave.cli.pipe import mute, quietly
from langgraph_interleave.cli.preflight import check_roles
from langgraph_interleave.cli.rescue import rescue
from langgraph_interleave.cli.screen import Screen, can_redraw, open_screen
from langgraph_interleave.cli.wording import json_line, one_line
from langgraph_interleave.content import image_block, read_request
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.document import Document
from langgraph_interleave.errors import ConfigError, InterleaveError, InternalError
from langgraph_interleave.events import Event, to_dict
from langgraph_interleave.imaging import load_image
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.references import References
from langgraph_interleave.registry import init_critic, init_planner
from langgraph_interleave.segments import read_event
from langgraph_interleave.types import ImageBytes, OnExhausted

EXIT = {"complete": 0, "partial": 3, "waiting": 3, "failed": 1, "cancelled": 130}
#: A run that was asked to stop is given this long to compose its document, in seconds.
_STOP_S = 1.0
_TICK_S = 0.1


@dataclass(frozen=True, slots=True)
class Options:
    """What the user typed. `None` means: not given."""

    request: str
    images: tuple[Path, ...] = ()
    steps: int | None = None
    out: Path | None = None
    max_attempts: int | None = None
    max_images: int | None = None
    max_calls: int | None = None
    max_seconds: float | None = None
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
    lookahead: bool | None = None
    estimate: bool = False
    events: bool = False
    open_page: bool = True

    @property
    def limits(self) -> Limits:
        """The caps, with the defaults of those not given."""
        given: dict[str, Any] = {
            "max_attempts": self.max_attempts,
            "max_images": self.max_images,
            "max_calls": self.max_calls,
            "max_seconds": self.max_seconds,
        }
        return Limits(**{name: value for name, value in given.items() if value is not None})


@dataclass(slots=True)
class Job:
    """A run made ready: its id, its folder, its graph and its input."""

    run: str
    place: Place
    artifacts: ArtifactStore
    graph: Any
    blocks: list[dict[str, Any]]
    context: InterleaveContext
    free: bool
    #: Of servers that may cost nothing.
    hint: str = ""
    document: dict[str, Any] | None = None
    #: What ended the run before its time; raised once the document is written.
    fault: Exception | None = None
    #: Asked to stop by the user.
    stopped: bool = False


def run(options: Options, *, working: Path | None = None) -> int:
    """Make the document and say how it went.

    Args:
        options: What the user typed.
        working: Folder that relative paths are relative to; the process's own by default.

    Returns:
        The exit code: 0 complete, 3 partial or waiting, 1 failed, 130 cancelled.

    Raises:
        InterleaveError: Nothing was made: an option, a file or the request is wrong.
    """
    working = working or Path.cwd()
    if options.estimate:
        return estimate(options)
    job = prepare(options, working)
    screen = open_screen(events=options.events, free=job.free)
    try:
        if job.place.note:
            screen.say(job.place.note)
        if job.hint:
            screen.say(job.hint)
        with _trajectory(job) as record:
            asyncio.run(_follow(job, screen, record))
    except ConfigError:
        job.place.clear()
        raise
    except BrokenPipeError:
        # Whoever read our output has gone: that is a way to say stop.
        job.stopped = True
        mute()
    except Exception as error:  # noqa: BLE001 - raised again, once what exists is written
        job.fault = error
    finally:
        if job.document is None and screen.progress.outcome is None:
            screen.progress.outcome = "failed" if job.fault else "cancelled"
        # Whatever happened, the terminal is given back.
        quietly(screen.finish)
    _refuse_unspent(job)
    return _deliver(job, screen, options, working)


def estimate(options: Options) -> int:
    """Say what the run may take; nothing is spent and nothing written."""
    from langgraph_interleave.choose import choose_roles
    from langgraph_interleave.estimate import TYPICAL_STEPS, describe, estimate_run
    from langgraph_interleave.prices import Prices
    from langgraph_interleave.world.planning.wishes import take_count

    roles = choose_roles(options.planner, choose_backend(options.backend), options.critic, limits=options.limits)
    count = options.steps or take_count(options.request)[1]
    expected = estimate_run(
        count or TYPICAL_STEPS,
        limits=options.limits,
        planner=roles.planner,
        backend=roles.backend,
        critic=roles.critic,
        prices=Prices.default(),
    )
    sys.stdout.write(describe(expected) + "\n")
    typed = (options.planner, roles.planner), (options.backend, roles.backend), (options.critic, roles.critic)
    if hint := hint_of(*typed):
        sys.stdout.write(f"{hint}\n")
    if count is None:
        sys.stdout.write(f"{TYPICAL_STEPS} steps are assumed; --steps says how many.\n")
    if options.references == "sheet":
        sys.stdout.write("Where the plan names characters, their sheet is one drawing more.\n")
    return 0


def prepare(options: Options, working: Path) -> Job:
    """Load the pictures, choose the folder, make the graph."""
    from langgraph_interleave.graph import create_interleave_graph

    backend = choose_backend(options.backend)
    planner = init_planner(options.planner) if options.planner else None
    critic = init_critic(options.critic) if options.critic else None
    billed = backend.capabilities.billed or any(part.billed for part in (planner, critic) if part is not None)
    pictures = [(load_image(working / path), path.name) for path in options.images]
    identity = _identity(options, [picture for picture, _ in pictures])
    run = run_id(identity)
    place = choose_folder(options.out, request=options.request, run=run, working=working)
    artifacts = ArtifactStore.folder(place.folder / STORE)
    try:
        graph = create_interleave_graph(
            planner,
            backend,
            critic,
            limits=options.limits,
            ledger=Ledger(artifacts, grace_s=0),
            on_exhausted=options.on_exhausted,
            lookahead=options.lookahead,
        )
        blocks: list[dict[str, Any]] = [{"type": "text", "text": options.request}]
        blocks += [image_block(artifacts.put_image(picture), name=name) for picture, name in pictures]
        # What is refused is refused before anything is shown.
        read_request(blocks, artifacts)
        if not artifacts.list_calls(run):
            check_roles([part for part in (planner, backend, critic) if part is not None])
        context = InterleaveContext(
            steps=options.steps,
            size=options.size,
            seed=options.seed,
            language=options.language,
            style=options.style,
            references=options.references,
            anchor_inputs=options.anchor_inputs,
            reanchor_every=options.reanchor_every,
            style_in_prompts=options.style_in_prompts,
            run_id=run,
        )
    except InterleaveError:
        place.clear()
        raise
    hint = hint_of((options.planner, planner), (options.backend, backend), (options.critic, critic))
    return Job(run, place, artifacts, graph, blocks, context, free=not billed, hint=hint)


def _identity(options: Options, pictures: list[ImageBytes]) -> dict[str, Any]:
    drawn_from = {
        "references": options.references,
        "anchor_inputs": options.anchor_inputs,
        "reanchor_every": options.reanchor_every,
        "style_in_prompts": options.style_in_prompts,
    }
    default = Options("")
    return {
        "request": options.request,
        "images": [picture.sha256 for picture in pictures],
        "seed": options.seed,
        "steps": options.steps,
        "size": options.size,
        "language": options.language,
        "style": options.style,
        "roles": [options.planner, options.backend, options.critic],
        # What is as it always was is left out: folders made before these were options hold the same run.
        **{name: value for name, value in drawn_from.items() if value != getattr(default, name)},
    }


@contextlib.contextmanager
def _trajectory(job: Job) -> Generator[TextIO]:
    """The file of events; each is on disk as soon as it happened. The run's call records come last."""
    with (job.place.folder / TRAJECTORY).open("w", encoding="utf-8", errors="backslashreplace") as file:
        try:
            yield file
        finally:
            for call in job.artifacts.list_calls(job.run):
                file.write(json_line({"type": "interleave.call", "run_id": job.run, **call}) + "\n")


async def _follow(job: Job, screen: Screen, record: TextIO) -> None:
    """Run the graph to its end, or to the user's."""
    screen.start()
    running = asyncio.create_task(_stream(job, screen, record))
    ticking = asyncio.create_task(_tick(screen))
    try:
        with _stopping(job, screen, running):
            await running
    except asyncio.CancelledError:
        job.stopped = True
    finally:
        ticking.cancel()


async def _stream(job: Job, screen: Screen, record: TextIO) -> None:
    parts: AsyncIterator[Any] = job.graph.astream(
        {"request": job.blocks},
        context=job.context,
        stream_mode=["custom", "values"],
        version="v2",
        subgraphs=True,
    )
    try:
        async for part in parts:
            event = read_event(part)
            if event is not None:
                _tell(event, screen, record)
            elif part["type"] == "values" and not part["ns"]:
                job.document = part["data"].get("document") or job.document
    except InternalError as error:
        job.fault, job.document = error, dict(error.document) if error.document else None


def _tell(event: Event, screen: Screen, record: TextIO) -> None:
    record.write(json_line(to_dict(event)) + "\n")
    record.flush()
    screen.event(event)


async def _tick(screen: Screen) -> None:
    while True:
        screen.tick()
        await asyncio.sleep(_TICK_S)


@contextlib.contextmanager
def _stopping(job: Job, screen: Screen, running: asyncio.Task[None]) -> Generator[None]:
    """While inside, Ctrl-C (and SIGTERM) stop the run in good order; a second one ends it at once."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if job.stopped:
            running.cancel()
            return
        job.stopped = True
        quietly(lambda: screen.say("stopping; what exists is kept"))
        loop.call_later(_STOP_S, running.cancel)
        _stop_run(job, running)

    with _handled((signal.SIGINT, signal.SIGTERM), stop, loop):
        yield


def _stop_run(job: Job, running: asyncio.Task[None]) -> None:
    from langgraph_interleave.runs import stop_run

    if not stop_run(job.run):
        running.cancel()


@contextlib.contextmanager
def _handled(
    signals: tuple[signal.Signals, ...], call: Callable[[], None], loop: asyncio.AbstractEventLoop
) -> Generator[None]:
    """Handle signals on the loop; where loops cannot (Windows), in the main thread."""
    before = {number: signal.getsignal(number) for number in signals}
    for number in signals:
        try:
            loop.add_signal_handler(number, call)
        except (NotImplementedError, RuntimeError):
            with contextlib.suppress(ValueError):  # not the main thread: signals are somebody else's
                signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))
    try:
        yield
    finally:
        for number, handler in before.items():
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(number)
            with contextlib.suppress(ValueError, TypeError):
                signal.signal(number, handler)


def _refuse_unspent(job: Job) -> None:
    """A run that was refused before it cost anything is an error like any other, and leaves nothing.

    Raises:
        ConfigError: The planner's model, key or address is wrong.
    """
    data = job.document or {}
    problem: dict[str, str] = data.get("problem") or {}
    if problem.get("error") == "ConfigError" and not data["spend"]["calls"]:
        job.place.clear()
        raise ConfigError(problem["message"], remedy=problem.get("remedy", ""))


def _deliver(job: Job, screen: Screen, options: Options, working: Path) -> int:
    """Write the document, say where it is, and give the exit code."""
    data = job.document
    if data is None:
        request = read_request(job.blocks, job.artifacts)
        outcome = "failed" if job.fault else "cancelled"
        rescued = rescue(screen.progress, request, job.artifacts, run_id=job.run, outcome=outcome)
        data = rescued.model_dump(mode="json", exclude_none=True)
    document = Document.load(data, job.artifacts)
    document.save(job.place.folder)
    problem = document.data.problem
    if problem is not None:
        quietly(lambda: screen.say(one_line(f"{problem.message} {problem.remedy}")))
    quietly(lambda: screen.say(shown(job.place.page, working)))
    if job.fault is not None:
        raise job.fault
    code = EXIT[data["outcome"]]
    if options.open_page and not options.events and can_redraw(sys.stdout):
        _open(job.place.page)
    return code


def _open(page: Path) -> None:
    """Show the page, where there is something to show it on; a text browser would take the terminal over."""
    import webbrowser

    if sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(page.resolve().as_uri())
