"""`langgraph-interleave change`, `versions` and `restore`: a folder's document changed, and gone back to."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.begun import BegunRuns
from langgraph_interleave.cli.folder import STORE, Place, run_id, runs_in, shown
from langgraph_interleave.cli.job import Job, Parts, load_pictures, make_job
from langgraph_interleave.cli.keeping import leave, tell_how, write_aside, writing
from langgraph_interleave.cli.making import make
from langgraph_interleave.cli.money import use_prices
from langgraph_interleave.cli.pictures import REVIEW
from langgraph_interleave.cli.pipe import quietly
from langgraph_interleave.cli.run import EXIT, open_page, refuse_unspent
from langgraph_interleave.cli.screen import Screen, can_redraw, open_screen
from langgraph_interleave.cli.stopping import Stopping
from langgraph_interleave.cli.trusting import refuse_addresses, trusted_prices
from langgraph_interleave.cli.typed import ROLES, Options
from langgraph_interleave.cli.versions import DELIVERED, Version, Versions
from langgraph_interleave.cli.wording import one_line
from langgraph_interleave.document import Document
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types import Change

#: What is said of the steps, in this order.
_SAID = {
    "keep": "kept",
    "reorder": "kept, moved",
    "recaption": "picture kept, other words",
    "redo": "drawn again",
    "insert": "new",
    "delete": "gone (as numbered before)",
}


def change(folder: Path, options: Options, *, version: int | None = None, working: Path | None = None) -> int:
    """Change a folder's document: only what depends on the change is drawn again.

    The folder is as it was until the changed document is there; then it is the folder's new version.

    Args:
        folder: The folder of a document.
        options: What the user typed: in `request` what is wanted otherwise. What is not given is as it was
            for the version that is changed.
        version: Number of the version to change; the current one by default.
        working: Folder that relative paths are relative to; the process's own by default.

    Returns:
        The exit code: 0 complete, 3 partial or waiting, 1 failed, 130 cancelled.

    Raises:
        InterleaveError: Nothing was changed: an option, a file or the request is wrong.
    """
    working = working or Path.cwd()
    source = Versions.of(_existing(folder, working), working=working)
    base = source.numbered(version)
    if base.outcome == "waiting":
        raise ConfigError(
            f"Version {base.number} waits for answers, so there is nothing to change yet.",
            remedy="Type its command again and answer; or with --yes.",
        )
    given = [name for name in ROLES if getattr(options, name) is not None]
    refuse_addresses(base.made_with, given, run=base.run)
    began = BegunRuns(source.folder).read(base.run)
    prices = use_prices(working / options.prices if options.prices else None, trusted_prices(began))
    options = options.made_with(base.made_with)
    parts = Parts.of(options)
    pictures = load_pictures(options, working)
    target = source.folder if options.out is None else _copied(source, base, options.out, working)
    run = run_id({**options.identity(picture for picture, _ in pictures), "base": base.document})
    note = f"{shown(target, working)}: changing version {base.number}"
    with Stopping() as stopping:
        place = Place(target, note, fresh=False)
        job = make_job(options, parts, pictures, run=run, place=place, base=base.document, prices=prices)
        return make_change(job, options, working, stopping, base=base)


def make_change(job: Job, options: Options, working: Path, stopping: Stopping, *, base: Version) -> int:
    """Change the document of a run that is ready, and say how it went.

    Args:
        job: The run.
        options: What the user typed, and what was kept of the version.
        working: Folder for relative paths.
        stopping: The signals that stop it.
        base: The version that is changed.

    Returns:
        The exit code.

    Raises:
        InterleaveError: Nothing was changed.
    """
    versions = Versions.of(job.place.folder, working=working)
    screen = open_screen(events=options.events, free=job.free)
    versions.shelve(job.artifacts)

    def write() -> None:
        write_aside(job)

    try:
        # What exists so far does not take the document's place: it is in `review`.
        make(job, screen, options, working, stopping, write=write)
        refuse_unspent(job)
    except ConfigError:
        versions.unshelve()
        raise
    with writing(job, working):
        return _deliver(job, screen, options, working, versions, base)


def list_versions(folder: Path, *, as_json: bool = False, working: Path | None = None) -> int:
    """Say which versions of its document a folder has.

    Raises:
        ConfigError: There is no document in it.
    """
    working = working or Path.cwd()
    versions = Versions.of(_existing(folder, working), working=working)
    current = versions.numbered(None)
    if as_json:
        listed = [{**one.model_dump(mode="json"), "current": one.number == current.number} for one in versions.all]
        sys.stdout.write(json.dumps(listed, ensure_ascii=False, indent=1) + "\n")
        return 0
    for one in versions.all:
        mark = "*" if one.number == current.number else " "
        came = f"from {one.before}" if one.before else "new"
        made = one.made[:16].replace("T", " ")
        sys.stdout.write(f"{mark} {one.number:2}  {made}  {one.outcome:9}  {came:7}  {one_line(one.asked, 80)}\n")
    return 0


def restore(folder: Path, number: int, *, working: Path | None = None) -> int:
    """Have a folder show an earlier version again; nothing is called.

    Raises:
        InterleaveError: There is no such version, or its pictures are gone.
    """
    working = working or Path.cwd()
    versions = Versions.of(_existing(folder, working), working=working)
    with versions.alone():
        version = versions.restore(number, ArtifactStore.folder(versions.folder / STORE))
    page = Place(versions.folder).page
    sys.stdout.write(f"version {version.number}: {one_line(version.asked, 80)}\n{shown(page, working)}\n")
    return 0


def _existing(folder: Path, working: Path) -> Path:
    found = (working / folder).resolve()
    if not found.is_dir():
        raise ConfigError(f"{folder} is no folder.", remedy="Name a folder that `langgraph-interleave run` made.")
    return found


def _copied(source: Versions, base: Version, out: Path, working: Path) -> Path:
    """Another folder with the same document and all that is known of it; one that is there already stays."""
    target = (working / out).resolve()
    if target.is_file():
        raise ConfigError(f"--out {out} is a file.", remedy="Name a folder.")
    if source.folder in target.parents:
        raise ConfigError(f"--out {out} is inside the document's folder.", remedy="Name a folder beside it.")
    if base.run in runs_in(target):
        return target
    if target.exists() and any(target.iterdir()):
        raise ConfigError(f"--out {out} holds something else.", remedy="Name a folder that is new or empty.")
    try:
        shutil.copytree(source.folder, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(REVIEW))
    except OSError as error:
        raise ConfigError(f"--out {out} cannot be made: {error}.", remedy="Choose another with --out.") from error
    return target


def _deliver(job: Job, screen: Screen, options: Options, working: Path, versions: Versions, base: Version) -> int:
    """Make what came of it the new version, if it is done; say so, and give the exit code."""
    data = job.document
    outcome = data["outcome"] if data is not None else "failed" if job.fault else "cancelled"
    problem = (data or {}).get("problem")
    if problem:
        quietly(lambda: screen.say(one_line(f"{problem['message']} {problem['remedy']}")))
    if data is not None and job.artifacts.put_json(data) == base.document:
        # Why not, the notes of the run have said.
        job.ended("failed")
        leave(job, screen, versions, working)
        return EXIT["failed"]
    if data is None or outcome not in DELIVERED:
        job.ended(outcome)
        tell_how(job, screen, working, outcome)
        leave(job, screen, versions, working)
        return EXIT[outcome]
    document = Document.load(data, job.artifacts)
    asked, before = options.request, base.number
    made_with, reviewed = options.kept(), options.reviewed
    with versions.alone():
        versions.shelve(job.artifacts)
        document.save(job.place.folder)
        version = versions.put(
            data, asked=asked, made_with=made_with, artifacts=job.artifacts, before=before, reviewed=reviewed
        )
    job.ended(outcome)
    for line in told(document.diff(versions.load(base, job.artifacts)), first=document.data.first_number):
        quietly(lambda line=line: screen.say(line))
    quietly(lambda: screen.say(f"version {version.number}, from {base.number}: {shown(job.place.page, working)}"))
    if job.fault is not None:
        raise job.fault
    if options.open_page and not options.events and can_redraw(sys.stdout):
        open_page(job.place.page)
    return EXIT[outcome]


def told(changes: tuple[Change, ...], *, first: int) -> list[str]:
    """What became of the steps, in lines.

    Args:
        changes: One for each step there is, in order, then one for each that is gone.
        first: What the first step is called.

    Example:
        >>> steps = (Change(change="keep", step=0), Change(change="redo", step=1), Change(change="keep", step=2))
        >>> told(steps, first=1)
        ['kept: steps 1, 3', 'drawn again: step 2']
    """
    numbers: dict[str, list[int]] = {name: [] for name in _SAID}
    for place, one in enumerate(changes):
        index = one.step if one.change == "delete" and one.step is not None else place
        numbers[one.change].append(index + first)
    return [
        f"{said}: step{'s' if len(found) > 1 else ''} {', '.join(map(str, found))}"
        for name, said in _SAID.items()
        if (found := numbers[name])
    ]
