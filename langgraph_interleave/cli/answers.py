"""Answers that need no asking: those given before in this folder, and those in a file."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from langgraph_interleave.artifacts import ArtifactStore, canonical_json
from langgraph_interleave.cli.wording import count
from langgraph_interleave.content import image_block
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging import load_image
from langgraph_interleave.raising import limit_example
from langgraph_interleave.reviewing import EXAMPLES, read_answer
from langgraph_interleave.types import LimitReview, PlanReview, StepReview

Question = Mapping[str, Any]
ANSWERS = "answers.jsonl"
#: What answers go by in an object.
_ASKED = re.compile(r"plan|limit|0|[1-9][0-9]*")
#: What each is answered by, and what it is called.
_MODELS: Mapping[str, type[PlanReview | StepReview | LimitReview]] = {
    "plan": PlanReview, "step": StepReview, "limit": LimitReview,
}  # fmt: skip
#: What a question is called by: not what it may cost, how it is answered, or that an answer was wrong.
_BESIDES = ("error", "estimate", "answers", "file")


def read_review(question: Question, answer: object, artifacts: ArtifactStore, working: Path) -> dict[str, Any]:
    """An answer to a question, checked, with a picture that is named by its path put into the store.

    Args:
        question: What was asked.
        answer: A decision, alone or with what belongs to it.
        artifacts: The store of the run.
        working: Folder for relative paths.

    Raises:
        InterleaveError: It is none, or the picture cannot be read.
    """
    model = _MODELS[question["ask"]]
    if isinstance(answer, Mapping):
        image = cast("Mapping[str, Any]", answer).get("image")
        if isinstance(image, str) and "://" not in image:
            picture = load_image(working / Path(image).expanduser())
            answer = {**answer, "image": image_block(artifacts.put_image(picture), name=Path(image).name)}
    answer, steps = _as_shown(answer) if model is PlanReview else (answer, None)
    example = limit_example(question) if question["ask"] == "limit" else EXAMPLES.get(question["ask"], EXAMPLES["step"])
    review = read_answer(model, answer, example=example).model_dump(mode="json", exclude_none=True)
    return review if steps is None else {**review, "steps": steps}


def _as_shown(answer: object) -> tuple[object, list[dict[str, Any]] | None]:
    """An answer without steps in the form of the question, and those: only the graph, which has the plan, can
    say what was edited in them. The paths of sketches are ours.
    """
    steps: Any = cast("Mapping[str, Any]", answer).get("steps") if isinstance(answer, Mapping) else None
    if not isinstance(steps, list):
        return answer, None
    listed = cast("list[Any]", steps)
    if not listed or any(not isinstance(step, dict) or "change" in step for step in listed):
        return answer, None
    shown = [{name: value for name, value in step.items() if name != "file"} for step in listed]
    rest = {name: value for name, value in cast("Mapping[str, Any]", answer).items() if name != "steps"}
    return rest, shown


class Given:
    """The answers of a file: a list, in the order they are asked; or an object, by `"plan"`, `"limit"` and numbers of
    steps.

    Args:
        path: The file; `-` for standard input.
        working: Folder for relative paths.

    Raises:
        ConfigError: It is not there, holds neither, or something of it answers nothing that is ever asked.
    """

    def __init__(self, path: Path, working: Path) -> None:
        self.name = f"--answer {path}"
        remedy = 'Write for example ["accept"] or {"plan": "accept", "2": {"decision": "revise", "remark": "…"}}.'
        try:
            text = sys.stdin.read() if str(path) == "-" else (working / path).read_text(encoding="utf-8")
            found = json.loads(text)
        except OSError as error:
            raise ConfigError(f"{self.name} cannot be read: {error.strerror}.", remedy="Name a file.") from error
        except ValueError as error:
            raise ConfigError(f"{self.name} is not JSON: {error}.", remedy=remedy) from error
        if not isinstance(found, list | dict):
            raise ConfigError(f"{self.name} is neither a list nor an object.", remedy=remedy)
        self._left: list[Any] | dict[str, Any] = cast("list[Any] | dict[str, Any]", found)
        for name in self._left if isinstance(self._left, dict) else ():
            if not _ASKED.fullmatch(name):
                meant = next(iter(difflib.get_close_matches(name.strip().lower(), ["plan", "limit"])), "")
                raise ConfigError(
                    f"{self.name}: nothing that is asked is called {name[:40]!r}.",
                    remedy=f"{f'Did you mean {meant}? ' * bool(meant)}Name plan, limit, or the number of a step.",
                )

    @property
    def unused(self) -> tuple[str, ...]:
        """What of it nothing asked for, so far: `("plan", "step 7")`; of a list, `("2 answers",)`."""
        if isinstance(self._left, list):
            return (count(len(self._left), "answer"),) if self._left else ()
        left = [name for name, answers in self._left.items() if answers != []]
        return tuple(f"step {name}" if name.isdecimal() else name for name in left)

    def take(self, question: Question) -> object | None:
        """The answer to a question, which is then used up; `None` where there is none."""
        if isinstance(self._left, list):
            return self._left.pop(0) if self._left else None
        name = _called(question)
        if name not in self._left:
            return None
        if isinstance(several := self._left[name], list):
            answers = cast("list[object]", several)
            return answers.pop(0) if answers else None
        return self._left.pop(name)

    def peek(self, question: Question) -> object | None:
        """The answer to a question by its name, which stays."""
        found = self._left.get(_called(question)) if isinstance(self._left, dict) else None
        several = cast("list[object]", found) if isinstance(found, list) else None
        return found if several is None else several[0] if several else None


class Kept:
    """The answers that were given in a folder, each on disk as soon as it is.

    A run that is begun again comes to the same questions in the same order, because no call of it is made
    twice; each time a question comes up, the answer it got that time is there.

    Args:
        path: The file.
        run: The run.
    """

    def __init__(self, path: Path, run: str) -> None:
        self._path = path
        self._run = run
        self._answers: dict[tuple[str, int], Any] = {}
        self._asked: dict[str, int] = {}
        if path.is_symlink():
            raise ConfigError(f"{path} is a link to somewhere else.", remedy="Put a file in its place, or delete it.")
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    kept = json.loads(line)
                    if kept["run"] == run:
                        self._answers[kept["question"], kept["time"]] = kept["answer"]
                except (ValueError, KeyError, TypeError):
                    continue  # cut off while it was written

    def take(self, question: Question) -> dict[str, Any] | None:
        """The answer this question got before; `None` where it is new, or that answer was of no use."""
        name = _name(question)
        if "error" in question:
            return None
        self._asked[name] = self._asked.get(name, -1) + 1
        answer = self._answers.get((name, self._asked[name]))
        while answer is not None and (cap := _outgrown(question, answer)) is not None:
            # It was raised again since: the answer of then counts.
            question = {**question, "cap": cap}
            answer = self._answers.get((_name(question), 0))
        return answer

    def put(self, question: Question, answer: dict[str, Any]) -> None:
        """Keep an answer. A plan that is given up is asked about again: that answer is not kept."""
        if question["ask"] == "plan" and answer.get("decision") == "cancel":
            return
        name = _name(question)
        time = self._asked.get(name, 0)
        self._answers[name, time] = answer
        line = json.dumps({"run": self._run, "question": name, "time": time, "answer": answer}, ensure_ascii=True)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            # On a line of its own, also where the one before was cut off.
            file.write(f"{line}\n" if file.tell() == 0 or _whole(self._path) else f"\n{line}\n")


def _called(question: Question) -> str:
    return str(question["number"]) if question["ask"] == "step" else str(question["ask"])


def _outgrown(question: Question, answer: Mapping[str, Any]) -> float | None:
    """The cap to which an answer raised a limit, where more than that is used by now."""
    if question["ask"] != "limit" or question["used"] is None:
        return None
    cap = (answer.get("limits") or {}).get(question["limit"])
    return cap if cap is not None and question["cap"] < cap <= question["used"] else None


def _whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _name(question: Question) -> str:
    said = {name: value for name, value in question.items() if name not in _BESIDES}
    if question["ask"] == "limit":
        # However far a run has come when it is asked: what is asked is whether this cap is raised.
        said = {name: question[name] for name in ("ask", "limit", "cap")}
    return hashlib.sha256(canonical_json(said)).hexdigest()[:24]
