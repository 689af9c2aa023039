"""Runs deleted, with what only they need: never what another run or version of the folder needs."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.answers import ANSWERS
from langgraph_interleave.cli.begun import BegunRuns
from langgraph_interleave.cli.folder import PAGE, STORE, TRAJECTORY, run_of, shown
from langgraph_interleave.cli.index import Index
from langgraph_interleave.cli.known import Known, in_folder
from langgraph_interleave.cli.pictures import REVIEW
from langgraph_interleave.cli.versions import SHELF, Version, Versions
from langgraph_interleave.cli.wording import count
from langgraph_interleave.document.folder import IMAGES
from langgraph_interleave.errors import ConfigError

_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
#: What a document's own pictures are called.
_OWN = re.compile(r"(?:step|input|sheet)(?:-\d{2,})?\.(?:png|jpg|webp)")


@dataclass(slots=True)
class Plan:
    """What goes from one folder, and what stays.

    Attributes:
        folder: The folder; it may be gone itself.
        runs: The ids of the runs that go.
        gone: Their versions.
        kept: The versions that stay.
        others: The ids of the runs that stay.
    """

    folder: Path
    runs: set[str]
    gone: list[Version]
    kept: list[Version]
    others: set[str]

    @classmethod
    def of(cls, folder: Path, runs: set[str]) -> Plan:
        """Look what depends on what.

        Raises:
            ConfigError: Something is being made in the folder, or its list of versions cannot be read.
        """
        begun = in_folder(folder) if folder.is_dir() else []
        for one in begun:
            if one.look().is_running:
                raise ConfigError(
                    f"Run {one.short} is being made in {folder.name}.",
                    remedy="Stop it first (Ctrl-C, or kill), or wait until it has ended.",
                )
        versions = Versions.of(folder).all
        gone = [one for one in versions if one.run in runs]
        kept = [one for one in versions if one.run not in runs]
        others = {one.run for one in begun} - runs | {one.run for one in kept}
        return cls(folder, runs, gone, kept, others)

    @property
    def is_whole(self) -> bool:
        """Whether nothing of ours stays in the folder."""
        return not self.others

    def told(self, working: Path) -> str:
        """What goes, in words."""
        name = shown(self.folder, working)
        if not self.folder.is_dir():
            return f"what is known of {name}, which is gone"
        if self.is_whole:
            return f"the document in {name} ({count(len(self.gone), 'version')}), and its calls"
        numbers = ", ".join(str(one.number) for one in self.gone)
        some = f"version{'s' if len(self.gone) > 1 else ''} {numbers} of {name}" if numbers else f"a run in {name}"
        return f"{some}, with its calls; {count(len(self.others), 'other run')} of it stays"


def planned(found: Sequence[Known], working: Path) -> str:
    """What would go, in words.

    Raises:
        ConfigError: Something of it is being made.
    """
    return "; ".join(plan.told(working) for plan in _plans(found))


def delete_runs(found: Sequence[Known], working: Path) -> str:
    """Delete runs; what was freed, in words.

    Raises:
        ConfigError: Something of it is being made.
    """
    files = size = 0
    told: list[str] = []
    for plan in _plans(found):
        told.append(plan.told(working))
        if plan.folder.is_dir():
            before = _measured(plan.folder)
            if plan.is_whole:
                _everything(plan)
            else:
                _some(plan)
            after = _measured(plan.folder)
            files, size = files + before[0] - after[0], size + before[1] - after[1]
        for run in plan.runs:
            Index().remove(run, plan.folder)
    return f"deleted {'; '.join(told)}: {count(max(files, 0), 'file')}, {max(size, 0) / 1e6:.1f} MB freed"


def _plans(found: Sequence[Known]) -> list[Plan]:
    by_folder: dict[Path, set[str]] = {}
    for one in found:
        by_folder.setdefault(one.folder, set()).add(one.run)
    return [Plan.of(folder, runs) for folder, runs in by_folder.items()]


def _everything(plan: Plan) -> None:
    """What is ours in a folder; files of the user's stay, and the folder with them."""
    folder = plan.folder
    _document(folder)
    for name in (STORE, SHELF, REVIEW):
        shutil.rmtree(folder / name, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def _document(folder: Path) -> None:
    for name in (PAGE, "document.md", TRAJECTORY):
        (folder / name).unlink(missing_ok=True)
    for path in () if (folder / IMAGES).is_symlink() else (folder / IMAGES).glob("*"):
        if _OWN.fullmatch(path.name):
            path.unlink()
    with contextlib.suppress(OSError):
        (folder / IMAGES).rmdir()


def _some(plan: Plan) -> None:
    folder = plan.folder
    store = folder / STORE
    artifacts = ArtifactStore.folder(store)
    versions = Versions.of(folder)
    with versions.alone():
        current = versions.current
        if current is not None and current in plan.gone:
            if plan.kept:
                versions.restore(plan.kept[-1].number, artifacts)
            else:
                _document(folder)
    needed = _reached(store, _roots(folder, plan.others, plan.kept))
    unneeded = _reached(store, _roots(folder, plan.runs, plan.gone)) - needed
    # First what names the rest: whatever is cut off here leaves files too many, and never one too few.
    with versions.alone():
        versions.drop({one.number for one in plan.gone})
    for run in plan.runs:
        BegunRuns(folder).remove(run)
        shutil.rmtree(store / "calls" / run, ignore_errors=True)
    if run_of(folder / TRAJECTORY) in plan.runs:
        (folder / TRAJECTORY).unlink(missing_ok=True)
    _forget_answers(store / ANSWERS, plan.runs)
    for digest in unneeded:
        _content(store, digest).unlink(missing_ok=True)


def _roots(folder: Path, runs: Iterable[str], versions: Iterable[Version]) -> list[bytes]:
    """Texts that name what is needed first."""
    store = folder / STORE
    texts = [one.document.encode() for one in versions]
    for run in runs:
        texts += [path.read_bytes() for path in (store / "calls" / run).glob("*.json")]
        path = store / "runs" / f"{run}.json"
        texts += [path.read_bytes()] if path.exists() else []
        texts += [line.encode() for line in _answers(store / ANSWERS) if _run_of_answer(line) == run]
    return texts


def _reached(store: Path, texts: list[bytes]) -> set[str]:
    """The digests of everything that is named in texts, in what those name, and so on."""
    found: set[str] = set()
    while texts:
        for digest in _DIGEST.findall(texts.pop()):
            name = digest.decode()
            path = _content(store, name)
            if name in found or not path.is_file():
                continue
            found.add(name)
            with path.open("rb") as file:
                # Only records name anything; pictures may be large.
                if file.read(1) in b"{[":
                    texts.append(path.read_bytes())
    return found


def _content(store: Path, digest: str) -> Path:
    return store / "artifacts" / digest[:2] / digest


def _answers(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []


def _run_of_answer(line: str) -> str | None:
    try:
        return json.loads(line)["run"]
    except (ValueError, KeyError, TypeError):
        return None


def _forget_answers(path: Path, runs: set[str]) -> None:
    lines = _answers(path)
    kept = [line for line in lines if _run_of_answer(line) not in runs]
    if len(kept) < len(lines):
        unfinished = path.with_suffix(".new")
        unfinished.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
        unfinished.replace(path)


def _measured(folder: Path) -> tuple[int, int]:
    """How many files there are, and how many bytes."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return len(sizes), sum(sizes)
