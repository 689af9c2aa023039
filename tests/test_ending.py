"""The end of the process while threads compute: waited for, for a moment, and never an abort."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / "support"


def ran(program: str, *, timeout_s: float = 30.0) -> tuple[int, str, str, float]:
    """A program's code, what it said, and seconds from its word "end" to its end."""
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            said: list[str] = []
            for line in process.stdout:
                said.append(line)
                if line == "end\n":
                    break
            began = time.monotonic()
            # Not `communicate`: it loses what was read ahead.
            out, err = process.stdout.read(), process.stderr.read()
            return process.wait(timeout=timeout_s), "".join(said) + out, err, time.monotonic() - began
        finally:
            process.kill()


COMPUTING = """
    import threading, time
    from langgraph_interleave import background, ending

    def stops():
        with ending.computing(stops=True):
            while not ending.begun():
                time.sleep(0.01)
            time.sleep(1.5)
            print("stopped", flush=True)

    def stuck():
        with ending.computing():
            time.sleep(60)
"""


def test_what_stops_when_it_is_asked_is_waited_for() -> None:
    code, out, err, took = ran(
        f"{COMPUTING}\n    threading.Thread(target=stops, daemon=True).start()\n    print('end')"
    )
    assert (code, out, err) == (0, "end\nstopped\n", "")
    assert took < 4.5


def test_what_is_stuck_is_left_behind_after_a_moment() -> None:
    code, _, err, took = ran(f"{COMPUTING}\n    background.DaemonThreads(1, 'x').submit(stuck)\n    print('end')")
    assert (code, err) == (0, "")
    assert took < 4.0


def test_a_program_ends_with_its_own_code_whatever_computes() -> None:
    program = f"""{COMPUTING}
    import sys
    threading.Thread(target=stuck, daemon=True).start()
    time.sleep(0.05)
    ending.insist(3)
    print("end", flush=True)
    sys.stdout.write("kept")
    sys.exit(3)
    """
    code, out, err, took = ran(program)
    assert (code, out, err) == (3, "end\nkept", "")
    assert took < 4.0


def test_a_forked_child_waits_for_no_thread_of_its_parents() -> None:
    program = f"""{COMPUTING}
    import os
    threading.Thread(target=stuck, daemon=True).start()
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        began = time.monotonic()
        os._exit(int(ending.left() or time.monotonic() - began > 0.5))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print("end")
    """
    code, out, _, _ = ran(program)
    assert (code, out) == (0, "0\nend\n")


DRAWING = f"""
    import sys, threading
    sys.path.insert(0, {str(SUPPORT)!r})
    from langgraph_interleave import background
    from langgraph_interleave.backends.diffusers import DiffusersBackend
    from langgraph_interleave.types import ImageRequest
    from tiny_pipelines import folder, load
    heard = threading.Event()
    def ask(backend):
        request = ImageRequest("a cat", width=128, height=128, seed=1, extra={{"steps": 900}})
        background.submit(lambda: backend.agenerate(request, on_progress=lambda _: heard.set()))
        heard.wait(60)
"""
ENDS = {
    "a drawing nobody stopped": "ask(DiffusersBackend(load('klein')))",
    # As after the items of a check that cancel: no more than asked to stop.
    "two drawings, the second waiting": "one = DiffusersBackend(load('klein')); ask(one); ask(one)",
    "work in a thread of asyncio's": """
    import asyncio, torch
    def work():
        one = torch.ones(64, 64)
        while True:
            one = torch.nn.functional.softmax(one @ one, dim=-1)
            heard.set()
    async def in_thread():
        await asyncio.to_thread(work)
    from langgraph_interleave import ending
    ending.insist(0)
    background.submit(in_thread)
    heard.wait(60)
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
def test_nothing_is_aborted_that_draws_when_the_process_ends(name: str) -> None:
    pytest.importorskip("diffusers")
    code, out, err, took = ran(f"{DRAWING}\n    {ENDS[name].strip()}\n    print('end', flush=True)", timeout_s=60)
    assert (code, out) == (0, "end\n"), err
    assert "terminate" not in err
    assert took < 15


@pytest.mark.slow
def test_a_check_of_a_local_pipeline_ends_with_its_own_code(tmp_path: Path) -> None:
    pytest.importorskip("diffusers")
    import tiny_pipelines

    command = ["check", f"diffusers:{tiny_pipelines.folder('klein')}?steps=2&preview_every=1&size=64"]
    done = subprocess.run(
        [sys.executable, "-m", "langgraph_interleave.cli", *command, "--max-calls", "2"],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    assert "terminate" not in done.stderr
