"""How long the conformance suite takes, and where it ends: no huge pictures, a deadline for each item, no model."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from painter import Painter

from langgraph_interleave.errors import CallError, CallTimeout, ConfigError, InvalidRequest, QuotaExhausted, Unavailable
from langgraph_interleave.testing import Options, acheck_backend, check_backend
from langgraph_interleave.testing.conformance import ITEMS, Item
from langgraph_interleave.types import ImageRequest, ImageResult, OnProgress

QUICK = Options(patience_s=5.0, cancel_s=1.0)


class Slow(Painter):
    """Takes its time: ever longer for larger pictures. It draws as many pixels as it can of what is too large."""

    capabilities = replace(Painter.capabilities, max_pixels=4096 * 4096)
    largest = 0

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        area = (request.width or 0) * (request.height or 0)
        Slow.largest = max(Slow.largest, area)
        return await super().agenerate(request, on_progress=on_progress)

    async def work(self) -> None:
        await asyncio.sleep(0.02)


async def test_a_picture_that_may_take_long_is_not_asked_for() -> None:
    Slow.largest = 0
    report = await acheck_backend(Slow, options=QUICK)
    finding = report["extreme_sizes"]
    assert finding.status == "passed"
    assert "5017x5017 was not tried: the largest picture may take some" in finding.says
    assert "0x0 is refused." in finding.says
    assert Slow.largest < 1_000_000


async def test_a_picture_that_is_drawn_quickly_is_asked_for() -> None:
    finding = (await acheck_backend(Painter, options=QUICK))["extreme_sizes"]
    assert finding.status == "passed" and "628x628" in finding.says and "not tried" not in finding.says


class LateWhenLarge(Painter):
    def refuse(self, request: ImageRequest) -> None:
        if (request.width or 0) * (request.height or 0) > 512 * 512:
            assert request.timeout_s is not None, "it has a deadline of its own"
            raise CallTimeout("Too late.", remedy="Allow more time.")
        super().refuse(request)


async def test_a_large_picture_that_is_late_is_no_refusal() -> None:
    finding = (await acheck_backend(LateWhenLarge, options=QUICK))["extreme_sizes"]
    assert finding.status == "passed" and "628x628 was not done in time." in finding.says


class SlowInBatches(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        if request.n > 1:
            await asyncio.sleep(30)
        return await super().agenerate(request, on_progress=on_progress)


async def test_an_item_that_takes_too_long_is_given_up_and_the_others_are_tried() -> None:
    begun: list[Item] = []
    options = replace(QUICK, item_s=1.0, patience_s=60.0)
    report = await acheck_backend(SlowInBatches, options=options, on_item=begun.append)
    assert report["batch"].status == "not provable"
    assert report["batch"].says == "It was not done within 1 s, and given up."
    assert report["batch"].seconds < 5
    assert begun == list(ITEMS)
    assert report.ok, report


def broken(error: CallError | ConfigError) -> type[Painter]:
    class Broken(Painter):
        def refuse(self, request: ImageRequest) -> None:
            raise error

    return Broken


@pytest.mark.parametrize("error", [
    ConfigError("No such model.", remedy="Fetch it."), Unavailable("Nobody there.", remedy="Start it."),
    QuotaExhausted("No credit left.", remedy="Add credit."),
])  # fmt: skip
def test_what_is_missing_ends_the_report(error: Any) -> None:
    told: list[str] = []
    report = check_backend(broken(error), options=QUICK, on_finding=lambda finding: told.append(finding.item))
    assert report.problem is error and not report.ok
    assert [finding.item for finding in report.findings] == ["contract", "draws"]
    assert told == ["contract"]
    assert report["draws"].says == f"{type(error).__name__}: {error}"
    assert report.to_dict()["problem"] == {
        "error": type(error).__name__, "message": error.message, "remedy": error.remedy,
    }  # fmt: skip


def test_what_is_refused_is_a_finding_and_the_rest_is_not_tried() -> None:
    report = check_backend(broken(InvalidRequest("No.", remedy="Ask otherwise.")), options=QUICK)
    assert report.problem is None and not report.ok
    assert report["draws"].says.startswith("It refused what it says it can do: InvalidRequest: No.")
    assert len(report.findings) == len(ITEMS)
    assert "problem" not in report.to_dict()


class GoneLater(Painter):
    def refuse(self, request: ImageRequest) -> None:
        if request.n > 1:
            raise Unavailable("Nobody there.", remedy="Start it.")
        super().refuse(request)


def test_what_is_gone_later_is_a_finding_of_that_item() -> None:
    report = check_backend(GoneLater, options=QUICK)
    assert report.problem is None and report["batch"].says == "Unavailable: Nobody there. Start it."
    assert [finding.item for finding in report.failed] == ["batch"]
