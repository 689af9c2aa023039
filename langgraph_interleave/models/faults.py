"""A provider's exception as one of ours: by status, code and cause, whatever SDK raised it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from json import JSONDecodeError
from socket import gaierror
from typing import Any, cast

from langgraph_interleave.errors import (
    BadResponse,
    CallTimeout,
    ConfigError,
    ContentBlocked,
    InterleaveError,
    InvalidRequest,
    QuotaExhausted,
    RateLimited,
    Role,
    Unavailable,
)
from langgraph_interleave.models.cleaning import clean, cleaned
from langgraph_interleave.models.refusal import Refusal, brief, moderation_of, refusal_of, wait_of

#: Where a key goes, by the host that was asked and by the package that raised; the host goes first.
_KEY_BY_HOST = {
    "anthropic.com": "ANTHROPIC_API_KEY", "deepseek.com": "DEEPSEEK_API_KEY", "fireworks.ai": "FIREWORKS_API_KEY",
    "googleapis.com": "GOOGLE_API_KEY", "groq.com": "GROQ_API_KEY", "huggingface.co": "HF_TOKEN",
    "mistral.ai": "MISTRAL_API_KEY", "openai.azure.com": "AZURE_OPENAI_API_KEY", "openai.com": "OPENAI_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY", "together.xyz": "TOGETHER_API_KEY", "x.ai": "XAI_API_KEY",
}  # fmt: skip
_KEY_BY_PACKAGE = {
    "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY", "groq": "GROQ_API_KEY",
    "huggingface_hub": "HF_TOKEN", "langchain_google_genai": "GOOGLE_API_KEY", "langchain_openai": "OPENAI_API_KEY",
    "mistralai": "MISTRAL_API_KEY", "openai": "OPENAI_API_KEY",
}  # fmt: skip

_BLOCKED_CODES = frozenset(
    {"content_filter", "content_policy_violation", "moderation_blocked", "responsibleaipolicyviolation"}
)
#: Said by those who have no code for it. "moderation" alone would also match an unknown parameter of that name.
_BLOCKED_WORDS = re.compile(
    r"(?i)content (?:management|filtering) policy|usage (?:policy|policies|guidelines)|content policy"
    r"|by our safety system"
)
_QUOTA_CODES = frozenset(
    {"billing_hard_limit_reached", "billing_not_active", "insufficient_balance", "insufficient_quota"}
)
_QUOTA_WORDS = re.compile(r"(?i)credit balance is too low|insufficient (?:balance|credits|funds)")
_KEY_CODES = frozenset({"authentication_error", "invalid_api_key", "unauthenticated"})
_KEY_WORDS = re.compile(
    r"(?i)api key not valid|could not resolve authentication|api_key client option|missing credential"
)
_OVERLOADED = frozenset({"engine_overloaded", "overloaded_error", "server_is_overloaded", "slow_down"})
#: Class names of transport errors of httpx, httpx2, aiohttp, requests, and of the SDKs and LangChain over them.
_NEVER_SENT = frozenset(
    {"ClientConnectorError", "ConnectError", "ConnectTimeout", "ConnectionTimeoutError", "MaxRetryError",
     "NewConnectionError", "PoolTimeout", "ProxyError"}
)  # fmt: skip
_WRONG_ADDRESS = frozenset({"InvalidURL", "MissingSchema", "TooManyRedirects", "UnsupportedProtocol"})
_TIMED_OUT = frozenset(
    {"APITimeoutError", "DeadlineExceeded", "InferenceTimeoutError", "ModelTimeoutError", "ReadTimeout",
     "ServerTimeoutError", "TimeoutException", "WriteTimeout"}
)  # fmt: skip
_BROKE_OFF = frozenset(
    {"APIConnectionError", "ChunkedEncodingError", "ClientPayloadError", "ModelConnectionError", "NetworkError",
     "ProtocolError", "ReadError", "RemoteProtocolError", "ServerDisconnectedError", "TransportError", "WriteError"}
)  # fmt: skip
_UNREADABLE = frozenset({"APIResponseValidationError", "DecodingError", "LengthFinishReasonError", "SSEError"})
_REFUSED = frozenset({"ContentFilterFinishReasonError", "ModelRefusalError"})
#: LangChain's classes for providers whose exceptions carry no status.
_STATUS_OF_CLASS = {
    "ContextOverflowError": 400, "ModelAPIError": 500, "ModelAuthenticationError": 401,
    "ModelInvalidRequestError": 400, "ModelNotFoundError": 404, "ModelPermissionDeniedError": 403,
    "ModelRateLimitError": 429,
}  # fmt: skip

#: Packages whose failure to read an answer is the answer's fault, and where LangChain reads one.
_CLIENTS = frozenset({"anthropic", "google", "groq", "httpx", "httpx2", "huggingface_hub", "mistralai", "openai"})
_READERS = frozenset(
    {"_convert_chunk_to_generation_chunk", "_convert_delta_to_message_chunk", "_convert_dict_to_message",
     "_create_chat_result"}
)  # fmt: skip


def call_error(error: Exception, *, role: Role, what: str, secrets: Iterable[str] = ()) -> InterleaveError | None:
    """Name an exception that a provider's SDK, or the transport under it, raised.

    Args:
        error: What the call raised (openai, anthropic, google, huggingface_hub, LangChain, httpx, aiohttp …).
        role: Whose call it was.
        what: Who was called, for the message ("openai:gpt-5.2"). No secret.
        secrets: What was sent that nobody may read. Taken out of the exception itself, which is chained to ours, as
            are the secrets of its request and of the environment, and encoded pictures.

    Returns:
        One of `errors.py`, to be raised from `error`; an error of ours as it is; `None` for anything
        that is no provider's error: a bug, which must stay visible as one. `ambiguous` is set where
        the work may have been done: a connection that broke off once the request was sent, a 5xx. It
        is not for a 429, a 529 or a 503 that names a time to come back: those turn a request away
        before any work, while a bare 503 is also what a proxy says when its upstream broke off.

    Example:
        >>> call_error(ConnectionRefusedError(111, "refused"), role="backend", what="openai:m").ambiguous
        False
        >>> call_error(KeyError("x"), role="backend", what="openai:m") is None
        True
    """
    if isinstance(error, InterleaveError):
        return error
    clean(error, secrets)
    links = tuple(_chain(error))
    names = frozenset(name for link in links for name in _names(link))
    answer = _answered(links, names)
    if answer is not None:
        return _by_answer(answer, role, what, key=_key_name(links))
    if names & _REFUSED:
        said = brief(str(error))
        return ContentBlocked(
            f"{what} refused to answer: {said}", remedy="Put the request in other words.", role=role,
            code="refusal", detail={"stage": "output", "categories": [], "said": said},
        )  # fmt: skip
    return _by_transport(links, names, role, what) or _by_reading(error, links, names, role, what)


def error_in_answer(
    body: Mapping[str, Any] | str, *, role: Role, what: str, secrets: Iterable[str] = ()
) -> InterleaveError:
    """The error inside an answer that came with status 200, as some servers and gateways send it.

    Args:
        body: What the answer holds under `error`: an object, or mere words.
        role: Whose call it was.
        what: Who was called, for the message.
        secrets: What was sent that nobody may read.

    Example:
        >>> error_in_answer({"message": "slow down", "code": 429}, role="critic", what="openai:m")
        RateLimited('openai:m has had too many requests: slow down.')
    """
    fields = body if isinstance(body, Mapping) else {"message": body}
    fields = cast("Mapping[str, Any]", cleaned(dict(fields), secrets))
    return _by_answer(refusal_of(fields, status=None), role, what, key=None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(8):
        if link is None:
            return
        yield link
        link = link.__cause__


def _names(link: BaseException) -> Iterator[str]:
    for cls in type(link).__mro__:
        # `tarfile.ReadError` is no transport error.
        if cls.__module__.partition(".")[0] not in sys.stdlib_module_names:
            yield cls.__name__


def _answered(links: tuple[BaseException, ...], names: frozenset[str]) -> Refusal | None:
    """What the provider answered, if it did."""
    if names & _UNREADABLE:
        return None
    for link in links:
        response = getattr(link, "response", None)
        body = _body(link, response)
        headers: Mapping[str, str] = getattr(response, "headers", None) or getattr(link, "headers", None) or {}
        status = _status(link, response)
        if status is not None and status >= 300:
            return refusal_of(body, status=status, headers=headers, words=str(getattr(link, "message", "") or link))
        # An error event in a stream, or LangChain's ValueError about one in the answer.
        if body and (body.get("message") or body.get("code") or body.get("type")):
            return refusal_of(body, status=None, headers=headers)
    status = next((_STATUS_OF_CLASS[name] for name in names if name in _STATUS_OF_CLASS), None)
    words = str(links[0])
    if status is None and "OpenAIError" in names and _KEY_WORDS.search(words):
        status = 401
    if status is None and isinstance(links[0], TypeError) and _KEY_WORDS.search(words):
        status = 401
    return None if status is None else Refusal(status=status, words=brief(words))


def _status(link: BaseException, response: object) -> int | None:
    candidates = [getattr(link, "status_code", None), getattr(response, "status_code", None)]
    if isinstance(response, Mapping):  # botocore
        candidates.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    if not isinstance(link, OSError):
        candidates += [getattr(link, "status", None), getattr(link, "code", None)]
    return next((int(value) for value in candidates if isinstance(value, int) and 200 <= value <= 599), None)


def _body(link: BaseException, response: object) -> Mapping[str, Any]:
    found = getattr(link, "body", None) or getattr(link, "details", None)
    if found is None and isinstance(response, Mapping):
        error = response.get("Error", {})
        found = {"code": error.get("Code"), "message": error.get("Message")}
    if found is None and hasattr(response, "json"):
        try:
            found = cast(Any, response).json()
        except Exception:  # noqa: BLE001 - a body that is no JSON, or was never read, says nothing
            found = None
    if found is None and isinstance(link, ValueError) and link.args:
        found = link.args[0]
    if isinstance(found, Mapping):
        inner = found.get("error", found)
        return inner if isinstance(inner, Mapping) else {"message": str(inner)}
    return {"message": found} if isinstance(found, str) and hasattr(link, "body") else {}


def _by_answer(answer: Refusal, role: Role, what: str, *, key: str | None) -> InterleaveError:
    status, codes, words = answer.status, answer.codes, answer.words
    said = f": {words.rstrip('.')}." if words else "."
    common: dict[str, Any] = {"role": role, "code": answer.code or (str(status) if status else None)}
    detail: dict[str, Any] = {"status": status, "said": words}
    if request_id := answer.headers.get("x-request-id") or answer.headers.get("request-id"):
        detail["request_id"] = request_id
    client_fault = status is None or 400 <= status < 500
    if client_fault and (codes & _BLOCKED_CODES or (status not in (404, 429) and _BLOCKED_WORDS.search(words))):
        categories, stage = moderation_of(answer)
        about = f" ({', '.join(categories)})" if categories else ""
        return ContentBlocked(
            f"The moderation of {what} refused the request{about}{said}", remedy="Put it in other words.",
            detail={**detail, "categories": categories, "stage": stage}, **common,
        )  # fmt: skip
    if client_fault and (codes & _QUOTA_CODES or status == 402 or _QUOTA_WORDS.search(words)):
        return QuotaExhausted(
            f"The account of {what} has no credit left{said}",
            remedy="Add credit or raise its spending limit; what was made so far is kept.", detail=detail, **common,
        )  # fmt: skip
    if status == 404 or "model_not_found" in codes:
        return ConfigError(
            f"{what}: there is no such model for this account, or none at this address{said}",
            remedy="Check the model's name and base_url, and that the account may use it.",
        )
    if client_fault and (status == 401 or codes & _KEY_CODES or _KEY_WORDS.search(words)):
        # Its words repeat parts of the key.
        return ConfigError(
            f"{what} refused the key, or there is none.",
            remedy=f"Set {key} to a valid key." if key else "Set the key this server expects (api_key).",
        )
    if status == 403:
        return ConfigError(
            f"{what} refused the key: it has no right to this{said}",
            remedy=f"Set {key or 'api_key'} to a key with the right to use the model.",
        )
    if status == 429:
        return RateLimited(
            f"{what} has had too many requests{said}", remedy="Wait, or run fewer steps at once.",
            retry_after=wait_of(answer), detail=detail, **common,
        )  # fmt: skip
    if status is not None and (status >= 500 or status == 409):
        return _unavailable(answer, common, detail, f"{what} failed with status {status}{said}")
    if status == 408:
        return CallTimeout(f"{what} gave up waiting{said}", remedy="Allow more time.", detail=detail, **common)
    if status is not None and status < 400:
        return ConfigError(f"{what} sends elsewhere (status {status}).", remedy="Set base_url to the final address.")
    if status is None:
        return BadResponse(
            f"{what} answered with an error{said}", remedy="Look at its words; if they do not help, ask again.",
            detail=detail, **common,
        )  # fmt: skip
    return InvalidRequest(
        f"{what} refused the request (status {status}){said}", remedy="Change what its words name.", detail=detail,
        **common,
    )  # fmt: skip


def _unavailable(answer: Refusal, common: dict[str, Any], detail: dict[str, Any], message: str) -> Unavailable:
    wait = wait_of(answer)
    turned_away = answer.status in (409, 529) or (
        answer.status == 503 and (wait is not None or bool(answer.codes & _OVERLOADED))
    )
    # Inside a stream, work had begun.
    return Unavailable(
        message, remedy="Try again later, or use another model.", retry_after=wait,
        ambiguous=answer.inside or not turned_away, detail=detail, **common,
    )  # fmt: skip


def _by_transport(
    links: tuple[BaseException, ...], names: frozenset[str], role: Role, what: str
) -> InterleaveError | None:
    at = f" at {host}" if (host := _host(links)) else ""
    if names & _WRONG_ADDRESS:
        return ConfigError(f"{what} has no usable address.", remedy="Set base_url to http://… or https://….")
    if "LocalProtocolError" in names:
        # Its words hold the header, and with it the key.
        return ConfigError(
            f"A header for {what} cannot be sent.", remedy="Look for a line break or odd characters in the key."
        )
    if names & _NEVER_SENT or any(isinstance(link, (ConnectionRefusedError, gaierror)) for link in links):
        untrusted = any("CERTIFICATE_VERIFY_FAILED" in str(link) for link in links)
        why = "its certificate is not trusted" if untrusted else "no connection could be made"
        return Unavailable(
            f"{what} cannot be reached{at}: {why}.", remedy="Check the address, the network, and that it is running.",
            role=role, code="unreachable",
        )  # fmt: skip
    if names & _TIMED_OUT or any(isinstance(link, TimeoutError) for link in links):
        return CallTimeout(
            f"{what} did not answer in time{at}.", remedy="Allow more time; it may have been billed.", role=role,
            code="timeout",
        )  # fmt: skip
    if names & _BROKE_OFF or any(isinstance(link, (ConnectionResetError, ConnectionAbortedError)) for link in links):
        return Unavailable(
            f"The connection to {what}{at} broke off.", remedy="Try again; the call may have been billed.", role=role,
            code="broken_off", ambiguous=True,
        )  # fmt: skip
    return None


def _by_reading(
    error: Exception, links: tuple[BaseException, ...], names: frozenset[str], role: Role, what: str
) -> InterleaveError | None:
    """An answer that the client could not make sense of."""
    if "LengthFinishReasonError" in names:
        return BadResponse(f"The answer of {what} was cut off.", remedy="Allow more tokens.", role=role, code="length")
    frames = tuple(_frames(error))
    by_client = isinstance(error, (JSONDecodeError, UnicodeDecodeError)) and any(
        module in _CLIENTS or module.startswith("langchain_") for module, _ in frames
    )
    # What a client asserts where a stream held no pieces: a page, or words in place of events.
    by_client |= isinstance(error, AssertionError) and bool(frames) and frames[-1][0] in _CLIENTS
    by_langchain = bool(frames) and frames[-1][0].startswith("langchain_") and (
        frames[-1][1] in _READERS or isinstance(error, IndexError) or "No generation chunks" in str(error)
    )  # fmt: skip
    if names & _UNREADABLE or by_client or by_langchain:
        at = f" at {host}" if (host := _host(links)) else ""
        words = brief(str(error)) or type(error).__name__
        return BadResponse(
            f"The answer of {what}{at} is not what was promised: {words.rstrip('.')}.",
            remedy="Check base_url: is it the address of an API, with its path (/v1)?", role=role, code="unreadable",
        )  # fmt: skip
    return None


def _frames(error: BaseException) -> Iterator[tuple[str, str]]:
    """Package and function of every frame the exception passed through, innermost last."""
    trace = error.__traceback__
    while trace is not None:
        yield str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0], trace.tb_frame.f_code.co_name
        trace = trace.tb_next


def _host(links: tuple[BaseException, ...]) -> str | None:
    """Host and port that were asked; never the path, the query or a user's name in it."""
    for link in links:
        try:
            # httpx raises where an exception was made without a request.
            url = getattr(getattr(link, "request", None), "url", None)
        except RuntimeError:
            continue
        host, port = getattr(url, "host", None), getattr(url, "port", None)
        if host:
            return f"{host}:{port}" if port else str(host)
    return None


def _key_name(links: tuple[BaseException, ...]) -> str | None:
    host = (_host(links) or "").partition(":")[0]
    for suffix, name in _KEY_BY_HOST.items():
        if host == suffix or host.endswith(f".{suffix}"):
            return name
    packages = (type(link).__module__.partition(".")[0] for link in links)
    return next((_KEY_BY_PACKAGE[package] for package in packages if package in _KEY_BY_PACKAGE), None)
