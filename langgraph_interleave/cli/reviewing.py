"""Who answers what a run asks: what was answered before, a file, consent to everything, or a person."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from langgraph_interleave.cli.answers import ANSWERS, Given, Kept, Question, read_review
from langgraph_interleave.cli.folder import STORE
from langgraph_interleave.cli.job import Job
from langgraph_interleave.cli.pictures import Shown, with_files
from langgraph_interleave.cli.typed import Options
from langgraph_interleave.errors import ConfigError, InterleaveError


class Left(Exception):
    """Whoever is asked went away without an answer."""


class Asks(Protocol):
    """Asks a person."""

    def ask(self, question: Question, *, place: int, many: int) -> dict[str, Any]:
        """Ask one question, of several, until there is an answer.

        Raises:
            Left: There will be none for now.
        """
        ...


class Reviewer:
    """Finds the answers to what a run asks; each that is found is kept at once.

    Args:
        job: The run.
        options: What was typed.
        working: Folder for relative paths.
        person: Makes what asks a person, when that is needed; `None` where nobody is there.
        before: Called before a person is asked: what exists is to be written, and the screen to be free.

    Attributes:
        left: What nobody answered, with the paths of its pictures.
    """

    def __init__(
        self,
        job: Job,
        options: Options,
        working: Path,
        *,
        person: Callable[[Shown], Asks] | None,
        before: Callable[[], None],
    ) -> None:
        self.left: list[dict[str, Any]] = []
        self.shown = Shown(job.place.folder, job.artifacts, working)
        self._job = job
        self._working = working
        self._yes = options.yes
        self._given = None if options.answers is None else Given(options.answers, working)
        self._kept = Kept(job.place.folder / STORE / ANSWERS, job.run)
        self._person = person
        self._asks: Asks | None = None
        self._before = before
        #: The last answer by interrupt: whoever is asked the same in the same breath gets it again.
        self._last: dict[str, tuple[Question, dict[str, Any]]] = {}
        self._tried: dict[str, set[str]] = {}

    def answers(self, interrupts: Sequence[Any]) -> dict[str, dict[str, Any]] | None:
        """Answer everything that is asked.

        Args:
            interrupts: What the graph waits at.

        Returns:
            The answers by the ids of the interrupts; `None` where one is left without.

        Raises:
            InterleaveError: An answer in the file cannot be used.
        """
        asked = sorted(interrupts, key=lambda one: one.value.get("number", 0))
        found: dict[str, dict[str, Any]] = {}
        open_: list[Any] = []
        for one in asked:
            answer = self._known(one.id, one.value)
            if answer is None:
                open_.append(one)
            else:
                found[one.id] = answer
        if open_ and self._person is not None:
            self._before()
            open_ = self._ask(open_, self._person, found)
        return self.leave(open_) if open_ else found

    def leave(self, asked: Sequence[Any]) -> None:
        """Nobody answers this for now; what was answered is kept."""
        self.left = [with_files(one.value, self.shown) for one in asked]

    @property
    def unused(self) -> str:
        """What to say of answers in the file that nothing asked for; often nothing."""
        left = self._given.unused if self._given is not None else ()
        if not left or self._given is None:
            return ""
        return f"{self._given.name}: not used{' so far' if self.left else ''}: {', '.join(left)}"

    def done(self) -> None:
        """Nothing is asked any more."""
        if not self.left:
            self.shown.clear()

    def _ask(self, asked: list[Any], make: Callable[[Shown], Asks], found: dict[str, dict[str, Any]]) -> list[Any]:
        """Ask a person one after the other; what is left without an answer."""
        self._asks = self._asks or make(self.shown)
        for place, one in enumerate(asked):
            question, complaint = with_files(one.value, self.shown), None
            while True:
                shown = question if complaint is None else {**question, "error": complaint}
                try:
                    given = self._asks.ask(shown, place=place + 1, many=len(asked))
                    answer = read_review(one.value, given, self._job.artifacts, self._working)
                    break
                except Left:
                    return asked[place:]
                except InterleaveError as error:
                    complaint = str(error)
            self._put(one.id, one.value, answer)
            found[one.id] = answer
        return []

    def _known(self, name: str, question: Question) -> dict[str, Any] | None:
        """An answer that needs no asking."""
        before = self._last.get(name)
        if before is not None and before[0] == question:
            return before[1]
        if "error" not in question:
            self._tried[name] = set()
        # An answer that was of no use is not given again; whoever comes next is asked.
        tried = self._tried.setdefault(name, set())
        for source in (self._from_before, self._from_file, self._from_consent):
            if source.__name__ in tried:
                continue
            answer = source(question)
            if answer is not None:
                tried.add(source.__name__)
                self._put(name, question, answer, keep=source != self._from_before)
                return answer
        return None

    def _from_before(self, question: Question) -> dict[str, Any] | None:
        kept = self._kept.take(question)
        given = self._given.peek(question) if kept is not None and self._given is not None else None
        if given is not None and self._given is not None:
            # The file that answered this before is given again.
            with contextlib.suppress(InterleaveError):
                if read_review(question, given, self._job.artifacts, self._working) == kept:
                    self._given.take(question)
        return kept

    def _from_file(self, question: Question) -> dict[str, Any] | None:
        given = self._given.take(question) if self._given is not None else None
        if given is None or self._given is None:
            return None
        try:
            return read_review(question, given, self._job.artifacts, self._working)
        except InterleaveError as error:
            about = f"step {question['number']}" if question["ask"] == "step" else f"the {question['ask']}"
            raise ConfigError(f"{self._given.name}, about {about}: {error.message}", remedy=error.remedy) from error

    def _from_consent(self, question: Question) -> dict[str, Any] | None:
        if not self._yes:
            return None
        if question["ask"] == "limit":
            return {"decision": "finish"}  # consent is to what is there, not to more of it
        # Where there is no picture none can be accepted.
        return {"decision": "skip" if question["ask"] == "step" and "image" not in question else "accept"}

    def _put(self, name: str, question: Question, answer: dict[str, Any], *, keep: bool = True) -> None:
        if keep:
            self._kept.put(question, answer)
        self._last[name] = question, answer
