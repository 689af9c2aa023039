"""The conformance suite over every profile of the backend `openai`, each against a server that behaves so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from loopback import LoopbackServer, serving
from loopback_dialects import DIALECTS, play

from langgraph_interleave.backends.openai_images import OpenAIImagesBackend
from langgraph_interleave.backends.openai_profiles import PROFILES
from langgraph_interleave.testing import Options, check_backend

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


def test_every_profile_has_a_server_that_behaves_so() -> None:
    assert set(DIALECTS) == set(PROFILES)


#: Items that show nothing here, and why: drawings of these servers differ by chance without a seed.
BY_CHANCE = {"references_arrive", "references_order", "every_reference", "mask", "negative_prompt"}


@pytest.mark.parametrize("profile", PROFILES)
def test_nothing_fails(running: LoopbackServer, profile: str) -> None:
    running.reset()
    play(running, profile)
    settings: dict[str, Any] = {"profile": profile, "billed": False, "api_key": "k"}
    if PROFILES[profile].stream:
        settings["partial_images"] = 2
    report = check_backend(
        lambda: OpenAIImagesBackend("flux", base_url=running.base_url, **settings), options=Options(size=(64, 64))
    )
    assert report.ok, str(report)
    assert running.violations == []
    unproven = {finding.item for finding in report.findings if finding.status == "not provable"}
    allowed = {"provenance"} if PROFILES[profile].seed != "none" else {"provenance", *BY_CHANCE}
    assert unproven <= allowed, str(report)


@pytest.mark.parametrize("profile", ["sglang", "localai", "vllm-omni"])
def test_a_server_nobody_named_is_drawn_with_all_the_same(running: LoopbackServer, profile: str) -> None:
    running.reset()
    play(running, profile)
    report = check_backend(
        lambda: OpenAIImagesBackend("flux", base_url=running.base_url, billed=False, max_references=0),
        options=Options(size=(64, 64)),
    )
    assert report.ok, str(report)
