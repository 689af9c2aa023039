"""A reviewed run whose process is killed each time it waits: nothing is asked twice, nothing is paid twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import reviewed

pytestmark = pytest.mark.slow


def invocation(folder: Path, *answer: Any) -> dict[str, Any]:
    """Run one process until it waits, kill it as hard as can be, and return what it said."""
    command = [sys.executable, reviewed.__file__, str(folder), *(json.dumps(one) for one in answer)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    return json.loads(said) if said else {}


def calls(folder: Path) -> Counter[tuple[str, str]]:
    return Counter(tuple(json.loads(line)) for line in (folder / "calls.txt").read_text().splitlines())


def test_three_rounds_of_review_each_followed_by_kill_9(tmp_path: Path) -> None:
    accept = {"decision": "accept"}
    rounds = [invocation(tmp_path)]
    while rounds[-1]["asked"]:
        rounds.append(invocation(tmp_path, accept))
    asked = [sorted(said["asked"]) for said in rounds]
    assert asked == [
        [["plan", None]],
        [["step", 0], ["step", 2], ["step", 4]],
        [["step", 1], ["step", 3], ["step", 5]],
        [],
    ]
    assert [said["outcome"] for said in rounds] == ["waiting", "waiting", "waiting", "complete"]
    made = calls(tmp_path)
    assert set(made.values()) == {1}, "no call twice"
    assert Counter(role for role, _ in made) == {"planner": 1, "backend": 6, "critic": 6}
    assert rounds[-1]["calls"] == {"planner": 1, "backend": 6, "critic": 6}


def test_a_step_that_is_sent_back_is_drawn_once_more_and_only_that(tmp_path: Path) -> None:
    accept = {"decision": "accept"}
    invocation(tmp_path)
    invocation(tmp_path, accept)
    said = invocation(tmp_path, {"decision": "revise"})
    assert sorted(said["asked"]) == [["step", 0], ["step", 2], ["step", 4]]
    invocation(tmp_path, accept)
    assert invocation(tmp_path, accept)["outcome"] == "complete"
    made = calls(tmp_path)
    drawn = {prompt: count for (role, prompt), count in made.items() if role == "backend"}
    assert drawn == {f"thing {i}": 2 if i % 2 == 0 else 1 for i in range(6)}


def raise_to(cap: int) -> dict[str, Any]:
    return {"decision": "raise", "limits": {"max_images": cap}}


def test_a_limit_raised_three_times_each_followed_by_kill_9(tmp_path: Path) -> None:
    options = {"on_limit": "ask", "limits": {"max_images": 2}}
    (tmp_path / "options.json").write_text(json.dumps(options))
    rounds = [invocation(tmp_path), *(invocation(tmp_path, raise_to(cap)) for cap in (4, 5, 6))]
    assert [said["asked"] for said in rounds] == [[["limit", None]]] * 3 + [[]]
    assert rounds[-1]["outcome"] == "complete"
    made = calls(tmp_path)
    assert set(made.values()) == {1}, "no call twice"
    assert rounds[-1]["calls"] == {"planner": 1, "backend": 6, "critic": 6}


def test_a_raised_limit_outlives_a_kill_in_the_midst_of_drawing(tmp_path: Path) -> None:
    options: dict[str, Any] = {"on_limit": "ask", "limits": {"max_images": 2}}
    (tmp_path / "options.json").write_text(json.dumps(options))
    assert invocation(tmp_path)["asked"] == [["limit", None]]
    (tmp_path / "options.json").write_text(json.dumps({**options, "survives": 1}))
    assert invocation(tmp_path, raise_to(9)) == {}, "killed while it draws under the raised limit"
    (tmp_path / "options.json").write_text(json.dumps(options))
    ended = invocation(tmp_path)
    # What was in flight at the kill may have been paid for; nobody is asked again, and no finished call is made twice.
    assert (ended["asked"], ended["outcome"]) == ([], "complete")
    made = calls(tmp_path)
    assert {about for role, about in made if role == "backend"} == {f"thing {n}" for n in range(6)}
    assert sum(count - 1 for count in made.values()) <= 3
    assert made["planner", "plan"] == 1
