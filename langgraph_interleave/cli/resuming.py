"""`langgraph-interleave run --resume`: a run goes on without its command being typed again."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.begun import Begun
from langgraph_interleave.cli.change import make_change
from langgraph_interleave.cli.folder import STORE, Place, shown
from langgraph_interleave.cli.job import Job, Parts, load_pictures, make_job
from langgraph_interleave.cli.known import Known, find
from langgraph_interleave.cli.money import use_prices
from langgraph_interleave.cli.run import make_document, open_page
from langgraph_interleave.cli.screen import can_redraw, open_screen
from langgraph_interleave.cli.stopping import Stopping
from langgraph_interleave.cli.trusting import refuse_addresses, trusted_prices
from langgraph_interleave.cli.typed import ROLES, Options, public_name
from langgraph_interleave.cli.versions import Version, Versions
from langgraph_interleave.cli.wording import count, one_line
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.events import RunEvent

#: Whoever is asked may have another document of the same run.
_ASKING = frozenset({"approve", "draft", "answers"})
#: How options are written whose flag has another name.
_FLAGS = {"images": "--image", "request": "other words", "answers": "--answer"}


def resume(reference: str, options: Options, given: Collection[str], *, working: Path | None = None) -> int:
    """Go on with a run that was cut off, stopped, waits, or met a limit.

    Args:
        reference: Its folder, its id, or the beginning of its id.
        options: What was typed now.
        given: Names of those of the options that were typed.
        working: Folder that relative paths are relative to; the process's own by default.

    Returns:
        The exit code, as of `run`.

    Raises:
        InterleaveError: There is no such run, or something that was typed makes another document.
    """
    working = working or Path.cwd()
    found = find(reference, working, there=True)
    one = found[0].look()
    begun = one.begun
    if begun is None:
        raise ConfigError(
            f"The folder of run {one.short}, {one.folder}, is gone.",
            remedy=f"If it was moved, name where it is; else: langgraph-interleave runs delete {one.short}",
        )
    _refuse_others(one, begun, options, given, working)
    versions = Versions.of(one.folder, working=working)
    if begun.outcome == "complete" and not _ASKING.intersection(given):
        return _complete(one, options, versions, working, others=found[1:])
    with Stopping() as stopping:
        job, options = _made_ready(one, begun, options, given, working)
        if begun.base is None:
            return make_document(job, options, working, stopping)
        return make_change(job, options, working, stopping, base=_base(versions, begun.base))


def _made_ready(
    one: Known, begun: Begun, options: Options, given: Collection[str], working: Path
) -> tuple[Job, Options]:
    artifacts = ArtifactStore.folder(one.folder / STORE)
    lost = [name for name in begun.withheld if name not in given]
    if lost:
        flags = " and ".join(f"--{name}" for name in lost)
        raise ConfigError(
            f"{flags} held a key or a password, and that is not kept.", remedy=f"Give {flags} again, as it was."
        )
    refuse_addresses(begun.options, given, run=one.run)
    prices = use_prices(working / options.prices if options.prices else None, trusted_prices(begun))
    options = replace(options.going_on(begun.options, given), images=())
    parts = Parts.of(options)
    try:
        pictures = [(artifacts.get_image(picture.ref), picture.name) for picture in begun.pictures]
    except ArtifactMissing as error:
        raise ArtifactMissing(
            f"A picture of the request is not in {shown(one.folder, working)} any more: {error.message}",
            remedy="Type the run's command again, with --image: nothing is paid twice.",
        ) from error
    place = Place(one.folder, _note(one, working), fresh=False)
    return make_job(options, parts, pictures, run=one.run, place=place, base=begun.base, prices=prices), options


def _refuse_others(one: Known, begun: Begun, options: Options, given: Collection[str], working: Path) -> None:
    """What was typed must not make another document than the one that was begun."""
    if "estimate" in given:
        raise ConfigError(
            "--estimate is of a run that is not begun.",
            remedy=f"Leave out --resume; what was spent so far: langgraph-interleave runs show {one.short}",
        )
    stored = Options("").going_on(begun.options, ())
    other = [
        _FLAGS.get(name, f"--{name.replace('_', '-')}")
        for name in sorted(given)
        if _is_other(name, stored, options, one, begun, working)
    ]
    if other:
        what = ", ".join(other)
        raise ConfigError(
            f"{what}: that is another document than the one of run {one.short} ({one_line(begun.asked, 60)}).",
            remedy="Leave it out to go on. Without --resume the whole command makes that document; "
            "`langgraph-interleave change` changes one that is there.",
        )


def _is_other(name: str, stored: Options, options: Options, one: Known, begun: Begun, working: Path) -> bool:
    if name == "out":
        return options.out is not None and (working / options.out).resolve() != one.folder.resolve()
    if name == "images":
        now = [picture.sha256 for picture, _ in load_pictures(options, working)]
        return now != [picture.ref.sha256 for picture in begun.pictures]
    value = getattr(options, name)
    if name in ROLES:
        return public_name(value) != begun.options.get(name)
    return replace(stored, **{name: value}).identity(()) != stored.identity(())


def _base(versions: Versions, digest: str) -> Version:
    found = next((one for one in versions.all if one.document == digest), None)
    if found is None:
        raise ConfigError(
            "The version that was to be changed is not there any more.",
            remedy=f"Change the one that is: langgraph-interleave versions {versions.folder.name}",
        )
    return found


def _note(one: Known, working: Path) -> str:
    done, steps = one.steps()
    spend = one.spend
    parts = [f"{done} of {count(steps, 'step')} done"] if steps is not None else []
    if spend is not None:
        parts.append(f"{count(sum(spend.calls.values()), 'call')} made")
        if spend.ambiguous:
            parts.append(f"{spend.ambiguous} cut off")
    return f"{shown(one.folder, working)}: going on with run {one.short} ({', '.join(parts)})"


def _complete(one: Known, options: Options, versions: Versions, working: Path, *, others: list[Known]) -> int:
    """Nothing is left to be done: the document is written, and nothing is called."""
    screen = open_screen(events=options.events, free=True)
    artifacts = ArtifactStore.folder(one.folder / STORE)
    version = next((known for known in reversed(versions.all) if known.run == one.run), None)
    name = shown(one.folder, working)
    if version is None:
        raise ConfigError(
            f"The document of run {one.short} is not in {name} any more.",
            remedy="Type the run's command again: what was drawn is not drawn again.",
        )
    document = versions.load(version, artifacts)
    if options.events:
        data = document.data
        steps, spend = len(data.steps), data.spend
        screen.event(
            RunEvent(run_id=one.run, phase="finish", outcome="complete", steps=steps, spend=spend, t=spend.seconds)
        )
    screen.say(f"{name}: run {one.short} is complete; nothing is called")
    for other in others:
        if (state := other.look().state) not in ("complete", "running"):
            screen.say(f"run {other.short} is {state}: langgraph-interleave run --resume {other.short}")
    if version != versions.current:
        screen.say(f"it made version {version.number}; langgraph-interleave restore {name} {version.number} shows it")
        return 0
    document.save(one.folder)
    page = Place(one.folder).page
    screen.say(shown(page, working))
    if options.open_page and not options.events and can_redraw(sys.stdout):
        open_page(page)
    return 0
