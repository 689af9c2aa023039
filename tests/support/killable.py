"""A run that is killed with `kill -9`, and everything it did as others saw it.

`Stage` is the side of the test: it starts processes of one run, kills them, and reads what is left. A
process of the run is forked from one that has done nothing but import, so that a start takes
milliseconds; what it does is `_one_invocation`. Its roles write a line when a call of theirs begins and
when it ends into a file nobody else writes to: the witness, which knows nothing of the ledger.

Ticks are the moments at which something can be lost: before and after each write of the artifact store,
the ledger and the checkpointer, and each beginning and end of a call. A process can be told to kill
itself at its n-th tick, or at the first one of a name (after a line of the witness, where that is said).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

from langchain_core.callbacks import BaseCallbackHandler

from langgraph_interleave import ArtifactStore, InterleaveContext, Limits, create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Capabilities, CritiqueRequest, ImageRequest

Durability = Literal["sync", "async", "exit"]
Key = tuple[str, int | None, int]


@dataclass(frozen=True, slots=True)
class Case:
    """A run: what is drawn, how long everything takes, and how it is kept.

    Attributes:
        seed: Fixes the plan, the luck and the delays.
        steps: How many steps; they form a random graph with some side by side.
        calls_s: Seconds a call takes at most; at least a quarter of that.
        durability: When LangGraph stores its checkpoints.
        ahead: Whether steps are drawn on the bet that their sources are accepted.
        own_id: Whether the run has an id of the caller's own.
        thrifty: Whether every step is accepted at once; else one to three attempts are made.
        chain: Whether each step builds on the one before, so that one call is in flight at a time.
        candidates: How many pictures each attempt draws.
        dsn: Connection string of PostgreSQL; SQLite without.
    """

    seed: int
    steps: int = 6
    calls_s: float = 0.06
    durability: Durability = "async"
    ahead: bool = False
    own_id: bool = True
    thrifty: bool = False
    chain: bool = False
    candidates: int = 1
    dsn: str = ""

    @property
    def sources(self) -> list[list[int]]:
        """What each step builds on: two to start with, then one or two of the last three."""
        if self.chain:
            return [[step - 1] if step else [] for step in range(self.steps)]
        luck = random.Random(f"sources/{self.seed}")
        return [[] if i < 2 else sorted(luck.sample(range(max(0, i - 3), i), luck.randint(1, 2)))
                for i in range(self.steps)]  # fmt: skip

    def attempts(self, step: int) -> int:
        """How many attempts a step takes."""
        return 1 if self.thrifty else random.Random(f"attempts/{self.seed}/{step}").choice((1, 2, 2, 3))

    @property
    def drawings(self) -> int:
        """How many drawings the run takes, without those a lost bet costs."""
        return self.candidates * sum(self.attempts(step) for step in range(self.steps))

    @property
    def run_id(self) -> str | None:
        """The caller's own id."""
        return f"killed-{self.seed}" if self.own_id else None


class Witness:
    """Notes what happens, and kills its process where that is wanted.

    A line is written by one call of the system, which a kill does not cut in two.
    """

    def __init__(self, folder: Path, die: Mapping[str, Any]) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._file = os.open(folder / "witness.jsonl", flags, 0o644)
        self._die = die
        self._armed = "since" not in die
        #: How many there were so far.
        self.ticks = 0
        self._lock = threading.Lock()

    def note(self, what: str, **more: Any) -> None:
        """Write a line."""
        self._armed = self._armed or what == self._die.get("since")
        os.write(self._file, json.dumps({"what": what, **more}).encode() + b"\n")

    def tick(self, name: str) -> None:
        """A moment at which something can be lost."""
        with self._lock:
            self.ticks += 1
            if self._armed and (self.ticks == self._die.get("tick") or name == self._die.get("at")):
                self.note("died", at=name, tick=self.ticks)
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(60)


class WatchedStore(ArtifactStore):
    """A store whose writes are ticks; `Journal` and the artifacts go through these three."""

    witness: Witness

    def put(self, data: bytes, **measures: Any) -> Any:
        """Store bytes."""
        self.witness.tick("before artifact")
        stored = super().put(data, **measures)
        self.witness.tick("after artifact")
        return stored

    def write_call(self, scope: str, key: str, record: Mapping[str, Any]) -> None:
        """Replace a record."""
        name = f"{record['status']} {record['role']}"
        self.witness.tick(f"before {name}")
        super().write_call(scope, key, record)
        self.witness.tick(f"after {name}")

    def swap_call(self, scope: str, key: str, expected: Mapping[str, Any] | None, record: Mapping[str, Any]) -> bool:
        """Replace a record if nobody else did."""
        name = f"{record['status']} {record['role']}"
        self.witness.tick(f"before {name}")
        swapped = super().swap_call(scope, key, expected, record)
        self.witness.tick(f"after {name}")
        return swapped


class Roles:
    """Planner, backend and critic of a case: what they say depends on what they are asked, and on nothing else."""

    def __init__(self, case: Case, witness: Witness | None) -> None:
        self._case = case
        self._witness = witness
        plan = simple_plan(case.steps, sources=case.sources)
        # In another process the same call may take another time.
        self._luck = random.Random(f"{case.seed}/{os.getpid()}")
        # Steps come one after another, so that the first are drawn while the plan is written, where that is wanted.
        pace = 2 * case.calls_s if case.ahead and witness is not None else 0.0
        said = partial(self._answer, "planner", None, 0, "plan", plan)
        self.planner = ScriptedPlanner(lambda _: said(), pace_s=pace, billed=True)
        self.backend = ScriptedBackend(
            self._draw, capabilities=Capabilities(edit="instruct", max_references=4, seed="exact", billed=True)
        )
        self.critic = ScriptedCritic(self._judge, billed=True)

    async def _draw(self, asked: ImageRequest) -> Any:
        step, _, again = asked.prompt.removeprefix("thing ").partition(" (again ")
        # Another reference, another picture: a run that went on from the wrong one would show it.
        words = "/".join([asked.prompt, *(_digest(reference.data) for reference in asked.references)])
        card = noise_card(words, seed=asked.seed or 0)
        attempt = int(again.rstrip(")") or 0)
        return await self._answer("backend", int(step), attempt, f"{asked.seed}/{words}", card)

    async def _judge(self, asked: CritiqueRequest) -> str:
        step = int(asked.instruction.split()[-1].rstrip("."))
        verdict = "revise" if asked.attempt + 1 < self._case.attempts(step) else "accept"
        about = f"{asked.prompt}/{_digest(asked.after.data)}"
        return await self._answer("critic", step, asked.attempt, about, verdict)

    async def _answer(self, role: str, step: int | None, attempt: int, about: str, answer: Any) -> Any:
        if self._witness is None:
            return answer
        call = {"role": role, "step": step, "attempt": attempt, "about": _digest(about.encode())}
        self._witness.note("begin", **call)
        self._witness.tick(f"begin {role}")
        await asyncio.sleep(self._case.calls_s * self._luck.uniform(0.25, 1))
        self._witness.tick(f"end {role}")
        self._witness.note("end", **call)
        return answer

    def graph(self, store: ArtifactStore, checkpointer: Any = None) -> Any:
        """The graph of the case."""
        return create_interleave_graph(
            self.planner, self.backend, self.critic, artifacts=store, checkpointer=checkpointer,
            limits=Limits(max_attempts=3, max_images=None, max_calls=None),
            lookahead="always" if self._case.ahead else "never", candidates=self._case.candidates,
        )  # fmt: skip


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _context(case: Case) -> InterleaveContext:
    return InterleaveContext(run_id=case.run_id, seed=case.seed)


REQUEST: dict[str, Any] = {"request": "Things, one after another"}


async def uninterrupted(case: Case) -> dict[str, Any]:
    """The document of the case, from a run that nothing happens to."""
    graph = Roles(case, None).graph(ArtifactStore.memory())
    return (await graph.ainvoke(REQUEST, context=_context(case)))["document"]


def told(document: dict[str, Any]) -> dict[str, Any]:
    """What of a document must be the same however often its run was killed: all but ids, times and what it cost.

    The digest of a step's record covers every attempt, with prompts, seeds and critiques, and the keys of their calls,
    which hold the run's id.
    """
    own = {name: value for name, value in document.items() if name not in ("spend", "run_id", "plan")}
    same_id = str(document["run_id"]).startswith("killed-")
    steps = [{n: v for n, v in step.items() if same_id or n != "record"} for step in document["steps"]]
    return own | {"steps": steps}


# -- a process of the run --------------------------------------------------------------------------


class _Phases(BaseCallbackHandler):
    def __init__(self, witness: Witness) -> None:
        self._witness = witness

    def on_chain_start(self, serialized: Any, inputs: Any, *, name: str | None = None, **_: Any) -> None:
        if name == "compose":
            self._witness.note("compose")
            self._witness.tick("compose")


def _watched(saver: Any, witness: Witness) -> Any:
    """A checkpointer whose writes are ticks."""
    for name in ("aput", "aput_writes"):
        plain = getattr(saver, name)

        async def ticking(*args: Any, _name: str = name, _plain: Any = plain, **more: Any) -> Any:
            witness.tick(f"before {_name}")
            done = await _plain(*args, **more)
            witness.tick(f"after {_name}")
            return done

        setattr(saver, name, ticking)
    return saver


@contextlib.asynccontextmanager
async def _saver(case: Case, folder: Path, witness: Witness) -> AsyncGenerator[Any]:
    if case.dsn:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

        async with AsyncPostgresSaver.from_conn_string(case.dsn) as saver:
            yield _watched(saver, witness)
        return
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(str(folder / "state.sqlite")) as saver:
        yield _watched(saver, witness)


async def _one_invocation(case: Case, folder: Path, die: Mapping[str, Any]) -> None:
    """Go on with the run from whatever is there, as a user would; write the result where it came to an end."""
    witness = Witness(folder, die)
    witness.note("process", pid=os.getpid())
    store = WatchedStore(folder / "store")
    store.witness = witness
    config: Any = {"configurable": {"thread_id": str(folder)}, "callbacks": [_Phases(witness)]}
    async with _saver(case, folder, witness) as saver:
        graph = Roles(case, witness).graph(store, saver)
        state = await graph.aget_state(config)
        result: Any = state.values if state.values.get("document") and not state.next else None
        if result is None:
            # Not by `state.next`: that is empty too where every task of a super-step is done and not yet committed.
            given = REQUEST if state.created_at is None else None
            witness.note("go", resumed=given is None)
            parts: AsyncIterator[Any] = graph.astream(
                given, config, context=_context(case), durability=case.durability, stream_mode=["custom", "values"]
            )
            async for mode, part in parts:
                if mode == "values":
                    result = part
                elif part["type"] == "interleave.warning" and part["code"] == "ambiguous":
                    witness.note("warned", step=part.get("step"))
        witness.tick("over")
        assert result is not None
        document = result["document"]
        temporary = folder / "result.tmp"
        temporary.write_text(json.dumps({"document": document}), encoding="utf-8")
        temporary.replace(folder / "result.json")
        witness.note("finished", ticks=witness.ticks)


def _serve() -> None:
    """Fork a process for each line of standard input; say its number, then how it ended."""
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                asyncio.run(_one_invocation(Case(**asked["case"]), Path(asked["folder"]), asked["die"]))
                code = 0
            except BaseException as error:  # noqa: BLE001 - the fork must end here in any case
                import traceback

                (Path(asked["folder"]) / "error.txt").write_text("".join(traceback.format_exception(error)))
            os._exit(code)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


# -- the side of the test --------------------------------------------------------------------------


class Forge:
    """Starts processes of runs, one at a time. To be used as a context."""

    def __enter__(self) -> Self:
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(timeout=60)
        self._server.stdout.close()

    def run(self, case: Case, folder: Path, *, after_s: float | None = None, **die: Any) -> int:
        """Start a process and wait for its end.

        Args:
            case: The run.
            folder: What is left from earlier processes of the run.
            after_s: Seconds after which it is killed from here.
            die: `tick=n` or `at=name`: where it kills itself; `since=what`: not before such a line was written.

        Returns:
            Its exit code: 0 where the run came to its end, -9 where it was killed.
        """
        assert self._server.stdin is not None and self._server.stdout is not None
        print(
            json.dumps({"case": asdict(case), "folder": str(folder), "die": die}), file=self._server.stdin, flush=True
        )
        pid = int(self._server.stdout.readline())
        timer = threading.Timer(60.0 if after_s is None else after_s, _kill, (pid,))
        timer.start()
        code = int(self._server.stdout.readline())
        timer.cancel()
        timer.join()
        return code


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@dataclass(slots=True)
class Account:
    """What became of one run.

    A call is *finished* by the ledger's rule: its record says so at the kill. *In flight* is one whose
    record says started at the kill; of those, `unrecorded` had already ended in the role, which the
    ledger cannot know.

    Attributes:
        kills: The phase each kill hit.
        in_flight: Calls in flight at a kill, over all kills.
        unrecorded: Those of them the role had ended.
        unbegun: Those of them the role had not even begun.
        repeated: Calls that began once more, as the witness counts.
        finished_repeated: Those of them that were finished: must be none.
        ambiguous: What `spend.ambiguous` says in the end.
        warned: Warnings that a call may have been made twice.
        calls: Calls that the witness saw begin.
        drawings: Those of them that are the backend's.
        finished: Whether there is a document.
        equal: Whether it is the one of an uninterrupted run.
        problems: Promises that were broken, in words.
    """

    kills: list[str] = field(default_factory=list[str])
    in_flight: int = 0
    unrecorded: int = 0
    unbegun: int = 0
    repeated: int = 0
    finished_repeated: int = 0
    ambiguous: int = 0
    warned: int = 0
    calls: int = 0
    drawings: int = 0
    finished: bool = False
    equal: bool = False
    problems: list[str] = field(default_factory=list[str])


class Stage:
    """One run that is killed, and its account.

    Args:
        forge: Starts its processes.
        case: The run.
        folder: An empty folder for everything it leaves.
    """

    def __init__(self, forge: Forge, case: Case, folder: Path) -> None:
        self.case = case
        self.account = Account()
        self._forge = forge
        self._folder = folder
        self._flying: Counter[Key] = Counter()
        self._makings: set[tuple[str, float]] = set()
        self._done: dict[str, dict[str, Any]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def lines(self) -> list[dict[str, Any]]:
        """What the witness wrote."""
        path = self._folder / "witness.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def records(self) -> dict[str, dict[str, Any]]:
        """The call records by key, as they are in the store now."""
        found = (self._folder / "store" / "calls").glob("*/*.json")
        return {path.stem: json.loads(path.read_text()) for path in found}

    def kill(self, **moment: Any) -> bool:
        """Go on with the run and kill it at a moment, as for `Forge.run`; whether it was still alive then."""
        before = len(self.lines())
        code = self._forge.run(self.case, self._folder, **moment)
        self._look()
        if code != -signal.SIGKILL:
            self._must(code == 0, f"a process ended with {code}: {self._error()}")
            return False
        self._note_kill(before)
        return True

    def finish(self, document: dict[str, Any] | None) -> Account:
        """Go on with the run to its end and settle the account.

        Args:
            document: That of an uninterrupted run.
        """
        account = self.account
        code = self._forge.run(self.case, self._folder)
        self._must(code == 0, f"the last process ended with {code}: {self._error()}")
        self._look()
        path = self._folder / "result.json"
        if not path.exists():
            self._must(False, "no document")
            return account
        account.finished = True
        made = json.loads(path.read_text())["document"]
        account.equal = document is None or told(made) == told(document)
        self._must(account.equal, "another document")
        self._settle(made["spend"])
        return account

    def _settle(self, spend: dict[str, Any]) -> None:
        account, lines, records = self.account, self.lines(), self.records()
        begun = Counter(_key(line) for line in lines if line["what"] == "begin")
        exact = Counter((_key(line), line["about"]) for line in lines if line["what"] == "begin")
        known = Counter(_key(record) for record in records.values())
        account.calls, account.drawings = begun.total(), sum(n for key, n in begun.items() if key[0] == "backend")
        account.repeated = sum(count - 1 for count in exact.values())
        account.ambiguous = spend["ambiguous"]
        warned = [line["step"] for line in lines if line["what"] == "warned"]
        account.warned = len(warned)
        for key, count in begun.items():
            over = count - known[key] - self._flying[key]
            if over > 0:
                account.finished_repeated += over
                self._must(False, f"{key} was made {count} times: {known[key]} records, in flight {self._flying[key]}")
        self._must(account.repeated <= account.in_flight, "more was repeated than was in flight")
        self._must(
            account.ambiguous == account.in_flight, f"{account.in_flight} in flight, {account.ambiguous} reported"
        )
        silent = {step for _, step, _ in self._flying} - set(warned)
        self._must(not silent, f"nobody was told of what may be double in {silent}")
        counted = sum(spend["calls"].values())
        self._must(counted == account.calls + account.unbegun, f"{counted} counted, {account.calls} made")

    @property
    def progress(self) -> float:
        """About how much of the run is done, from 0 to 1."""
        return min(1.0, sum(r["status"] == "finished" for r in self.records().values()) / (1 + 2 * self.case.drawings))

    def _look(self) -> None:
        """What was finished at an earlier kill must be as it was."""
        now = self.records()
        for key, record in self._done.items():
            self._must(now.get(key) == record, f"the finished call {_key(record)} has another record now")

    def _note_kill(self, before: int) -> None:
        lines, records = self.lines(), self.records()
        self.account.kills.append(self._phase(lines, before))
        self._done = {key: record for key, record in records.items() if record["status"] == "finished"}
        flying = {(key, record["t_start"]): record for key, record in records.items() if record["status"] == "started"}
        # One that an earlier kill left, and that nobody came to since, is the same making.
        started = [_key(record) for making, record in flying.items() if making not in self._makings]
        self._makings.update(flying)
        here = lines[before:]
        # One that is killed before it says its number has not done anything.
        pid = next((f"-{line['pid']}-" for line in here if line["what"] == "process"), "nobody")
        mine = [record for record in records.values() if pid in record["owner"] and record["status"] != "failed"]
        begun, ended = (Counter(line["what"] for line in here)[what] for what in ("begin", "end"))
        self._flying.update(started)
        self.account.in_flight += len(started)
        self.account.unbegun += len(mine) - begun
        self.account.unrecorded += ended - sum(record["status"] == "finished" for record in mine)

    @staticmethod
    def _phase(lines: list[dict[str, Any]], before: int) -> str:
        here = {line["what"] for line in lines[before:]}
        if "finished" in here or (before and any(line["what"] == "finished" for line in lines)):
            return "over"
        if "compose" in here:
            return "compose"
        if "begin" not in here:
            return "restart" if before else "start"
        drawn = any(line["what"] == "begin" and line["role"] != "planner" for line in lines)
        return "steps" if drawn else "planning"

    def _must(self, holds: bool, said: str) -> None:
        if not holds and said not in self.account.problems:
            self.account.problems.append(said)

    def _error(self) -> str:
        path = self._folder / "error.txt"
        return path.read_text()[-1500:] if path.exists() else ""


def _key(line: Mapping[str, Any]) -> Key:
    return str(line["role"]), line.get("step"), int(line.get("attempt") or 0)


def _warm_up() -> None:
    """Import what a process of the run needs, so that none of them has to."""
    for name in ("PIL.Image", "langgraph.checkpoint.sqlite.aio", "langgraph.checkpoint.postgres.aio"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


if __name__ == "__main__":
    _warm_up()
    _serve()
