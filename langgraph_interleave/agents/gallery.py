"""What there is in a conversation: its pictures and documents, by ids that stay.

`img_1` is the first picture anyone put in, `img_2` the next other one; `doc_1` is the first document, and
`doc_1.step_2` the picture of its second step as it is now, `doc_1.v1.step_2` as it was in version 1. An id is
given once: what is in the gallery that is kept (a state key of the agent), or in the artifact of a tool
message, keeps its id when messages are removed. Without either, ids follow from the messages there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import Field

from langgraph_interleave import stored
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.document.text import shorten
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.types import SCHEME, ArtifactRef, DocumentData
from langgraph_interleave.types.base import Frozen

#: Pictures that are listed by name; of more, the first are only counted.
_LISTED = 12
_NAME, _TITLE = 40, 60
_AROUND = " \t\r\n`'\"<>()[]{}.,;:!"
_IMG = re.compile(r"(?:img|image|picture)[ _-]?(\d+)", re.IGNORECASE)
_DOC = re.compile(r"(?:doc(?:ument)?[ _-]?)?(\d+)", re.IGNORECASE)
_STEP = re.compile(
    r"doc(?:ument)?[ _-]?(\d+)(?:\.v(?:ersion)?[ _-]?(\d+))?[.:/ ]+(?:step|picture)[ _-]?(\d+)", re.IGNORECASE
)
_DIGEST = re.compile(r"[0-9a-f]{64}")


class UnknownName(Exception):
    """What was named is not there; the message says what is."""


class KnownPicture(Frozen):
    """A picture of the conversation. `key` tells it from others: its digest, where it is in the store."""

    id: str
    key: str
    image: ArtifactRef | None = None
    name: str | None = None
    problem: str | None = Field(default=None, description="why it cannot be used")


class KnownVersion(Frozen):
    """One version of a document: where it is stored, and which of its steps have a picture."""

    version: int = Field(ge=1)
    digest: str
    parent: int | None = Field(default=None, description="the version it was made from")
    outcome: str
    steps: int
    pictures: tuple[int, ...] = Field(default=(), description="steps with a picture, as the reader counts them")


class KnownDocument(Frozen):
    """A document of the conversation. Versions are counted within it, in the order they were made."""

    id: str
    title: str
    current: int
    versions: tuple[KnownVersion, ...]

    def version(self, number: int) -> KnownVersion | None:
        """That version, if there is one."""
        return next((one for one in self.versions if one.version == number), None)


class Found(NamedTuple):
    """A version of a document that was asked for."""

    document: KnownDocument
    version: KnownVersion


class Gallery(Frozen):
    """The pictures and documents of a conversation. It does not change; what is added is in another one.

    Example:
        >>> gallery = Gallery()
        >>> photo = ArtifactRef(sha256="a" * 64, mime="image/png", size=9, width=800, height=600)
        >>> gallery.with_picture("a" * 64, photo, name="photo.png").line()
        'Pictures here: img_1 (photo.png, 800x600).'
    """

    pictures: tuple[KnownPicture, ...] = ()
    documents: tuple[KnownDocument, ...] = ()

    # --- adding ---------------------------------------------------------------------------------

    def with_picture(
        self,
        key: str,
        image: ArtifactRef | None,
        *,
        name: str | None = None,
        problem: str | None = None,
        given_id: str | None = None,
    ) -> Gallery:
        """The gallery with a picture added; the same one where it is there already."""
        if any(known.key == key or known.id == given_id for known in self.pictures):
            return self
        added = KnownPicture(
            id=given_id or f"img_{_next(known.id for known in self.pictures)}",
            key=key,
            image=image,
            name=shorten(name, _NAME) if name else None,
            problem=problem,
        )
        return self.model_copy(update={"pictures": (*self.pictures, added)})

    def with_version(self, document_id: str, title: str, version: KnownVersion, *, current: bool = True) -> Gallery:
        """The gallery with a version of a document, which is the `current` one, as is the first in any case."""
        known = next((one for one in self.documents if one.id == document_id), None)
        others = known.versions if known else ()
        versions = (*(one for one in others if one.version != version.version), version)
        now = KnownDocument(
            id=document_id,
            title=shorten(title, _TITLE),
            current=known.current if known and not current else version.version,
            versions=tuple(sorted(versions, key=lambda one: one.version)),
        )
        documents = [now if one.id == document_id else one for one in self.documents]
        return self.model_copy(update={"documents": (*documents, *([] if known else [now]))})

    def next_document(self, ahead: int = 0) -> str:
        """Id of the next document; of a later one, where `ahead` others are being made."""
        return f"doc_{_next(known.id for known in self.documents) + ahead}"

    # --- looking up -----------------------------------------------------------------------------

    def document(self, name: str, version: int | None = None) -> Found:
        """A document by its id.

        Args:
            name: Its id, as a model may write it.
            version: Which version; by default the current one.

        Raises:
            UnknownName: There is none.
        """
        match = _DOC.fullmatch(name.strip(_AROUND))
        known = next((one for one in self.documents if match and one.id == f"doc_{int(match[1])}"), None)
        if known is None:
            raise UnknownName(f"There is no document {name[:60]!r}. {self.what()}")
        found = known.version(known.current if version is None else version)
        if found is None:
            versions = ", ".join(str(one.version) for one in known.versions)
            raise UnknownName(f"{known.id} has no version {version}. Its versions: {versions}.")
        return Found(known, found)

    def find(self, name: str, artifacts: ArtifactStore) -> ArtifactRef:
        """A picture by its id. Reads from the store: in async code, call this in a thread.

        Args:
            name: `img_1`, `doc_1.step_2`, `doc_1.v1.step_2`, or the `artifact://` id a tool named.
            artifacts: The store.

        Raises:
            UnknownName: There is none, or it cannot be used.
        """
        text = name.strip(_AROUND)
        if step := _STEP.fullmatch(text):
            return self._of_step(step[1], step[2], int(step[3]), artifacts)
        if img := _IMG.fullmatch(text):
            known = next((one for one in self.pictures if one.id == f"img_{int(img[1])}"), None)
        else:
            digest = text.lower().removeprefix(SCHEME).strip("/")
            known = next((one for one in self.pictures if one.key == digest), None)
            if known is None and _DIGEST.fullmatch(digest):
                return _measured(digest, name, artifacts, self)
        if known is None:
            raise UnknownName(f"There is no picture {name[:80]!r}. {self.what()}")
        if known.image is None:
            raise UnknownName(f"{known.id} cannot be used: {known.problem}. {self.what()}")
        if not artifacts.has(known.image):
            raise UnknownName(f"{known.id} is not in the store any more. Ask for it to be put in again.")
        return known.image

    def _of_step(self, document: str, version: str | None, step: int, artifacts: ArtifactStore) -> ArtifactRef:
        found = self.document(f"doc_{document}", int(version) if version else None)
        data = read_document(found.version.digest, artifacts)
        for one in data.steps:
            if one.index + data.first_number == step:
                if one.image is None:
                    raise UnknownName(f"Step {step} of {found.document.id} has no picture. {self.what()}")
                return one.image
        raise UnknownName(f"{found.document.id} has no step {step}. {self.what()}")

    def name_of(self, digest: str) -> str | None:
        """The id of a picture that was put in, by its digest."""
        return next((one.id for one in self.pictures if one.key == digest), None)

    # --- in words -------------------------------------------------------------------------------

    def line(self) -> str:
        """What there is, in one line; empty where there is nothing."""
        said: list[str] = []
        if self.pictures:
            before = len(self.pictures) - _LISTED
            shown = [_picture_in_words(one) for one in self.pictures[-_LISTED:]]
            first = [f"{self.pictures[0].id} to {self.pictures[before - 1].id}"] if before > 0 else []
            said.append(f"Pictures here: {', '.join([*first, *shown])}.")
        if self.documents:
            shown = [_document_in_words(one) for one in self.documents[-_LISTED:]]
            said.append(f"Documents here: {', '.join(shown)}.")
        return " ".join(said)

    def what(self) -> str:
        """As `line`, or that there is nothing."""
        return self.line() or "There are no pictures and no documents in this conversation yet."

    # --- as data --------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """JSON, as it is kept in the agent's state."""
        return self.model_dump(mode="json", exclude_none=True)

    @classmethod
    def from_json(cls, data: object) -> Gallery:
        """The gallery in a state key; an empty one where there is none.

        Raises:
            ConfigError: It is something else.
        """
        if data is None:
            return cls()
        try:
            return cls.model_validate(data)
        except ValueError as error:
            raise ConfigError(
                "The agent's state key for pictures and documents holds something else.",
                remedy="Leave that key to InterleaveMiddleware.",
            ) from error


def read_document(digest: str, artifacts: ArtifactStore) -> DocumentData:
    """A stored document.

    Raises:
        UnknownName: It is not in the store.
        ConfigError: It was written by a newer release.
    """
    try:
        return stored.read_document(artifacts, digest)
    except ArtifactMissing as error:
        raise UnknownName("The document is not in the store any more. Make a new one.") from error


def version_of(data: DocumentData, *, version: int, digest: str, parent: int | None) -> KnownVersion:
    """What a gallery keeps of a document."""
    return KnownVersion(
        version=version,
        digest=digest,
        parent=parent,
        outcome=data.outcome,
        steps=len(data.steps),
        pictures=tuple(step.index + data.first_number for step in data.steps if step.image is not None),
    )


def is_name(name: str) -> bool:
    """Whether it is written like the id of a picture, whether there is such a picture or not."""
    text = name.strip(_AROUND)
    return bool(_IMG.fullmatch(text) or _STEP.fullmatch(text))


def document_name(name: str) -> str | None:
    """The id meant by what a model wrote, whether there is such a document or not."""
    match = _DOC.fullmatch(name.strip(_AROUND))
    return f"doc_{int(match[1])}" if match else None


def artifact_of(message: object) -> Mapping[str, Any] | None:
    """The artifact of a tool message of ours, in which a document is named; `None` for any other message."""
    artifact: Any = getattr(message, "artifact", None)
    if isinstance(artifact, Mapping) and artifact.get("type") == "interleave.document":
        return artifact
    return None


def _next(ids: Any) -> int:
    return max((int(one.rpartition("_")[2]) for one in ids), default=0) + 1


def _measured(digest: str, name: str, artifacts: ArtifactStore, gallery: Gallery) -> ArtifactRef:
    from langgraph_interleave.imaging import measure_image

    try:
        data = artifacts.get(digest)
    except ArtifactMissing as error:
        raise UnknownName(f"There is no picture {name[:80]!r}. {gallery.what()}") from error
    measured = measure_image(data)
    if measured is None:
        raise UnknownName(f"{name[:80]!r} is not a picture. {gallery.what()}")
    mime, width, height = measured
    return ArtifactRef(sha256=digest, mime=mime, size=len(data), width=width, height=height)


def _picture_in_words(one: KnownPicture) -> str:
    image = one.image
    size = f"{image.width}x{image.height}" if image and image.width else None
    told = [part for part in (one.name, size, f"cannot be used: {one.problem}" if one.problem else None) if part]
    return f"{one.id} ({', '.join(told)})" if told else one.id


def _document_in_words(one: KnownDocument) -> str:
    current = one.version(one.current)
    told = [f"“{one.title}”", f"version {one.current}" + (f" of {len(one.versions)}" if len(one.versions) > 1 else "")]
    if current is not None and current.pictures:
        first, last = current.pictures[0], current.pictures[-1]
        whole = len(current.pictures) == last - first + 1
        names = [first, last] if whole and last > first + 1 else current.pictures
        told.append((" to " if whole and last > first + 1 else ", ").join(f"{one.id}.step_{n}" for n in names))
    return f"{one.id} ({', '.join(told)})"
