"""Ids, scopes, keys, digests and names that somebody made up lead to nothing outside the folder, read or written."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile
import pytest
from hostile_words import MARKUP
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from witness import watched

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.agents.mcp_server import Shelf, library, names
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.begun import Begun, BegunRuns
from langgraph_interleave.cli.folder import choose_folder
from langgraph_interleave.cli.wording import slug
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.document import Document
from langgraph_interleave.errors import ArtifactMissing, ConfigError, InterleaveError
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card
from langgraph_interleave.types import Capabilities, Critique, Plan, Step, StyleGuide

KEY, SCOPE = "ab" * 16, "run"
CANARY = b"the secret of another folder"
every = pytest.mark.parametrize("name", hostile.sampled(hostile.NAMES))


class Home:
    """A store in a folder among others, and a file beside it that nobody may touch."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.folder = place / "inner" / "store"
        self.canary = place / "canary.json"
        self.canary.write_bytes(CANARY)
        self.store = ArtifactStore.folder(self.folder)
        self.store.write_call(SCOPE, KEY, {"key": KEY})

    def tries(self, *calls: Callable[[], object]) -> list[object]:
        """What came of some calls; each is refused in words, or stays in the folder."""
        came: list[object] = []
        with watched() as seen:
            for call in calls:
                try:
                    came.append(call())
                except InterleaveError as error:
                    came.append(error)
        assert all(one.remedy for one in came if isinstance(one, InterleaveError))
        assert seen.outside(self.folder) == []
        assert not [path for path in seen.read if "canary" in path or path.startswith("/etc")]
        assert self.canary.read_bytes() == CANARY
        return came


@pytest.fixture
def at_home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@every
def test_a_store_keeps_to_its_folder(at_home: Home, name: str) -> None:
    store = at_home.store
    came = at_home.tries(
        lambda: store.write_call(name, KEY, {}),
        lambda: store.write_call(SCOPE, name, {}),
        lambda: store.read_call(name, KEY),
        lambda: store.read_call(SCOPE, name),
        lambda: store.swap_call(name, KEY, None, {}),
        lambda: store.list_calls(name),
        lambda: store.get(name),
        lambda: store.get(f"artifact://{name}"),
        lambda: store.get_json(name),
        lambda: store.has(name),
        lambda: store.link(name),
    )
    assert all(isinstance(one, ConfigError) for one in came)


@every
def test_jobs_and_resources_are_called_by_names_of_ours(name: str, tmp_path: Path) -> None:
    shelf = Shelf.folder(tmp_path / "shelf")
    for asked in (name, f"doc_{name}", f"doc_0123456789abcdef.{name}", f"doc_0123456789abcdef.v{name}"):
        assert not names.is_name(asked)
        if names.is_name(asked.strip()):
            continue  # white space around a name is nobody's harm
        with watched() as seen, pytest.raises(ConfigError):
            names.read_name(asked)
        for uri in (asked, f"interleave://document/{asked}", f"interleave://artifact/{asked}", f"{asked}/html"):
            assert names.read_digest(uri) is None
            with watched() as more, pytest.raises(ConfigError):
                library.read(uri, shelf)
            seen.changed += more.changed
        assert seen.changed == []


@every
def test_a_folder_that_came_from_somebody_else_names_no_file_outside_it(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        Begun(run=f"../{name}", options={})
    folder = tmp_path / "bean"
    runs = BegunRuns(folder)
    kept = folder / ".interleave" / "runs" / "a.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps({"v": 1, "run": f"../../{name}", "options": {"request": "x"}}), encoding="utf-8")
    with watched() as seen:
        with pytest.raises(ConfigError, match="damaged"):
            runs.read("a")
        assert runs.all() == []
    assert seen.changed == []


@every
def test_a_folder_is_named_by_words_alone(name: str, tmp_path: Path) -> None:
    with watched() as seen:
        place = choose_folder(None, request=name, run="run", working=tmp_path)
    assert place.folder.parent == tmp_path
    assert seen.outside(tmp_path) == []
    assert slug(name) not in {"con", "nul", "aux", "com1", ""}


@given(scope=st.text(max_size=40) | st.from_regex(r"[./\\~a-z0-9:%]{0,20}", fullmatch=True), key=st.text(max_size=70))
def test_whatever_they_are(scope: str, key: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "fuzzed" / "inner" / "store"
    folder.mkdir(parents=True, exist_ok=True)
    store = ArtifactStore.folder(folder)
    with watched() as seen:
        for call in (
            lambda: store.write_call(scope, KEY, {"a": 1}),
            lambda: store.write_call("run", key, {"a": 1}),
            lambda: store.list_calls(scope),
            lambda: store.get(key),
        ):
            try:
                call()
            except (ConfigError, ArtifactMissing):
                continue
    assert seen.outside(folder) == []


class TestLinks:
    """What lies in the folder as a link to elsewhere. Whoever can lay one there can write there; it gains no more."""

    def test_a_picture_is_not_read_through_one(self, at_home: Home) -> None:
        ref = at_home.store.put(b"picture", mime="image/png")
        file = at_home.folder / "artifacts" / ref.sha256[:2] / ref.sha256
        file.unlink()
        file.symlink_to(at_home.canary)
        with pytest.raises(ArtifactMissing, match="damaged"):
            at_home.store.get(ref)
        # It is replaced, not written through.
        at_home.store.put(b"picture", mime="image/png")
        assert at_home.store.get(ref) == b"picture" and not file.is_symlink()
        assert at_home.canary.read_bytes() == CANARY

    def test_a_record_is_not_written_through_one(self, at_home: Home) -> None:
        file = at_home.folder / "calls" / SCOPE / f"{KEY}.json"
        file.unlink()
        file.symlink_to(at_home.canary)
        with pytest.raises(ArtifactMissing):
            at_home.store.read_call(SCOPE, KEY)
        at_home.store.write_call(SCOPE, KEY, {"a": 1})
        assert at_home.canary.read_bytes() == CANARY and not file.is_symlink()

    def test_a_lock_is_not_made_through_one(self, at_home: Home) -> None:
        lock = at_home.folder / "calls" / SCOPE / ".lock"
        lock.unlink()
        lock.symlink_to(at_home.place / "made-elsewhere")
        with pytest.raises(OSError, match="symbolic"):
            at_home.store.write_call(SCOPE, KEY, {"a": 1})
        assert not (at_home.place / "made-elsewhere").exists()


def files_in(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def hostile_plan(words: list[str]) -> Plan:
    return Plan(
        title=words[0],
        style_guide=StyleGuide(look=words[1], palette=words[2], characters=words[3], keep=words[4]),
        steps=tuple(
            Step(
                index=index,
                op="edit" if index else "generate",
                sources=(f"step:{index - 1}",) if index else (),
                **dict.fromkeys(("title", "caption", "instruction", "prompt"), one),
            )
            for index, one in enumerate(words)
        ),
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["names", "markup"])
async def test_a_run_of_hostile_roles_touches_nothing_but_its_folders(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.ERROR)
    said = [word for word in (hostile.NAMES if kind == "names" else MARKUP).values() if word.strip()][:24]
    said = [word for word in said if word.encode("utf-8", "ignore").decode().strip("\0 \n")]

    def draw(request: Any) -> Any:
        return noise_card(request.prompt, seed=request.seed or 0)

    def judge(request: Any) -> Critique:
        words = said[len(request.prompt) % len(said)]
        verdict = "revise" if request.attempt == 0 else "accept"
        return Critique(
            verdict=verdict, reasoning=words, refined_prompt=f"{words} {request.attempt}", warnings=(words,)
        )

    backend = ScriptedBackend(
        draw,
        name="../../backend",
        fingerprint="../../fingerprint",
        capabilities=Capabilities(edit="instruct", max_references=16, seed="exact", concurrency=4),
    )
    store = ArtifactStore.folder(tmp_path / "store")

    async def make(plan: Plan, run_id: str | None) -> dict[str, Any]:
        planner = ScriptedPlanner(plan, fingerprint="../../planner")
        graph = create_interleave_graph(
            planner,
            backend,
            ScriptedCritic(judge, fingerprint="/critic"),
            ledger=Ledger(store),
            limits=Limits(max_steps=99),
        )
        return await graph.ainvoke({"request": said[0]}, context=InterleaveContext(run_id=run_id))

    await make(hostile_plan(["a", "b", "c", "d", "e"]), None)  # whatever is loaded at first is loaded now
    with watched() as seen:
        result = await make(hostile_plan(said), None)
        document = Document.load(result["document"], store)
        page = document.save(tmp_path / "out")
        for run_id in ("../escaped", "/tmp/escaped", "a\0b", "con", "..", "x" * 300):
            with pytest.raises(InterleaveError):
                await make(hostile_plan(said[:5]), run_id)
    assert result["outcome"] in ("complete", "partial")
    assert len(result["document"]["steps"]) == len(said)
    assert page == tmp_path / "out" / "index.html"
    changed = [path for path in seen.changed if "__pycache__" not in path and path != "/dev/null"]
    seen.changed[:] = changed
    assert changed and seen.outside(tmp_path / "store", tmp_path / "out") == []
    assert seen.hosts == [] and seen.started == []
    assert not [path for path in seen.read if path.startswith("/etc/passwd")]
    files = files_in(tmp_path)
    shape = r"store/(artifacts/[0-9a-f]{2}/([0-9a-f]{64}|\.lock)|calls/[\w.-]+/([0-9a-f]{16,128}\.json|\.lock))"
    out = r"out/(index\.html|document\.md|images/(step|input)-\d+\.(png|jpg|webp))"
    assert [file for file in files if not re.fullmatch(f"{shape}|{out}", file)] == []
