"""What is asked, in lines: for where nobody can answer, and above the prompt where somebody can."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from langgraph_interleave.cli.wording import clean, count, one_line

Question = Mapping[str, Any]
_WORDS = 400


def heading(question: Question) -> str:
    """What a question is about, on one line."""
    if question["ask"] == "plan":
        return f"The plan: {one_line(question.get('title') or 'no title')}"
    if question["ask"] == "limit":
        return one_line(question["says"])
    title = one_line(question.get("title") or question.get("caption") or "")
    return f"Step {question['number']}: {title}".rstrip(": ")


def step_lines(question: Question) -> list[str]:
    """What is known of a step: its words, each attempt, what it comes to."""
    given = [(name, question[name]) for name in ("caption", "instruction") if question.get(name)]
    lines = [f"{name}: {one_line(text, _WORDS)}" for name, text in given]
    lines += [f"attempt {attempt['attempt'] + 1}: {attempt_line(attempt)}" for attempt in question["attempts"]]
    if question.get("why"):
        lines.append(f"note: {one_line(question['why'], _WORDS)}")
    if question.get("attempt") is not None and len(question["attempts"]) > 1:
        lines.append(f"attempt {question['attempt'] + 1} would count")
    return lines


def attempt_line(attempt: Mapping[str, Any]) -> str:
    """What came of an attempt: the verdict and why, or what went wrong."""
    said = {"accept": "accepted", "revise": "rejected"}.get(attempt.get("verdict", ""), "not judged")
    if said != "not judged":
        said += {"human": " by a reviewer", "check": " by a check"}.get(attempt.get("judge", ""), " by the critic")
    if "image" not in attempt:
        said = "no picture"
    why = one_line(attempt.get("reasoning") or attempt.get("problem") or "", _WORDS)
    return f"{said}{' - ' + why if why else ''}"


def estimate_lines(question: Question) -> list[str]:
    """What drawing a plan may take."""
    return [clean(line) for line in str(question.get("estimate") or "").splitlines() if line.strip()]


def undone_lines(question: Question) -> list[str]:
    """The steps that a run at a limit has not come to the end of."""
    lines: list[str] = []
    for step in question["undone"]:
        name = f"step {step['number']}: {one_line(step.get('title') or '', 80)}" if "number" in step else "characters"
        tries = f" in {count(step['attempts'], 'attempt')}" if step.get("attempts") else ""
        lines.append(f"{name.rstrip(': ')} - {step['state']}{tries}")
    return lines


def left_lines(questions: list[dict[str, Any]], *, how: str) -> list[str]:
    """What is said when nobody answered: what waits, where its pictures are, and how to go on.

    Args:
        questions: What waits, with the paths of the pictures.
        how: The command that goes on.
    """
    lines = [f"waiting for {count(len(questions), 'answer')}:"]
    for question in questions:
        lines.append(f"  {heading(question)}")
        if question.get("error"):
            lines.append(f"    The answer could not be used: {one_line(question['error'])}")
        if question["ask"] == "step" and question["attempts"]:
            lines.append(f"    {attempt_line(question['attempts'][-1])}")
        if question["ask"] == "limit":
            lines += [f"    {line}" for line in undone_lines(question)]
        lines += [f"    it may take {line}" for line in estimate_lines(question)]
        if question.get("file"):
            lines.append(f"    {question['file']}")
        if sketches := [step["file"] for step in question.get("steps", ()) if step.get("file")]:
            last = f" to {PurePath(sketches[-1]).name}" if len(sketches) > 1 else ""
            lines.append(f"    sketches: {sketches[0]}{last}")
    return [*lines, f"to go on, {how}"]
