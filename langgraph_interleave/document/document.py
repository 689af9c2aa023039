"""The finished sequence as an object: read it, show it, save it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self, cast

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.changes import compare
from langgraph_interleave.document import folder as files
from langgraph_interleave.document import markdown
from langgraph_interleave.document.missing import Missing, find_missing
from langgraph_interleave.document.pictures import NOTEBOOK, PAGE, Pictures, Sizes, file_name, read_picture
from langgraph_interleave.document.view import Shown, View, build_view, title_of
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.migrations import Damaged
from langgraph_interleave.stored import as_document, read_plan, read_step
from langgraph_interleave.types import (
    Change,
    DocumentData,
    DocumentStep,
    ImageBytes,
    PlanRecord,
    RunOutcome,
    StepRecord,
)


def _mapping(value: object) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


class Document:
    """A document with the store its pictures are in.

    Everything shown comes from models and users and is escaped; only PNG, JPEG and WebP pictures
    are embedded. A picture that is gone from the store leaves a visible gap that names it. Methods
    read from the store and may block: in async code, call them in a thread.

    Attributes:
        data: The document as data, equal to what the graph returned.
        artifacts: The store.

    Example:
        >>> data = {"run_id": "r", "request": {"parts": [{"type": "text", "text": "A bean"}]}, "outcome": "complete"}
        >>> document = Document.load(data, ArtifactStore.memory())
        >>> document
        Document('A bean', 0 steps, complete)
        >>> document.to_html().startswith("<!DOCTYPE html>")
        True
    """

    def __init__(self, data: DocumentData, artifacts: ArtifactStore) -> None:
        self.data = data
        self.artifacts = artifacts

    @classmethod
    def load(cls, data: Mapping[str, Any] | DocumentData, artifacts: ArtifactStore) -> Self:
        """Make a document of what the graph returned.

        Args:
            data: `result["document"]`.
            artifacts: The store that the graph used.

        Raises:
            ConfigError: It is not a document, or one of a newer version.
        """
        if isinstance(data, DocumentData):
            return cls(data, artifacts)
        remedy = 'Pass result["document"] of create_interleave_graph(…).invoke(…).'
        fields = _mapping(data)
        if fields is None:
            raise ConfigError(f"A document is a mapping, not a {type(data).__name__}.", remedy=remedy)
        try:
            return cls(as_document(fields, name="This document"), artifacts)
        except Damaged as error:
            raise ConfigError(f"This is not a document: {error.why}.", remedy=remedy) from error

    def __repr__(self) -> str:
        steps = len(self.steps)
        return f"Document({self.title!r}, {steps} step{'' if steps == 1 else 's'}, {self.outcome})"

    @property
    def title(self) -> str:
        """The title, else the beginning of the request."""
        return title_of(self.data)

    @property
    def steps(self) -> tuple[DocumentStep, ...]:
        """The steps in order."""
        return self.data.steps

    @property
    def outcome(self) -> RunOutcome:
        """What the run came to."""
        return self.data.outcome

    def records(self) -> tuple[StepRecord | None, ...]:
        """What happened to each step: attempts, critiques, refined prompts.

        Returns:
            One entry per step; `None` for a step that was never begun, or whose record is gone
            from the store.
        """
        return tuple(self._record(step) for step in self.steps)

    def missing(self) -> tuple[Missing, ...]:
        """What of this document is gone from its store, or damaged. Reads every picture, and may take a while.

        What is listed can be put back from a backup of the store; a picture of a step can also be drawn again: by
        sending the same request with the same `run_id` and `InterleaveContext(redraw_missing=True)`, which is paid
        for again, or by a change of the document that has the step drawn anew.

        Returns:
            The digests, each with the steps it belongs to and what it is; nothing if all is there.
        """
        return find_missing(self.data, self.artifacts)

    @property
    def version(self) -> int:
        """1 for a document made from nothing; one more with each change."""
        return self.data.version

    def versions(self) -> tuple[Document, ...]:
        """This document and those it was changed from, the oldest first.

        To go back to one, go on with it: as `base` of the next change, which is then a fork. Nothing
        is drawn for looking at it.

        Raises:
            ArtifactMissing: An earlier version is not in the store.
        """
        found: list[Document] = [self]
        while (parent := found[-1].data.parent) is not None:
            found.append(Document.load(self.artifacts.get_json(parent), self.artifacts))
        return tuple(reversed(found))

    def diff(self, earlier: Document) -> tuple[Change, ...]:
        """What became of the steps of an earlier version.

        Returns:
            One change for each step there is, in order, then one for each that is gone. `step` is its
            index in `earlier`.

        Example:
            >>> from langgraph_interleave import ArtifactStore, create_interleave_graph
            >>> store = ArtifactStore.memory()
            >>> graph = create_interleave_graph(artifacts=store, size="64x64")
            >>> first = graph.invoke({"request": "How to plant a bean, in 2 steps"})["document"]
            >>> second = graph.invoke({"request": "Make step 2 night-time", "base": first})["document"]
            >>> [change.change for change in Document.load(second, store).diff(Document.load(first, store))]
            ['keep', 'redo']
        """
        return compare(earlier.data, self.data)

    def images(self) -> Iterator[tuple[DocumentStep, ImageBytes]]:
        """The delivered pictures in order, each with its step; steps without a picture are left out.

        Raises:
            ArtifactMissing: A picture is gone from the store, damaged, or not a picture.
        """
        for step in self.steps:
            if step.image is None:
                continue
            found = read_picture(self.artifacts, step.image)
            if isinstance(found, str):
                raise ArtifactMissing(
                    f"Step {step.index + self.data.first_number}, artifact {step.image.sha256}: {found}",
                    remedy="Load the document with the store that the run was made with.",
                )
            yield step, found

    def to_html(self, title: str | None = None) -> str:
        """One self-contained page: light and dark, for phones and paper, nothing loaded from elsewhere.

        Args:
            title: A title other than the document's own.
        """
        from langgraph_interleave.document import html

        return html.page(self._view(title), Pictures(self.artifacts, PAGE))

    def fragment(self, title: str | None = None) -> str:
        """A piece of HTML (one `div` with its own styles) to put into a page of one's own.

        Its classes and ids begin with `lgi`; under a strict content policy the page must allow
        inline styles and `data:` pictures.
        """
        return self._fragment(title, PAGE)

    def to_markdown(self, images: str = "images") -> str:
        """CommonMark text with links to pictures, named as `save` names them.

        Args:
            images: Folder or address of the pictures, as the links should name it.
        """
        view = self._view(None)
        return markdown.render(view, self._pictures_of(view).keys(), folder=images)

    def save(self, folder: str | Path) -> Path:
        """Write `index.html`, `document.md` and `images/step-01.png` …, each whole or not at all.

        Args:
            folder: Where to; made if it is not there. Other files in it stay.

        Returns:
            The path of `index.html`.

        Raises:
            ConfigError: The folder cannot be written to.
            ArtifactMissing: It is another store: nothing of the document is there. Single pictures that are gone
                are marked gaps.
        """
        view = self._view(None)
        found = self._pictures_of(view)
        lost = self.data.plan is not None and self._plan() is None
        if lost and not found and any(step.image is not None for step in self.steps):
            raise ArtifactMissing(
                f"Neither the document's plan nor any of its pictures is in {self.artifacts!r}.",
                remedy="Load the document with the store it was made with: Document.load(data, artifacts).",
            )
        return files.write_folder(
            Path(folder).expanduser(),
            html=self.to_html(),
            markdown=markdown.render(view, found.keys(), folder=files.IMAGES),
            images={file_name(shown): found[shown.ref.sha256] for shown in _saved(view) if shown.ref.sha256 in found},
        )

    def _repr_html_(self) -> str:
        """For notebooks: the fragment with smaller pictures."""
        return self._fragment(None, NOTEBOOK)

    def _fragment(self, title: str | None, sizes: Sizes) -> str:
        from langgraph_interleave.document import html

        return html.fragment(self._view(title), Pictures(self.artifacts, sizes))

    def _view(self, title: str | None) -> View:
        return build_view(self.data, self.records(), self._plan(), title=title)

    def _record(self, step: DocumentStep) -> StepRecord | None:
        if step.record is None:
            return None
        try:
            return read_step(self.artifacts, step.record)
        except (ArtifactMissing, ConfigError):
            return None

    def _plan(self) -> PlanRecord | None:
        if self.data.plan is None:
            return None
        try:
            return read_plan(self.artifacts, self.data.plan)
        except (ArtifactMissing, ConfigError):
            return None

    def _pictures_of(self, view: View) -> dict[str, bytes]:
        """The bytes of all pictures that are saved as files, by digest; missing ones are left out."""
        found: dict[str, bytes] = {}
        for shown in _saved(view):
            picture = read_picture(self.artifacts, shown.ref)
            if isinstance(picture, ImageBytes):
                found[shown.ref.sha256] = picture.data
        return found


def _saved(view: View) -> list[Shown]:
    """What is saved as files: the pictures of the request and the delivered ones."""
    given = [part for part in view.request if isinstance(part, Shown)]
    return [*given, *(step.picture for step in view.steps if step.picture is not None)]
