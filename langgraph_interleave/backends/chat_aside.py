"""Pictures leave a chat model beside its answer: callbacks, tracers and caches see references only.

LangChain shows what a model returns to whoever listens. A model that draws returns megabytes of base64, so
the message it returns is put aside whole for the backend, and a copy with references goes on.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import re
import types
import weakref
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langgraph_interleave.models.wrapping import mapped
from langgraph_interleave.types.artifact import SCHEME

_ENCODED = re.compile(r"(?:\s*data:[\w/+.;=-]{1,200};base64,)?(?P<data>[A-Za-z0-9+/_\s-]{256,}={0,2})\s*")
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class _Kept:
    whole: AIMessage
    passed_on: BaseMessage


_kept: ContextVar[list[_Kept] | None] = ContextVar("langgraph_interleave_drawn", default=None)
_classes: weakref.WeakValueDictionary[type, type] = weakref.WeakValueDictionary()


@contextmanager
def answers() -> Generator[list[AIMessage]]:
    """Collect the whole messages of the models called inside; the list is filled when the block ends."""
    kept: list[_Kept] = []
    whole: list[AIMessage] = []
    token = _kept.set(kept)
    try:
        yield whole
    finally:
        _kept.reset(token)
        whole += [one.whole for one in kept]


def aside(model: Any) -> Any:
    """Copy a model so that its pictures are put aside: never streamed, never cached by LangChain.

    What OpenAI's chat protocol has no place for and routers send all the same (`message.images`) is kept too.

    Args:
        model: A chat model, with whatever is around it.
    """
    return mapped(model, _copied)


def _copied(model: BaseChatModel) -> BaseChatModel:
    copy = model.model_copy(update={"disable_streaming": True, "cache": False})
    object.__setattr__(copy, "__class__", _class_of(type(model)))
    return copy


def _class_of(cls: type[BaseChatModel]) -> type[BaseChatModel]:
    if cls in _classes.values():
        return cls
    made = _classes.get(cls)
    if made is None:
        calls: dict[str, Any] = {"_generate": _generate(getattr(cls, "_generate"))}  # noqa: B009 - not ours
        if (later := getattr(cls, "_agenerate")) is not getattr(BaseChatModel, "_agenerate"):  # noqa: B009
            calls["_agenerate"] = _agenerate(later)
        if callable(reader := getattr(cls, "_create_chat_result", None)):
            calls["_create_chat_result"] = _with_images(reader)
        same = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
        made = types.new_class(cls.__name__, (cls,), {}, lambda space: space.update(same | calls))
        _classes[cls] = made
    return made


def _generate(original: Callable[..., ChatResult]) -> Callable[..., ChatResult]:
    @functools.wraps(original)
    def generate(self: BaseChatModel, *args: Any, **options: Any) -> ChatResult:
        return _put_aside(original(self, *args, **options))

    return generate


def _agenerate(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    async def agenerate(self: BaseChatModel, *args: Any, **options: Any) -> ChatResult:
        return _put_aside(await original(self, *args, **options))

    return agenerate


def _with_images(original: Callable[..., Any]) -> Callable[..., Any]:
    """The reader of an answer that also keeps the pictures beside its words."""

    @functools.wraps(original)
    def read(self: BaseChatModel, response: Any, *args: Any, **options: Any) -> Any:
        result = original(self, response, *args, **options)
        whole = response if isinstance(response, Mapping) else response.model_dump()
        for choice, generation in zip(whole.get("choices") or (), result.generations, strict=False):
            images = (choice.get("message") or {}).get("images")
            if images:
                generation.message.additional_kwargs["images"] = images
        return result

    return read


def _put_aside(result: ChatResult) -> ChatResult:
    kept = _kept.get()
    generations: list[ChatGeneration] = []
    for generation in result.generations:
        message = generation.message
        if kept is not None and any(one.passed_on is message for one in kept):
            generations.append(generation)  # one method of the class called the other
            continue
        light = message.model_copy(
            update={"content": _lightened(message.content), "additional_kwargs": _lightened(message.additional_kwargs)}
        )
        if kept is not None and isinstance(message, AIMessage):
            kept.append(_Kept(message, light))
        generations.append(ChatGeneration(message=light, generation_info=generation.generation_info))
    return ChatResult(generations=generations, llm_output=result.llm_output)


def _lightened(value: Any, depth: int = 0) -> Any:
    """The same with the digest of every encoded picture in its place."""
    if isinstance(value, str):
        return _reference(value)
    if isinstance(value, bytes):
        return f"{SCHEME}{hashlib.sha256(value).hexdigest()}"
    if depth > _DEEPEST:
        return value
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        return {key: _lightened(inner, depth + 1) for key, inner in held.items()}
    if isinstance(value, list):
        return [_lightened(inner, depth + 1) for inner in cast("list[Any]", value)]
    return value


def _reference(text: str) -> str:
    found = _ENCODED.fullmatch(text) if len(text) >= 256 else None
    if found is None:
        return text
    try:
        data = base64.b64decode(
            re.sub(r"\s+", "", found["data"]), altchars=b"-_" if "-" in text or "_" in text else None
        )
    except (binascii.Error, ValueError):
        return "[a picture that cannot be decoded]"
    return f"{SCHEME}{hashlib.sha256(data).hexdigest()}"
