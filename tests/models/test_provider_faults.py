"""Providers' exceptions as ours: the real classes of openai and LangChain, others by their shape."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from typing import Any

import httpx
import httpx2
import openai
import pytest

from langgraph_interleave.errors import (
    BadResponse,
    CallError,
    CallTimeout,
    ConfigError,
    ContentBlocked,
    InterleaveError,
    InvalidRequest,
    NoImage,
    QuotaExhausted,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.ledger.records import ending_of
from langgraph_interleave.models.faults import call_error, error_in_answer
from langgraph_interleave.models.refusal import brief, retry_after_of

WHAT = "openai:gpt-image-2.6-flare"
KEY = "sk-proj-abcdef0123456789abcdef"
URL = f"https://user:{KEY}@api.openai.com/v1/images/generations?api_key={KEY}"


@cache
def _client() -> openai.OpenAI:
    return openai.OpenAI(api_key=KEY)


def answered(status: int, error: object, *, url: str = URL, **headers: str) -> openai.APIError:
    """The exception that the SDK makes of an answer."""
    request = httpx2.Request("POST", url)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    content = error if isinstance(error, str) else json.dumps({"error": error})
    response = httpx2.Response(status, request=request, content=content, headers=headers)
    return _client()._make_status_error_from_response(response)


def mapped(error: Exception, what: str = WHAT) -> InterleaveError:
    found = call_error(error, role="backend", what=what)
    assert found is not None
    text = f"{found} {found!r} {vars(found)}"
    assert KEY not in text and "sk-proj" not in text
    assert len(found.message) < 400 and found.remedy
    return found


STATUS = [
    (401, {"message": f"Incorrect API key provided: {KEY}.", "code": "invalid_api_key"}, ConfigError),
    (403, {"message": "You are not allowed to sample from this model."}, ConfigError),
    (404, {"message": "The model `x` does not exist", "code": "model_not_found"}, ConfigError),
    (403, {"message": "Project has no access to x", "code": "model_not_found"}, ConfigError),
    (
        400,
        {"message": "Rejected.", "code": "moderation_blocked", "type": "image_generation_user_error"},
        ContentBlocked,
    ),
    (400, {"message": "Your request was rejected by our safety system."}, ContentBlocked),
    (400, {"message": "No.", "code": "content_policy_violation"}, ContentBlocked),
    (400, {"message": "Limit.", "code": "billing_hard_limit_reached"}, QuotaExhausted),
    (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, QuotaExhausted),
    (402, {"message": "Pay first."}, QuotaExhausted),
    (429, {"message": "Rate limit reached", "code": "rate_limit_exceeded"}, RateLimited),
    (400, {"message": "Unknown parameter: 'moderation'.", "code": "unknown_parameter"}, InvalidRequest),
    (413, "<html>Too large</html>", InvalidRequest),
    (422, {"message": "image[]: extra field"}, InvalidRequest),
    (408, {"message": "Timed out."}, CallTimeout),
    (500, {"message": "The server had an error."}, Unavailable),
    (502, "<html>Bad gateway</html>", Unavailable),
    (503, {"message": "Busy."}, Unavailable),
]


@pytest.mark.parametrize(("status", "error", "kind"), STATUS)
def test_a_status_becomes_the_error_that_says_what_to_do(status: int, error: object, kind: type) -> None:
    found = mapped(answered(status, error))
    assert type(found) is kind
    assert WHAT in found.message
    assert "<" not in found.message


def test_a_refused_key_names_the_variable_and_never_the_key() -> None:
    found = mapped(answered(401, {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}))
    assert "refused the key" in found.message and "OPENAI_API_KEY" in found.remedy
    router = answered(401, {"message": "no"}, url="https://router.huggingface.co/v1/chat/completions")
    assert "HF_TOKEN" in mapped(router).remedy


def test_what_moderation_flagged_is_in_the_detail() -> None:
    details = {"categories": ["violence"], "moderation_stage": "input"}
    found = mapped(answered(400, {"message": "No.", "code": "moderation_blocked", "moderation_details": details}))
    assert isinstance(found, ContentBlocked)
    assert found.detail["categories"] == ["violence"] and found.detail["stage"] == "input"
    assert "violence" in found.message and found.code == "moderation_blocked"
    filtered = {"hate": {"filtered": True, "severity": "high"}, "sexual": {"filtered": False}}
    azure = {"message": "Filtered.", "code": "content_filter", "innererror": {"content_filter_result": filtered}}
    found = mapped(answered(400, azure))
    assert isinstance(found, ContentBlocked) and found.detail["categories"] == ["hate"]
    old = mapped(answered(400, {"message": "By our safety system. safety_violations=[sexual, hate].", "code": None}))
    assert isinstance(old, ContentBlocked) and old.detail["categories"] == ["sexual", "hate"]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 0.0),
    ],
)
def test_the_time_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_of(headers) == seconds


def test_a_date_is_counted_from_now_without_the_providers_clock() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert retry_after_of({"retry-after": later}) == pytest.approx(60, abs=2)


def test_retry_after_reaches_the_error() -> None:
    found = mapped(answered(429, {"message": "Slow."}, retry_after="3"))
    assert isinstance(found, RateLimited) and found.retry_after == 3.0 and not found.ambiguous


@pytest.mark.parametrize(
    ("error", "ambiguous"),
    [
        (answered(500, {"message": "Oops."}), True),
        (answered(500, {"message": "Oops."}, retry_after="2"), True),
        (answered(502, "bad gateway"), True),
        (answered(503, {"message": "upstream connect error or disconnect/reset before headers"}), True),
        (answered(503, {"message": "Overloaded."}, retry_after="2"), False),
        (answered(503, {"message": "Slow down.", "code": "slow_down"}), False),
        (answered(529, {"message": "Overloaded", "type": "overloaded_error"}), False),
        (answered(504, {"message": "Gateway timeout."}), True),
    ],
)
def test_only_a_request_that_was_turned_away_was_surely_not_done(error: Exception, ambiguous: bool) -> None:
    found = mapped(error)
    assert isinstance(found, Unavailable)
    assert found.ambiguous is ambiguous and found.resendable
    assert ending_of(found, billed=True) == ("ambiguous" if ambiguous else "released")


def chained(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


REQUEST = httpx2.Request("POST", URL)


@pytest.mark.parametrize(
    ("error", "kind", "ambiguous"),
    [
        (chained(openai.APIConnectionError(request=REQUEST), httpx2.ConnectError("refused")), Unavailable, False),
        (chained(openai.APITimeoutError(request=REQUEST), httpx2.ConnectTimeout("")), Unavailable, False),
        (chained(openai.APITimeoutError(request=REQUEST), httpx2.PoolTimeout("")), Unavailable, False),
        (chained(openai.APITimeoutError(request=REQUEST), httpx2.ReadTimeout("")), CallTimeout, True),
        (openai.APITimeoutError(request=REQUEST), CallTimeout, True),
        (chained(openai.APIConnectionError(request=REQUEST), httpx2.ReadError("reset")), Unavailable, True),
        (openai.APIConnectionError(request=REQUEST), Unavailable, True),
        (httpx.ConnectError("refused"), Unavailable, False),
        (httpx.ReadTimeout("slow"), CallTimeout, True),
        (httpx2.RemoteProtocolError("Server disconnected"), Unavailable, True),
        (ConnectionRefusedError(111, "refused"), Unavailable, False),
        (ConnectionResetError(104, "reset"), Unavailable, True),
        (TimeoutError(), CallTimeout, True),
    ],
)
def test_the_transport(error: Exception, kind: type[CallError], ambiguous: bool) -> None:
    found = mapped(error)
    assert type(found) is kind
    assert isinstance(found, CallError) and found.ambiguous is ambiguous


def test_a_bare_http_client_is_read_by_its_response() -> None:
    request = httpx.Request("POST", URL)
    body = {"error": {"message": "Rejected.", "code": "moderation_blocked"}}
    for content, kind in ((json.dumps(body), ContentBlocked), ("<html>", InvalidRequest)):
        response = httpx.Response(400, request=request, content=content)
        with pytest.raises(httpx.HTTPStatusError) as caught:
            response.raise_for_status()
        assert type(mapped(caught.value)) is kind
    unread = httpx.Response(503, request=request, headers={"retry-after": "4"}, stream=httpx.ByteStream(b"x"))
    found = mapped(httpx.HTTPStatusError(f"503 for {URL}", request=request, response=unread))
    assert isinstance(found, Unavailable) and found.retry_after == 4.0
    aio = shaped(
        "ClientResponseError", "aiohttp", status=429, headers={"Retry-After": "2"}, message="Too Many Requests"
    )
    found = mapped(aio)
    assert isinstance(found, RateLimited) and found.retry_after == 2.0


def test_the_host_is_named_and_nothing_else_of_the_address() -> None:
    error = chained(openai.APIConnectionError(request=REQUEST), httpx2.ConnectError("refused"))
    message = mapped(error).message
    assert "api.openai.com" in message and "user" not in message and "images" not in message


def test_wrong_addresses_and_headers_are_the_users_to_mend() -> None:
    assert isinstance(mapped(httpx2.UnsupportedProtocol("no http://")), ConfigError)
    header = httpx2.LocalProtocolError(f"Illegal header value b'Bearer {KEY}\\n'")
    assert isinstance(mapped(chained(openai.APIConnectionError(request=REQUEST), header)), ConfigError)


def test_no_key_at_all() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("OPENAI_API_KEY", raising=False)
        patch.delenv("OPENAI_ADMIN_KEY", raising=False)
        with pytest.raises(openai.OpenAIError) as caught:
            openai.OpenAI()
    found = mapped(caught.value)
    assert isinstance(found, ConfigError) and "OPENAI_API_KEY" in found.remedy


def shaped(name: str, module: str, base: type[Exception] = Exception, **fields: Any) -> Exception:
    """An exception of an SDK that is not installed, by its documented shape."""
    error = type(name, (base,), {"__module__": module})(fields.get("message", ""))
    for field, value in fields.items():
        setattr(error, field, value)
    return error


def test_anthropics_shape() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    found = mapped(shaped("InternalServerError", "anthropic", status_code=529, body=body, message="529"))
    assert isinstance(found, Unavailable) and not found.ambiguous and found.code == "overloaded_error"
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low."}}
    assert isinstance(mapped(shaped("BadRequestError", "anthropic", status_code=400, body=body)), QuotaExhausted)
    key = mapped(shaped("AuthenticationError", "anthropic", status_code=401, body={}))
    assert "ANTHROPIC_API_KEY" in key.remedy
    policy = {"error": {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}}
    assert isinstance(mapped(shaped("BadRequestError", "anthropic", status_code=400, body=policy)), ContentBlocked)


def test_googles_shape_also_behind_langchains() -> None:
    words = "You exceeded your current quota, please check your plan and billing details."
    details = {
        "error": {
            "code": 429, "status": "RESOURCE_EXHAUSTED", "message": words,
            "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "32s"}],
        }
    }  # fmt: skip
    fields: dict[str, Any] = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": words, "details": details}
    error = shaped("ClientError", "google.genai.errors", **fields)
    for given in (error, chained(shaped("ChatGoogleGenerativeAIError", "langchain_google_genai"), error)):
        found = mapped(given)
        assert isinstance(found, RateLimited) and found.retry_after == 32.0
    bad = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid. Pass a valid API key."}}
    found = mapped(shaped("ClientError", "google.genai.errors", code=400, details=bad))
    assert isinstance(found, ConfigError) and "GOOGLE_API_KEY" in found.remedy


def test_langchains_classes_without_a_status() -> None:
    found = mapped(shaped("SomeRateLimit", "langchain_some", type("ModelRateLimitError", (Exception,), {})))
    assert isinstance(found, RateLimited)
    refusal = mapped(shaped("ModelRefusalError", "langchain_core.exceptions", message="I cannot help"))
    assert isinstance(refusal, ContentBlocked) and refusal.detail["stage"] == "output"


def test_an_error_event_in_a_stream() -> None:
    event = openai.APIError("x", REQUEST, body={"message": "Slow.", "code": "rate_limit_exceeded"})
    assert isinstance(mapped(event), RateLimited)
    event = openai.APIError("x", REQUEST, body={"message": "Oops.", "type": "server_error"})
    found = mapped(event)
    assert isinstance(found, Unavailable) and found.ambiguous
    overloaded = shaped("APIStatusError", "anthropic", status_code=200, body={"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})  # fmt: skip  # noqa: E501
    found = mapped(overloaded)
    assert isinstance(found, Unavailable) and found.ambiguous
    assert isinstance(mapped(openai.APIError("x", REQUEST, body="went wrong")), BadResponse)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"message": "Provider returned error", "code": 429}, RateLimited),
        ({"message": "no", "code": "moderation_blocked"}, ContentBlocked),
        ({"message": "no", "code": "insufficient_quota"}, QuotaExhausted),
        ({"message": "boom", "code": 502}, Unavailable),
        ("invalid output_format", BadResponse),
        ({}, BadResponse),
    ],
)
def test_an_error_inside_an_answer(body: dict[str, Any] | str, kind: type) -> None:
    assert type(error_in_answer(body, role="critic", what=WHAT)) is kind
    if isinstance(body, dict) and body:
        # As ChatOpenAI raises it.
        assert type(mapped(ValueError(body))) is kind


def test_a_client_that_cannot_read_the_answer() -> None:
    response = httpx2.Response(200, request=REQUEST, content="<html>")
    with pytest.raises(json.JSONDecodeError) as caught:
        response.json()
    assert isinstance(mapped(caught.value), BadResponse)
    invalid = openai.APIResponseValidationError(response=response, body=None)
    assert isinstance(mapped(invalid), BadResponse)


def test_a_bug_stays_a_bug() -> None:
    import tarfile

    bugs: list[Exception] = [
        KeyError("x"), ValueError("no"), AttributeError("a"), AssertionError(), RuntimeError("r"), IndexError(),
        tarfile.ReadError("no tar"), OSError(28, "No space left on device"), FileNotFoundError(2, "x"),
        json.JSONDecodeError("Expecting value", "", 0), TypeError("unexpected keyword"),
    ]  # fmt: skip
    for bug in bugs:
        assert call_error(bug, role="planner", what=WHAT) is None, bug


def test_ours_stay_as_they_are() -> None:
    ours = NoImage("none")
    assert call_error(ours, role="backend", what=WHAT) is ours


def test_words_are_short_and_hold_no_secret_and_no_picture() -> None:
    text = (
        f"Bad image data:image/png;base64,{'iVBORw0KGgo' * 40} with {KEY} at https://u:p@h/x?token=abc\n\n"
        + "so " * 200
    )
    said = brief(text)
    assert len(said) <= 240 and "iVBOR" not in said and KEY not in said and "abc" not in said and "u:p" not in said


def test_openai_is_not_imported() -> None:
    code = "import sys, langgraph_interleave.models.faults; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
