"""Requests laid out: whatever is wanted, what goes to OpenAI is within the API's own rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback_bodies import File, violations
from loopback_replies import picture_of

from langgraph_interleave.backends.openai_options import Settings, checked_settings
from langgraph_interleave.backends.openai_profiles import PROFILES
from langgraph_interleave.backends.openai_sending import check_request, lay_out, refused_field
from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.types import ImageBytes, ImageRequest

REFERENCE = ImageBytes(picture_of("r", 32, 16), "image/png", 32, 16)


def made(profile: str = "openai", model: str = "gpt-image-2.6-flare", **options: Any) -> Settings:
    known: dict[str, Any] = dict.fromkeys(
        ("quality", "background", "output_format", "output_compression", "moderation", "input_fidelity",
         "response_format", "max_references", "max_prompt_tokens", "max_pixels", "extra_body")
    )  # fmt: skip
    known |= {"partial_images": 0, **options}
    return checked_settings(model, PROFILES[profile], **known)


requests = st.builds(
    ImageRequest,
    prompt=st.text(min_size=1, max_size=200),
    references=st.integers(0, 3).map(lambda count: [REFERENCE] * count),
    width=st.none() | st.integers(1, 9000),
    height=st.none() | st.integers(1, 9000),
    n=st.integers(1, 10),
    seed=st.none() | st.integers(0, 2**32 - 1),
    negative_prompt=st.none() | st.text(max_size=20),
    quality=st.sampled_from([None, "draft", "standard", "high"]),
    transparent=st.booleans(),
)
options = st.fixed_dictionaries(
    {},
    optional={
        "quality": st.sampled_from(["low", "max", "auto"]),
        "output_format": st.sampled_from(["jpeg", "png", "webp"]),
        "output_compression": st.integers(0, 100),
        "moderation": st.sampled_from(["low", "auto"]),
        "input_fidelity": st.sampled_from(["high", "low"]),
        "partial_images": st.integers(0, 3),
        "max_pixels": st.sampled_from([4096, 512 * 512]),
        "model": st.sampled_from(["gpt-image-2.6-flare", "gpt-image-1.5"]),
    },
)


@given(requests, options, st.booleans())
def test_whatever_is_wanted_is_within_the_rules(request: ImageRequest, chosen: dict[str, Any], stream: bool) -> None:
    chosen_settings = made(**chosen)
    try:
        check_request(request, chosen_settings, what="x")
        sending = lay_out(request, chosen_settings, stream=stream)
    except InvalidRequest:
        return
    body = {name: value for name, value in sending.options.items() if name not in ("image", "mask")}
    images = sending.options.get("image", [])
    files = [
        File("image[]", name, mime, data) for name, data, mime in (images if isinstance(images, list) else [images])
    ]
    found = violations("edits" if sending.edits else "generations", body, files, allowed=frozenset())
    assert found == []
    assert sending.edits == bool(request.references)
    assert sending.seed is None


@settings(max_examples=60)
@given(requests, st.sampled_from(sorted(PROFILES)), st.sets(st.sampled_from(["response_format", "seed", "stream"])))
def test_what_was_refused_is_never_sent_again(request: ImageRequest, profile: str, dropped: set[str]) -> None:
    chosen = made(profile, model="flux", partial_images=2, extra_body={"seed": 5})
    try:
        check_request(request, chosen, what="x")
        sending = lay_out(request, chosen, dropped=dropped, demanded=True, stream=True)
    except InvalidRequest:
        return
    assert not sending.fields & dropped
    assert ("partial_images" in sending.fields) == ("stream" in sending.fields)
    json.dumps(sending.options.get("extra_body"))


class Refusal(Exception):
    def __init__(self, message: str, status: int = 400, param: str | None = None, body: object = None) -> None:
        super().__init__(message)
        self.message, self.status_code, self.param, self.body = message, status, param, body


@pytest.mark.parametrize(
    ("error", "sent", "field"),
    [
        (Refusal("Unknown parameter: 'response_format'."), {"response_format"}, "response_format"),
        (Refusal("response_format is required"), set(), "response_format"),
        (Refusal("x", param="seed"), {"seed"}, "seed"),
        (Refusal("x", param="seed"), set(), None),
        (Refusal("'stream' is not supported"), {"stream", "partial_images"}, "stream"),
        (Refusal("partial_images is not supported"), {"stream", "partial_images"}, "stream"),
        (Refusal("Error", 422, body={"detail": [{"loc": ["body", "seed"]}]}), {"seed"}, "seed"),
        (Refusal("A seed of doubt in the stream"), {"seed", "stream"}, None),
        (Refusal("response_format", 500), {"response_format"}, None),
        (Refusal("response_format", 429), {"response_format"}, None),
        (ValueError("response_format"), {"response_format"}, None),
    ],
)
def test_which_field_is_meant(error: Exception, sent: set[str], field: str | None) -> None:
    assert refused_field(error, sent) == field
