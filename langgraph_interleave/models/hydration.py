"""Pictures reach a chat model inside its call and nowhere else.

Messages carry `{"type": "image", "url": "artifact://<sha256>"}`. What LangChain shows to callbacks, tracers,
caches and logs is what it was given, so all of them record the reference. A hydrating model puts the bytes
in at the last moment, inside the method that sends the request.

Resending is decided in one place, and that is not the provider's SDK: the model's own retries are off.
"""

from __future__ import annotations

import base64
import functools
import inspect
import types
import weakref
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableSequence, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.configurable import DynamicRunnable

from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.models.cleaning import cleaned, cleaning
from langgraph_interleave.secrecy import secrets_in
from langgraph_interleave.types.artifact import SCHEME, ImageBytes

_Model = TypeVar("_Model", bound=Runnable[Any, Any])

#: Where LangChain hands messages to a provider. The last two are optional and not declared by the base class.
_CALLS = ("_generate", "_agenerate", "_stream", "_astream", "_stream_chat_model_events", "_astream_chat_model_events")

#: What it tells tracers of the model and of a call. LangChain leaves the key out, and keeps headers and extra fields.
_DESCRIBES = ("to_json", "_get_invocation_params")

_shown: ContextVar[Mapping[str, ImageBytes] | None] = ContextVar("langgraph_interleave_shown", default=None)
_classes: weakref.WeakValueDictionary[type, type] = weakref.WeakValueDictionary()


@contextmanager
def showing(pictures: Iterable[ImageBytes]) -> Generator[None]:
    """Let the hydrating models called inside see these pictures, by their digests.

    Nested blocks add up. It holds for the current context: for tasks started inside, not for those of others.

    Args:
        pictures: The pictures the messages refer to; more of them, or one twice, does no harm.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> picture = ImageBytes(b"...", "image/png", 1, 1)
        >>> with showing([picture]):
        ...     [message] = hydrated([HumanMessage([{"type": "image", "url": "artifact://" + picture.sha256}])])
        >>> message.content
        [{'type': 'image', 'base64': 'Li4u', 'mime_type': 'image/png'}]
    """
    token = _shown.set({**(_shown.get() or {}), **{picture.sha256: picture for picture in pictures}})
    try:
        yield
    finally:
        _shown.reset(token)


def hydrated(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """Put the bytes in place of every reference; the messages given are not changed.

    Raises:
        ArtifactMissing: A reference is to a picture that is not shown.
    """
    return [_hydrated(message) for message in messages]


def hydrating(model: _Model) -> _Model:
    """Copy a model so that pictures are put into its messages inside the call, and never resent by its SDK.

    The copy is of a class of its own with the same name, so tracers see the model the user gave, and shares
    its HTTP connections. What the model raises has neither base64 nor a secret in its message, body, request
    or response.

    Args:
        model: A chat model; or one with options bound, retries, fallbacks or a parser: then the
            innermost are copied. It is never changed itself.

    Raises:
        ConfigError: There is no chat model in it.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> model = hydrating(FakeListChatModel(responses=["A cat."]))
        >>> type(model).__name__, model.invoke("What is it?").text
        ('FakeListChatModel', 'A cat.')
    """
    copy = _copy(model)
    if copy is None:
        raise ConfigError(
            f"There is no chat model in {type(model).__name__}.",
            remedy="Give a LangChain chat model, or one with options bound to it.",
        )
    return cast("_Model", copy)


def _copy(part: Runnable[Any, Any]) -> Runnable[Any, Any] | None:
    """The copy, or `None` when there is no chat model inside."""
    changed: dict[str, Any]
    match part:
        case BaseChatModel():
            return _copied(part)
        case RunnableBindingBase():
            changed = {"bound": _copy(part.bound)}
        case DynamicRunnable():
            changed = {"default": _copy(part.default)}
        case RunnableWithFallbacks():
            others = [_copy(other) or other for other in part.fallbacks]
            changed = {"runnable": _copy(part.runnable), "fallbacks": others}
        case RunnableSequence():
            # A chat model comes first when its answer is parsed, and after a prompt.
            steps = [_copy(step) for step in part.steps]
            if not any(steps):
                return None
            both = [one or step for one, step in zip(steps, part.steps, strict=True)]
            changed = {"first": both[0], "middle": both[1:-1], "last": both[-1]}
        case _:
            return None
    return None if None in changed.values() else part.model_copy(update=changed)


def _copied(model: BaseChatModel) -> BaseChatModel:
    copy = model.model_copy(update=_without_resends(model))
    if "max_retries" in type(model).model_fields and getattr(model, "max_retries", None) != 0:
        # A client made on first use would remember the retries it was made with.
        for name in list(vars(copy)):
            if isinstance(inspect.getattr_static(type(model), name, None), functools.cached_property):
                del vars(copy)[name]
    for name, value in list(vars(copy).items()):
        # How it described itself before it was one of these.
        if isinstance(value, dict) and isinstance(
            inspect.getattr_static(type(model), name, None), functools.cached_property
        ):
            del vars(copy)[name]
    object.__setattr__(copy, "__class__", _class_of(type(model)))
    return copy


def _without_resends(model: BaseChatModel) -> dict[str, Any]:
    """The fields that switch the SDK's own retries off."""
    fields = type(model).model_fields
    changed: dict[str, Any] = {"max_retries": 0} if "max_retries" in fields else {}
    for root_name, name in (("root_client", "client"), ("root_async_client", "async_client")):
        resource = getattr(model, name, None)
        # What a Stainless client (OpenAI, Groq, …) offers is a resource made from the client.
        root = getattr(model, root_name, None) or getattr(resource, "_client", None)
        if name not in fields or not callable(getattr(root, "with_options", None)):
            continue
        calm = cast("Any", root).with_options(max_retries=0)
        if root_name in fields:
            changed[root_name] = calm
        if resource is not None and getattr(resource, "_client", None) is root:
            changed[name] = type(resource)(calm)
    return changed


def _class_of(cls: type[BaseChatModel]) -> type[BaseChatModel]:
    """The hydrating class of a model's class; of a hydrating one, itself."""
    if cls in _classes.values():
        return cls
    made = _classes.get(cls)
    if made is None:
        # Only what the class itself brings: LangChain asks whether a method is still the base class's.
        calls = {
            name: _call(getattr(cls, name))
            for name in _CALLS
            if getattr(cls, name, None) is not getattr(BaseChatModel, name, None)
        }
        calls |= {name: _told(getattr(cls, name)) for name in _DESCRIBES if hasattr(cls, name)}
        same = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
        made = types.new_class(cls.__name__, (cls,), {}, lambda space: space.update(same | calls))
        _classes[cls] = made
    return made


def _told(original: Callable[..., Any]) -> Callable[..., Any]:
    """What a model says of itself, without its secrets."""

    @functools.wraps(original)
    def told(self: BaseChatModel, *args: Any, **options: Any) -> Any:
        return cleaned(original(self, *args, **options), secrets_in(self, options))

    return told


def _call(original: Callable[..., Any]) -> Callable[..., Any]:
    """The method with pictures; LangChain tells by the signature what it may pass, so that stays."""
    name = original.__name__
    if name == "_generate":

        @functools.wraps(original)
        def generate(self: BaseChatModel, messages: list[BaseMessage], *args: Any, **options: Any) -> Any:
            with cleaning(lambda: secrets_in(self, options)):
                return original(self, hydrated(messages), *args, **options)

        return generate
    if name == "_agenerate":

        @functools.wraps(original)
        async def agenerate(self: BaseChatModel, messages: list[BaseMessage], *args: Any, **options: Any) -> Any:
            with cleaning(lambda: secrets_in(self, options)):
                return await original(self, hydrated(messages), *args, **options)

        return agenerate
    if name.startswith("_a"):

        @functools.wraps(original)
        async def astream(
            self: BaseChatModel, messages: list[BaseMessage], *args: Any, **options: Any
        ) -> AsyncIterator[Any]:
            with cleaning(lambda: secrets_in(self, options)):
                async with aclosing(original(self, hydrated(messages), *args, **options)) as pieces:
                    async for piece in pieces:
                        yield piece

        return astream

    @functools.wraps(original)
    def stream(self: BaseChatModel, messages: list[BaseMessage], *args: Any, **options: Any) -> Iterator[Any]:
        with cleaning(lambda: secrets_in(self, options)):
            yield from original(self, hydrated(messages), *args, **options)

    return stream


def _hydrated(message: BaseMessage) -> BaseMessage:
    if isinstance(message.content, str) or all(_address(block) is None for block in message.content):
        return message
    return message.model_copy(update={"content": [_block(block) for block in message.content]})


def _address(block: object) -> str | None:
    """The digest a block refers to: an image block, or the older `image_url` form."""
    if not isinstance(block, dict):
        return None
    holder = cast("dict[str, Any]", block)
    if holder.get("type") == "image_url":
        inner = holder.get("image_url")
        url = cast("dict[str, Any]", inner).get("url") if isinstance(inner, dict) else inner
    else:
        url = holder.get("url") if holder.get("type") == "image" else None
    return url.removeprefix(SCHEME) if isinstance(url, str) and url.startswith(SCHEME) else None


def _block(block: Any) -> Any:
    digest = _address(block)
    if digest is None:
        return block
    picture = (_shown.get() or {}).get(digest)
    if picture is None:
        raise ArtifactMissing(
            f"The picture {digest[:12]}… that a message refers to was not given to the call.",
            remedy="Call the model inside `with showing([picture, …]):`.",
        )
    data = base64.b64encode(picture.data).decode()
    if block["type"] == "image_url":
        inner = block["image_url"] if isinstance(block["image_url"], dict) else {}
        return {**block, "image_url": {**inner, "url": f"data:{picture.mime};base64,{data}"}}
    rest = {key: value for key, value in block.items() if key not in ("type", "url", "source_type", "mime_type")}
    return {"type": "image", "base64": data, "mime_type": picture.mime, **rest}
