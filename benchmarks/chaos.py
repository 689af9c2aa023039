"""Runs that are killed with `kill -9` at random moments and gone on with: prints JSON.

    python benchmarks/chaos.py --kills 40 --json [--checkpointer sqlite|postgres|both] [--seed N]

Each run draws six steps, two to four of them side by side, in one to three attempts each, with a billed
planner, backend and critic. It is killed at least once, every second one again, every fourth three
times; then a new process goes on with it to its end. Half of the kills come from outside by the clock,
half are made by the process itself at a random one of its ticks (before and after every write of the
store, the ledger and the checkpointer; each beginning and end of a call), so that moments that last
microseconds are hit as well. Moments are spread evenly over what is left of the run; but every fifth run is
hit first while it plans, and every fifth while it composes, which both take little time. Runs take turns with
`durability` sync, async and exit, with and without lookahead, with and without an id of the caller's
own; one of five draws two candidates for each attempt. After a kill under `exit` the same request is
sent again under the same id.

What calls were made is taken from a file that only the roles write to, what was in flight from the
ledger's records as they are when the process is dead; `tests/support/killable.py` has the exact words.
Then one run of twelve steps with at least 25 drawings, killed three times. PostgreSQL is started in a
temporary folder. The exit code is 1 when a promise is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from killable import Account, Case, Durability, Forge, Stage, uninterrupted
from postgres_server import postgres_server

DURABILITIES: tuple[Durability, ...] = ("sync", "async", "exit")
#: Moments of planning and of composing, by which runs of five are hit so.
AIMED: dict[int, tuple[dict[str, str], ...]] = {
    0: tuple({"at": at} for at in ("after started planner", "begin planner", "end planner", "before finished planner")),
    1: tuple(
        {"at": at, "since": "compose"}
        for at in ("compose", "before artifact", "after artifact", "before aput_writes", "after aput_writes")
    ),
}
#: Sums over runs.
COUNTS = (
    "in_flight", "unrecorded", "unbegun", "repeated", "finished_repeated", "ambiguous", "warned", "calls", "drawings",
)  # fmt: skip


class Chaos:
    """The kills of one benchmark.

    Args:
        forge: Starts processes.
        folder: Where the runs leave what they leave.
        seed: Fixes runs and moments, as far as a clock allows.
    """

    def __init__(self, forge: Forge, folder: Path, seed: int) -> None:
        self._forge = forge
        self._folder = folder
        self._luck = random.Random(seed)
        self._first = 1000 * seed
        self._next = 0
        self.missed = 0
        self._life: dict[tuple[str, str, int], tuple[float, int]] = {}

    def life(self, case: Case) -> tuple[float, int]:
        """Seconds and ticks that a run like this takes when nothing happens to it, by one that was not killed."""
        kind = ("postgres" if case.dsn else "sqlite", case.durability, case.steps * case.candidates)
        if kind not in self._life:
            stage = Stage(self._forge, case, self._folder / f"life {'-'.join(map(str, kind))}")
            began = time.monotonic()
            stage.finish(None)
            seconds = time.monotonic() - began
            self._life[kind] = seconds, next(line["ticks"] for line in stage.lines() if line["what"] == "finished")
        return self._life[kind]

    def runs(self, count: int, dsn: str) -> list[Account]:
        """Runs that were killed, each at least once."""
        accounts: list[Account] = []
        # Every part of the life is hit by the first kill of some run.
        parts = [(index + self._luck.random()) / count for index in range(count)]
        self._luck.shuffle(parts)
        while len(accounts) < count:
            self._next += 1
            number = self._next
            durability = DURABILITIES[number % 3]
            case = Case(
                self._first + number, durability=durability, ahead=number % 2 == 0, dsn=dsn,
                candidates=2 if number % 5 == 3 else 1, own_id=durability != "sync" or number % 4 == 1,
            )  # fmt: skip
            made = len(accounts)
            account = self._one(case, parts[made], aimed=AIMED.get(made % 5, ()), extra=(0, 1, 0, 2)[made % 4])
            if account is not None:
                accounts.append(account)
        return accounts

    def long(self, dsn: str) -> tuple[Case, Account]:
        """A run of twelve steps with at least 25 drawings, killed three times, a third of it apart."""
        seeds = (Case(self._first + number, steps=12, dsn=dsn) for number in range(10_000))
        case = next(case for case in seeds if case.drawings >= 25)
        stage = Stage(self._forge, case, self._folder / "long")
        ticks = self.life(case)[1]
        for _ in range(3):
            stage.kill(tick=round(ticks * self._luck.uniform(0.15, 0.25)))
        return case, stage.finish(asyncio.run(uninterrupted(case)))

    def _one(self, case: Case, part: float, *, aimed: Sequence[dict[str, str]], extra: int) -> Account | None:
        """One run; `None` where it was over before it could be killed."""
        stage = Stage(self._forge, case, self._folder / f"run {case.seed} {'postgres' if case.dsn else 'sqlite'}")
        if not (stage.kill(**self._luck.choice(aimed)) if aimed else self._kill(stage, part)):
            self.missed += 1
            return None
        for _ in range(extra):
            if not self._kill(stage, self._luck.random()):
                self.missed += 1
                break
        return stage.finish(asyncio.run(uninterrupted(case)))

    def _kill(self, stage: Stage, part: float) -> bool:
        seconds, ticks = self.life(stage.case)
        left = 1 - 0.9 * stage.progress
        if self._luck.random() < 0.5:
            return stage.kill(after_s=part * left * seconds)
        return stage.kill(tick=1 + int(part * left * ticks))


def summed(accounts: Sequence[Account]) -> dict[str, Any]:
    """Accounts of several runs as one, in JSON."""
    phases = Counter(phase for account in accounts for phase in account.kills)
    return {
        "runs": len(accounts),
        "runs_finished": sum(account.finished for account in accounts),
        "documents_equal": sum(account.equal for account in accounts),
        "kills": phases.total(),
        "kills_by_phase": dict(sorted(phases.items())),
        **{name: sum(getattr(account, name) for account in accounts) for name in COUNTS},
        "problems": [problem for account in accounts for problem in account.problems],
    }


def table(result: dict[str, Any]) -> str:
    """For people."""
    lines = [
        "| | runs finished | equal | kills | finished calls repeated | repeated | in flight | reported |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in {**result["checkpointers"], "12 steps": result["long"]}.items():
        lines.append(
            f"| {name} | {row['runs_finished']} of {row['runs']} | {row['documents_equal']} | {row['kills']} | "
            f"{row['finished_repeated']} | {row['repeated']} | {row['in_flight']} | {row['ambiguous']} |"
        )
    return "\n".join((*lines, *(f"broken: {problem}" for problem in result["problems"]), ""))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description="Runs that are killed at random moments and gone on with.")
    parser.add_argument("--kills", type=int, default=40, help="runs that are killed, each at least once")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--checkpointer", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    names = ("sqlite", "postgres") if options.checkpointer == "both" else (options.checkpointer,)
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        dsn = stack.enter_context(postgres_server()) if "postgres" in names else ""
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        chaos = Chaos(stack.enter_context(Forge()), folder, options.seed)
        shares = {name: len(range(index, options.kills, len(names))) for index, name in enumerate(names)}
        found = {name: chaos.runs(share, dsn if name == "postgres" else "") for name, share in shares.items()}
        case, long = chaos.long(dsn)
        missed = chaos.missed
    rows = {name: summed(accounts) for name, accounts in found.items()}
    last: dict[str, Any] = {"steps": case.steps, "checkpointer": "postgres" if dsn else "sqlite", **summed([long])}
    whole = summed([account for accounts in found.values() for account in accounts])
    problems = [*whole.pop("problems"), *last["problems"]]
    if last["drawings"] < 25 or last["kills"] < 3:
        problems.append("the long run was too short, or killed too seldom")
    result = {
        "parameters": {"kills": options.kills, "seed": options.seed, "steps": 6, "durability": DURABILITIES},
        "versions": {
            "python": sys.version.split()[0],
            **{name: version(name) for name in ("langgraph-interleave", "langgraph", "langgraph-checkpoint")},
        },
        **whole,
        "kills_too_late": missed,
        "checkpointers": rows,
        "long": last,
        "problems": problems,
        "seconds": round(time.monotonic() - began, 1),
    }
    sys.stdout.write(json.dumps(result, indent=1) + "\n" if options.json else table(result))
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
