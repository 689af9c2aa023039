"""What client libraries raise and log in calls of ours, without pictures and without secrets.

Exceptions go to callbacks, tracers and logs, and a server may repeat in them whatever it was sent. At DEBUG level
the libraries log requests and the headers of answers themselves.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from langgraph_interleave.secrecy import HIDDEN, secrets_of_environment, secrets_of_headers, secrets_sent, without

_BASE64 = re.compile(r"[A-Za-z0-9+/_\\-]{128,}={0,2}")
_LEFT_OUT = "[base64 left out]"
#: Bytes as Python writes them, between words.
_ESCAPED = re.compile(r"(?:\\{1,4}(?:x[0-9a-fA-F]{2}|u00[0-9a-fA-F]{2}|[nrt0abfv'\"])[^\\\s]{0,40}){12,}")
_BYTES_LEFT_OUT = "[bytes left out]"
#: No words of a server's are longer, in characters; an answer may hold several.
_LONGEST, _LONGEST_ANSWER = 4000, 64_000
_DEEPEST = 20
#: Headers that describe the bytes as they were sent.
_OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")
_HTTP = frozenset({"httpx", "httpx2"})
#: Who logs requests and answers. A filter counts for one logger, not for those below it.
_LOGGERS = (
    "openai._base_client", "openai._legacy_response", "openai._response", "anthropic._base_client",
    "groq._base_client", "httpx", "httpx2", "urllib3.connectionpool", "websockets.client",
    *(f"httpcore{two}.{part}" for two in ("", "2") for part in ("connection", "http11", "http2", "proxy", "socks")),
)  # fmt: skip

Rule = Callable[[str], str]

_inside: ContextVar[Callable[[], Iterable[str]] | None] = ContextVar("langgraph_interleave_cleaning", default=None)


@contextmanager
def cleaning(secrets: Callable[[], Iterable[str]]) -> Generator[None]:
    """Clean whatever is raised inside, in place, and what is logged by the libraries that send requests.

    Args:
        secrets: What must not be in it, besides what `clean` knows; asked for only where something is raised or
            logged.
    """
    _listen()
    token = _inside.set(secrets)
    try:
        yield
    except Exception as error:
        clean(error, secrets())
        raise
    finally:
        with suppress(ValueError):  # a generator that is closed from elsewhere
            _inside.reset(token)


class _Quietly(logging.Filter):
    """Cleans what is logged in a call of ours; records of other calls stay as they are."""

    def filter(self, record: logging.LogRecord) -> bool:
        secrets = _inside.get()
        if secrets is not None:
            said = record.getMessage()
            kept: str = cleaned(said, secrets())
            if kept != said:
                record.msg, record.args = kept, ()
        return True


_quietly = _Quietly()


def _listen() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_quietly)  # of one and the same there is ever one


def clean(error: BaseException, secrets: Iterable[str] = ()) -> None:
    """Take encoded pictures and secrets out of an exception, and of those it is chained to.

    The secrets are those given, those of the environment, and what the requests it carries were sent with: a
    server may repeat any of it. Requests stay without body and credentials, answers without what they repeat.
    """
    links = list(_links(error, set()))
    hidden = {*secrets, *secrets_of_environment()}
    for link in links:
        for request in _requests(link):
            hidden |= secrets_sent(request)
    for link in links:
        _clean(link, _rule(hidden))


def cleaned(value: Any, secrets: Iterable[str] = ()) -> Any:
    """Plain data without encoded pictures, and without these secrets and those of the environment."""
    hidden = {*secrets, *secrets_of_environment()}
    return _cleaned(value, _rule(hidden))


def _rule(hidden: Collection[str]) -> Rule:
    def rule(text: str) -> str:
        text = _ESCAPED.sub(_BYTES_LEFT_OUT, _BASE64.sub(_LEFT_OUT, text))
        return without(text if len(text) <= _LONGEST_ANSWER else f"{text[:_LONGEST_ANSWER]}...", hidden)

    return rule


def _links(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    if id(error) in seen:
        return
    seen.add(id(error))
    yield error
    for other in (error.__cause__, error.__context__, *getattr(error, "exceptions", ())):
        if isinstance(other, BaseException):
            yield from _links(other, seen)


def _requests(link: BaseException) -> Iterator[Any]:
    """The requests an exception carries: its own, and that of the answer."""
    for holder in (link, getattr(link, "response", None)):
        try:
            request = getattr(holder, "request", None) or getattr(holder, "request_info", None)
        except RuntimeError:  # httpx: one made without a request
            continue
        if request is not None:
            yield request


def _clean(error: BaseException, rule: Rule) -> None:
    if (args := _cleaned(error.args, rule)) != error.args:
        error.args = args
    held = vars(error)
    for name, value in list(held.items()):
        kept = _cleaned(value, rule)
        if kept is not value and kept != value:
            held[name] = kept
    notes: Collection[str] = getattr(error, "__notes__", ())
    if notes:
        error.__notes__ = [rule(note) for note in notes]


def _cleaned(value: Any, rule: Rule, depth: int = 0) -> Any:
    kind = type(value)
    if kind is str:
        kept = rule(value)
        return kept if len(kept) <= _LONGEST else f"{kept[: _LONGEST - 1]}…"
    if kind is bytes:
        # Every byte as one character, so that what is left stays as it was.
        text = value.decode("latin-1")
        return value if (kept := rule(text)) == text else kept.encode("latin-1")
    if kind in (dict, list, tuple):
        if depth > _DEEPEST:
            return _LEFT_OUT
        if kind is dict:
            return {key: _cleaned(inner, rule, depth + 1) for key, inner in value.items()}
        return kind(_cleaned(inner, rule, depth + 1) for inner in value)
    # SDKs speak through `httpx` or `httpx2`; neither is imported for this.
    match kind.__module__.partition(".")[0], kind.__name__:
        case module, "Request" if module in _HTTP:
            return _cleaned_request(value, rule)
        case module, "Response" if module in _HTTP:
            return _cleaned_response(value, rule)
        case _:
            return value


def _cleaned_request(request: Any, rule: Rule) -> Any:
    """The same request without its body, and without what its headers and address hide."""
    headers = [(name, _shown(name, value, rule)) for name, value in request.headers.multi_items()]
    try:
        return type(request)(request.method, rule(str(request.url)), headers=headers)
    except (ValueError, TypeError):  # an address that is none any more
        return type(request)(request.method, f"{request.url.scheme}://{request.url.host}", headers=headers)


def _shown(name: str, value: str, rule: Rule) -> str:
    return HIDDEN if secrets_of_headers({name: value}) else rule(value)


def _cleaned_response(response: Any, rule: Rule) -> Any:
    """The same answer, with a request that has no body."""
    try:
        content = _cleaned(response.content, rule)
        request = _cleaned(response.request, rule)
    except RuntimeError:  # a streamed answer that was never read, or one made without a request
        content, request = b"", None
    headers = [
        (name, rule(value)) for name, value in response.headers.multi_items() if name.lower() not in _OF_THE_BODY
    ]
    return type(response)(response.status_code, headers=headers, content=content, request=request)
