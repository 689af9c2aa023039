"""A third-party distribution with scripted roles, installed for a test as a plugin would be."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

MODULE = '''
"""Roles for tests of the command line."""

import asyncio
import os
import time

from langgraph_interleave.errors import ConfigError, Unavailable
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan, noise_card
from langgraph_interleave.types import Capabilities, Critique, Plan, PlanFinished, Step, StyleGuide


def planner(pace_s: float = 0.0):
    return ScriptedPlanner(simple_plan(3, text=[2]), pace_s=pace_s)


def apart():
    """Two pictures that have nothing to do with each other, and words."""
    return ScriptedPlanner(simple_plan(3, sources=[[], [], []], text=[2]))


def pacing():
    return planner(pace_s=3.0)


class Exploding:
    fingerprint = "exploding"
    billed = False

    async def aplan(self, request):
        raise RuntimeError("the planner exploded")
        yield


def backend():
    return ScriptedBackend(name="scripted")


def billed():
    return ScriptedBackend(name="scripted", capabilities=Capabilities(edit="instruct", max_references=9, billed=True))


def slow():
    """Draws the first step at once and takes an hour for the second."""
    return ScriptedBackend(delay_s=lambda request: 3600.0 if "thing 1" in request.prompt else 0.0)


def stuck():
    """Holds the event loop of the calls: nothing that runs there can be cancelled."""
    def draw(request):
        if "thing 1" in request.prompt:
            time.sleep(30)
        return noise_card(request.prompt, seed=request.seed or 0)
    return ScriptedBackend(draw)


def failing():
    def draw(request):
        return RuntimeError("the backend fell over") if "thing 1" in request.prompt else noise_card("x")
    return ScriptedBackend(draw)


def unplugged():
    """Its server is not there."""
    return ScriptedBackend(lambda request: Unavailable("Nobody is there.", remedy="Start the server."))


def unset():
    """Its model is not there."""
    return ScriptedBackend(lambda request: ConfigError("There is no such model.", remedy="Fetch it."))


class Once:
    """Rejects the first attempt of step 1, with words that would hijack a terminal."""

    def __init__(self):
        self.rejected = False

    def __call__(self, request):
        if "thing 1" in request.instruction and request.attempt == 0:
            words = "\\x1b[2JThe seed\\nis [b]missing[/b]."
            return Critique(verdict="revise", reasoning=words, refined_prompt="thing 1, with a seed")
        return Critique(verdict="accept")


def critic():
    return ScriptedCritic(Once())


def yes():
    return ScriptedCritic()


#: What was drawn, and with which prompts its references were drawn.
RECALLED = []


def chained():
    """A pot, changed twice; the first is drawn from the user's picture, where there is one."""
    class Planner:
        fingerprint, billed = "chained", False

        async def aplan(self, request):
            given = ("input:0",) if request.images else ()
            steps = [("a pot", given), ("a bean", ("step:0",)), ("a leaf", ("step:1",))]
            made = tuple(
                Step(index=index, op="edit" if sources else "generate", instruction=f"{words}.", prompt=words,
                     sources=sources)
                for index, (words, sources) in enumerate(steps)
            )
            yield PlanFinished(plan=Plan(steps=made, style_guide=StyleGuide(look="in watercolours")))

    return Planner()


def recalling():
    """Remembers which prompt each picture was drawn with."""
    by_picture = {}

    def draw(request):
        RECALLED.append((request.prompt, [by_picture.get(one.sha256, "photo") for one in request.references]))
        made = noise_card(request.prompt, seed=request.seed or 0)
        by_picture[made.sha256] = request.prompt
        return made

    return ScriptedBackend(draw)


async def _signalled(where, result):
    """Has this process sent a signal in one of the roles, which then takes an hour."""
    if os.environ.get("SIGNAL_AT") == where:
        os.kill(os.getpid(), int(os.environ["SIGNAL"]))
        await asyncio.sleep(3600)
    return result


def signalled_planner():
    return ScriptedPlanner(lambda request: _signalled("planner", simple_plan(3, text=[2])))


def signalled_backend():
    def draw(request):
        where = "backend" if "thing 1" in request.prompt else ""
        return _signalled(where, noise_card(request.prompt, seed=request.seed or 0))
    return ScriptedBackend(draw)


def signalled_critic():
    def judge(request):
        where = "critic" if "thing 1" in request.instruction else ""
        return _signalled(where, Critique(verdict="accept"))
    return ScriptedCritic(judge)


def _counted(role):
    """Says in a file that a call was begun."""
    with open(os.environ["COUNTED"], "a") as file:
        file.write(role + "\\n")


def counted_planner():
    def plan(request):
        _counted("planner")
        return simple_plan(6, sources=[[], [0], [1], [], [3], [4]])
    return ScriptedPlanner(plan, pace_s=0.2)


def counted_backend():
    def draw(request):
        _counted("backend")
        return noise_card(request.prompt, seed=request.seed or 0)
    return ScriptedBackend(draw, delay_s=0.1)


def counted_critic():
    def judge(request):
        _counted("critic")
        return Critique(verdict="revise" if request.attempt == 0 else "accept", reasoning="again")
    return ScriptedCritic(judge, delay_s=0.05)


def never():
    return ScriptedCritic(lambda request: Critique(verdict="revise", reasoning="no"))
'''

ENTRIES = """
[langgraph_interleave.planners]
scripted = cli_test_parts:planner
pacing = cli_test_parts:pacing
signalled = cli_test_parts:signalled_planner
counted = cli_test_parts:counted_planner
apart = cli_test_parts:apart
chained = cli_test_parts:chained
exploding = cli_test_parts:Exploding

[langgraph_interleave.backends]
scripted = cli_test_parts:backend
billed = cli_test_parts:billed
slow = cli_test_parts:slow
signalled = cli_test_parts:signalled_backend
counted = cli_test_parts:counted_backend
unplugged = cli_test_parts:unplugged
unset = cli_test_parts:unset
stuck = cli_test_parts:stuck
failing = cli_test_parts:failing
recalling = cli_test_parts:recalling

[langgraph_interleave.critics]
scripted = cli_test_parts:critic
never = cli_test_parts:never
signalled = cli_test_parts:signalled_critic
counted = cli_test_parts:counted_critic
yes = cli_test_parts:yes
"""


@pytest.fixture
def working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder, with the scripted roles installed for this process and its children."""
    site = tmp_path / "site"
    info = site / "cli_test_parts-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "cli_test_parts.py").write_text(MODULE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cli-test-parts\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(ENTRIES, encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH")))))
    monkeypatch.setenv("INTERLEAVE_HOME", str(tmp_path / "home"))
    importlib.invalidate_caches()
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    sys.modules.pop("cli_test_parts", None)


@pytest.fixture
def other() -> Iterator[int]:
    """Another process that is alive."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()
