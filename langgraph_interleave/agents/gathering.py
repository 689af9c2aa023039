"""From messages to the gallery of a conversation: which pictures and documents are in it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar, cast

from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import ValidationError

from langgraph_interleave.agents.gallery import Gallery, KnownVersion, artifact_of
from langgraph_interleave.artifacts import ArtifactStore, canonical_json
from langgraph_interleave.chat.conversation import holds_bytes, with_references
from langgraph_interleave.content import read_request
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.types import SCHEME, ArtifactRef, ImagePart

Message = TypeVar("Message", bound=BaseMessage)

_IMG_ID, _DOC_ID = re.compile(r"img_[1-9][0-9]{0,8}"), re.compile(r"doc_[1-9][0-9]{0,8}")
_DIGEST, _ANY = re.compile(r"[0-9a-f]{64}"), "0" * 64
_UNREADABLE = "it cannot be read"
_IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})


def gather(messages: Sequence[BaseMessage], known: Gallery, artifacts: ArtifactStore) -> Gallery:
    """The gallery of a conversation.

    Pictures are found in messages of every kind: base64 and `data:` blocks in any of the forms LangChain
    takes, references, and what image tools drew. Bytes are put into the store, and are the same picture
    wherever they come again. What cannot be used (a picture on the web, or one that cannot be read) has an
    id as well, and says why.

    Args:
        messages: The conversation.
        known: What is known of it already; ids in it stay.
        artifacts: The store. Written to, and read: in async code, call this in a thread.

    Returns:
        The same gallery, where nothing is new.

    Example:
        >>> store = ArtifactStore.memory()
        >>> asked = HumanMessage([{"type": "image", "url": "https://example.org/b.png"}])
        >>> [known] = gather([asked], Gallery(), store).pictures
        >>> known.id, known.problem
        ('img_1', 'it is on the web, and pictures are not fetched from there')
    """
    gallery = known
    # Ids that were told to the model once, by messages that may have been removed since.
    for message in messages:
        for name, block in _told(artifact_of(message)):
            gallery = _with_block(gallery, block, artifacts, given_id=name)
    for message in messages:
        artifact = artifact_of(message)
        if artifact is not None:
            gallery = _with_document(gallery, artifact)
            continue
        for block in _blocks(message):
            gallery = _with_block(gallery, _referenced(block, artifacts), artifacts)
    return gallery


def stored(message: Message, artifacts: ArtifactStore) -> Message:
    """A message whose pictures are in the store; the same object where it holds no bytes that can be read.

    A link that this store made of a picture, and somebody sends back, is that picture again; nothing is fetched.
    A picture that cannot be read stays as it came; see `without_unreadable`.

    Args:
        message: A message of any kind.
        artifacts: Where to. Written to: in async code, call this in a thread.
    """
    if not isinstance(message.content, list):
        return message
    linked = [_referenced(block, artifacts) for block in message.content]
    if not holds_bytes([message]) and linked == message.content:
        return message
    content: list[Any] = []
    for block in linked:
        try:
            content += with_references(HumanMessage([block]), artifacts).content
        except ConfigError:
            content.append(block)
    return message if content == message.content else message.model_copy(update={"content": content})


def _referenced(block: Any, artifacts: ArtifactStore) -> Any:
    """A block with a link to a picture of this store as a reference; every other block as it is.

    Whoever knows a digest may name it as `artifact://…` just as well, so the link's signature says no more.
    """
    url = _url(block) if _is_picture(block) else None
    link = artifacts.linker() if url is not None and "/artifacts/" in url else None
    if url is None or link is None:
        return block
    start, digest = link(_ANY).partition(_ANY)[0], url.partition("?")[0][-len(_ANY) :]
    if url.partition("?")[0] != f"{start}{digest}" or not _DIGEST.fullmatch(digest):
        return block
    name = _name(block)
    return {"type": "image", "url": f"{SCHEME}{digest}", **({"extras": {"name": name}} if name else {})}


def without_unreadable(message: Message, gallery: Gallery) -> Message:
    """A message with words in place of pictures that cannot be read; the same object where there are none.

    Providers refuse such a picture, and with it the conversation it stays in.

    Args:
        message: A message of any kind.
        gallery: What was gathered from it.
    """
    if not isinstance(message.content, list):
        return message
    problems = {one.key: one for one in gallery.pictures if one.problem == _UNREADABLE}
    content: list[Any] = []
    for block in message.content:
        known = problems.get(_key(dict(block))) if _is_picture(block) else None
        words = (
            None if known is None else f"[picture {known.id}{f' ({known.name})' if known.name else ''}: {_UNREADABLE}]"
        )
        content.append(block if words is None else {"type": "text", "text": words})
    return message if content == message.content else message.model_copy(update={"content": content})


def _is_picture(block: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(block, Mapping) and cast("Mapping[str, Any]", block).get("type") in _IMAGE_TYPES


def _told(artifact: Mapping[str, Any] | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The pictures in an artifact by their ids; whoever sends messages can send anything there."""
    pictures: Any = (artifact or {}).get("pictures")
    if isinstance(pictures, Mapping):
        for name, block in cast("Mapping[Any, Any]", pictures).items():
            if isinstance(name, str) and isinstance(block, Mapping) and _IMG_ID.fullmatch(name):
                yield name, cast("Mapping[str, Any]", block)


def _blocks(message: BaseMessage) -> Iterator[Mapping[str, Any]]:
    drawn: Any = getattr(message, "artifact", None)
    drawn = drawn.get("images") if isinstance(drawn, Mapping) else None
    # What an image tool drew; what its message shows is a smaller copy.
    content: Any = drawn if isinstance(drawn, list) else message.content
    if isinstance(content, list):
        for block in cast("list[Any]", content):
            if _is_picture(block):
                yield block


def _with_block(
    gallery: Gallery, block: Mapping[str, Any], artifacts: ArtifactStore, *, given_id: str | None = None
) -> Gallery:
    url = _url(block)
    if url is not None and url.startswith(SCHEME):
        if any(one.key == url.removeprefix(SCHEME) for one in gallery.pictures):
            return gallery
    elif url is not None and url[:5].lower() != "data:":
        problem = "it is on the web, and pictures are not fetched from there"
        return gallery.with_picture(_key(url), None, name=_name(block), problem=problem, given_id=given_id)
    elif url is None and "file_id" in block:
        problem = "it is in a provider's file storage"
        return gallery.with_picture(_key(block["file_id"]), None, name=_name(block), problem=problem, given_id=given_id)
    try:
        image, name = _kept(block, artifacts)
    except (ArtifactMissing, ConfigError) as error:
        problem = "it is not in this store" if isinstance(error, ArtifactMissing) else _UNREADABLE
        key = url.removeprefix(SCHEME) if url and url.startswith(SCHEME) else _key(dict(block))
        return gallery.with_picture(key, None, name=_name(block), problem=problem, given_id=given_id)
    return gallery.with_picture(image.sha256, image, name=name or _name(block), given_id=given_id)


def _kept(block: Mapping[str, Any], artifacts: ArtifactStore) -> tuple[ArtifactRef, str | None]:
    stored: Any = with_references(HumanMessage([dict(block)]), artifacts).content
    [part] = read_request(stored, artifacts).parts
    if not isinstance(part, ImagePart):
        raise ConfigError("It is no picture.")
    return part.image, part.name


def _with_document(gallery: Gallery, artifact: Mapping[str, Any]) -> Gallery:
    try:
        version = KnownVersion.model_validate(artifact["known"])
        if not _DOC_ID.fullmatch(str(artifact["document"])):
            return gallery
        return gallery.with_version(
            str(artifact["document"]), str(artifact["title"]), version, current=artifact.get("changed") is not False
        )
    except (KeyError, ValidationError):
        return gallery  # of another version of this package, or not made by it


def _url(block: Mapping[str, Any]) -> str | None:
    url: Any = block.get("url", block.get("image_url"))
    if isinstance(url, Mapping):
        url = cast("Mapping[str, Any]", url).get("url")
    return url if isinstance(url, str) else None


def _name(block: Mapping[str, Any]) -> str | None:
    """What a picture is called: its file's name, else what it shows."""
    extras: Any = block.get("extras")
    for holder in (block, extras if isinstance(extras, Mapping) else {}):
        for key in ("name", "filename", "alt"):
            if isinstance(holder.get(key), str):
                return holder[key]
    return None


def _key(value: Any) -> str:
    try:
        return hashlib.sha256(canonical_json(value)).hexdigest()
    except (TypeError, ValueError):
        return hashlib.sha256(repr(value).encode()).hexdigest()
