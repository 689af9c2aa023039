"""Runs killed with `kill -9` at moments picked by hand and at random, and gone on with by another process."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from killable import Account, Case, Durability, Forge, Stage, told, uninterrupted

pytestmark = pytest.mark.slow

DURABILITIES: tuple[Durability, ...] = ("sync", "async", "exit")


@pytest.fixture(scope="module")
def forge() -> Iterator[Forge]:
    with Forge() as opened:
        yield opened


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def dsn(request: pytest.FixtureRequest) -> str:
    """Where the checkpoints go: a file, or PostgreSQL."""
    return "" if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture(params=DURABILITIES)
def durability(request: pytest.FixtureRequest) -> Durability:
    return request.param


async def survive(stage: Stage, **moment: Any) -> Account:
    """Kill a run once, go on with it, and have every promise kept."""
    assert stage.kill(**moment), "it was over before that moment"
    account = stage.finish(await uninterrupted(stage.case))
    assert account.problems == []
    assert account.finished and account.equal
    return account


def begun(stage: Stage) -> Counter[tuple[str, int | None, int]]:
    """How often each call was begun, as the roles say."""
    return Counter((one["role"], one["step"], one["attempt"]) for one in stage.lines() if one["what"] == "begin")


def once(case: Case) -> dict[tuple[str, int | None, int], int]:
    """Every call of a run that nothing happens to."""
    attempts = [(step, number) for step in range(case.steps) for number in range(case.attempts(step))]
    made: dict[tuple[str, int | None, int], int] = {("planner", None, 0): 1}
    return made | {(role, *each): 1 for role in ("backend", "critic") for each in attempts}


async def test_before_the_first_checkpoint_nothing_was_paid(forge: Forge, dsn: str, tmp_path: Path) -> None:
    stage = Stage(forge, Case(1, 3, 0.01, "sync", own_id=False, dsn=dsn), tmp_path / "run")
    account = await survive(stage, at="before aput")
    assert account.kills == ["start"]
    assert begun(stage) == once(stage.case)
    assert account.ambiguous == 0


async def test_during_planning(forge: Forge, dsn: str, durability: Durability, tmp_path: Path) -> None:
    stage = Stage(forge, Case(2, 3, 0.01, durability, dsn=dsn), tmp_path / "run")
    account = await survive(stage, at="begin planner")
    assert account.kills == ["planning"]
    assert begun(stage) == once(stage.case) | {("planner", None, 0): 2}
    assert (account.in_flight, account.ambiguous, account.warned) == (1, 1, 1)


#: Where a process dies, and whether the drawing of step 0 is then made again.
MOMENTS: list[tuple[str, int, int]] = [
    ("before started backend", 0, 1),
    ("after started backend", 1, 1),
    ("begin backend", 1, 2),
    ("before finished backend", 1, 2),
    ("after finished backend", 0, 1),
]


@pytest.mark.parametrize(("at", "in_flight", "drawn"), MOMENTS)
async def test_around_one_call(
    forge: Forge, dsn: str, durability: Durability, at: str, in_flight: int, drawn: int, tmp_path: Path
) -> None:
    stage = Stage(forge, Case(3, 2, 0.01, durability, chain=True, thrifty=True, dsn=dsn), tmp_path / "run")
    account = await survive(stage, at=at)
    assert begun(stage) == once(stage.case) | {("backend", 0, 0): drawn}
    assert (account.in_flight, account.ambiguous, account.warned) == (in_flight, in_flight, in_flight)
    assert account.unbegun == (at == "after started backend")
    assert account.unrecorded == (at == "before finished backend")


#: In `compose`, before it stores the document; then before its result is committed, when nothing is left to be run.
COMPOSING = [
    {"at": "compose"},
    {"at": "before artifact", "since": "compose"},
    {"at": "before aput", "since": "compose"},
]


@pytest.mark.parametrize("moment", COMPOSING, ids=["begun", "storing", "made"])
async def test_during_compose(
    forge: Forge, dsn: str, durability: Durability, moment: dict[str, str], tmp_path: Path
) -> None:
    stage = Stage(forge, Case(4, 3, 0.01, durability, own_id=durability != "sync", dsn=dsn), tmp_path / "run")
    account = await survive(stage, **moment)
    assert account.kills == ["compose"]
    assert begun(stage) == once(stage.case)


async def test_after_the_end_nothing_is_left_to_do(
    forge: Forge, dsn: str, durability: Durability, tmp_path: Path
) -> None:
    stage = Stage(forge, Case(5, 2, 0.01, durability, thrifty=True, dsn=dsn), tmp_path / "run")
    account = await survive(stage, at="over")
    assert begun(stage) == once(stage.case)
    assert account.ambiguous == 0


async def test_killed_again_and_again_on_the_same_call(forge: Forge, dsn: str, tmp_path: Path) -> None:
    stage = Stage(forge, Case(6, 2, 0.01, "sync", chain=True, thrifty=True, dsn=dsn), tmp_path / "run")
    for _ in range(3):
        assert stage.kill(at="begin backend")
    account = await survive(stage, at="begin backend")
    assert begun(stage)["backend", 0, 0] == 5
    assert account.ambiguous == account.in_flight == 4


async def test_at_random(forge: Forge, dsn: str, tmp_path: Path) -> None:
    luck = random.Random(7)
    for number, durability in enumerate(DURABILITIES):
        stage = Stage(forge, Case(70 + number, 6, 0.02, durability, ahead=number == 1, dsn=dsn), tmp_path / durability)
        assert stage.kill(tick=luck.randint(10, 60))
        await survive(stage, tick=luck.randint(5, 40))


async def test_a_finished_call_that_is_forgotten_is_noticed(forge: Forge, tmp_path: Path) -> None:
    """What looks for broken promises finds one."""
    stage = Stage(forge, Case(8, 2, 0.01, "exit", chain=True, thrifty=True), tmp_path / "run")
    assert stage.kill(at="begin critic")
    for path in (tmp_path / "run" / "store" / "calls").glob("*/*.json"):
        if '"backend"' in path.read_text():
            path.unlink()
    account = stage.finish(await uninterrupted(stage.case))
    assert account.repeated > account.in_flight
    assert any("has another record" in problem for problem in account.problems)


async def test_another_picture_is_another_document() -> None:
    case = Case(9, 3)
    one, other = await uninterrupted(case), await uninterrupted(Case(10, 3))
    assert told(one) == told(await uninterrupted(case))
    assert told(one) != told(other)
