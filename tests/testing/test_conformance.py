"""The conformance suite itself: its reports, its price, its two forms."""

from __future__ import annotations

import asyncio
import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from painter import Painter

from langgraph_interleave import testing
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.testing import BackendConformance, Finding, Options, acheck_backend, check_backend
from langgraph_interleave.testing.conformance import ITEMS, most_calls, suite
from langgraph_interleave.testing.conformance.declared import inconsistent
from langgraph_interleave.testing.conformance.subject import Subject, smallest
from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, OnProgress


class Billed(Painter):
    capabilities = replace(Painter.capabilities, billed=True)


class TestPainter(BackendConformance):
    def make_backend(self) -> Painter:
        return Painter()


def test_the_pytest_form_has_a_test_for_every_item() -> None:
    tests = [name.removeprefix("test_") for name in vars(BackendConformance) if name.startswith("test_")]
    assert tests == [item.name for item in ITEMS]
    for item in ITEMS:
        assert inspect.getdoc(getattr(BackendConformance, f"test_{item.name}"))


def test_the_report_is_for_people_and_for_programs() -> None:
    heard: list[Finding] = []
    report = check_backend(Painter, on_finding=heard.append)
    assert tuple(heard) == report.findings and report.ok
    words = str(report)
    assert words.startswith("painter (painter/1)\n") and "\n  passed " in words
    assert words.splitlines()[-1].startswith(report.summary().split(" · ")[0])
    data = json.loads(json.dumps(report.to_dict()))
    assert data["ok"] is True and data["v"] == 1 and data["capabilities"]["max_references"] == 3
    assert [one["item"] for one in data["findings"]] == [item.name for item in ITEMS]
    assert sum(one["calls"] for one in data["findings"]) == data["calls"] == report.calls
    with pytest.raises(StopIteration):
        report["nothing"]


@pytest.mark.parametrize("capabilities", [
    Painter.capabilities,
    replace(Painter.capabilities, seed="ignored"),
    replace(Painter.capabilities, max_references=1),
    replace(Painter.capabilities, edit="none", max_references=0),
    replace(Painter.capabilities, progress="none", max_images=1),
])  # fmt: skip
def test_it_takes_no_more_calls_than_it_says(capabilities: Capabilities) -> None:
    class Asked(Painter):
        pass

    Asked.capabilities = capabilities
    report = check_backend(Asked)
    assert report.calls <= most_calls(capabilities)
    for finding, item in zip(report.findings, ITEMS, strict=True):
        assert finding.item == item.name


def test_money_is_spent_only_when_it_was_allowed() -> None:
    with pytest.raises(ConfigError, match="painter is billed.*--yes"):
        check_backend(Billed)
    report = check_backend(Billed, allow_billed=True, max_calls=5)
    assert report.calls == 5
    assert report.findings[-3].says == "The 5 calls that were allowed are used up."
    assert check_backend(Billed, options=Options(allow_billed=True, max_calls=1)).calls == 1


def test_what_is_no_backend_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match=r"made a dict, which is no image backend: it lacks name, fingerprint"):
        check_backend(dict)  # type: ignore[arg-type]


async def test_the_async_form_says_the_same_and_can_be_stopped() -> None:
    report = await acheck_backend(Painter)
    assert report.ok

    class Slow(Painter):
        stopped = False

        async def work(self) -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                Slow.stopped = True
                raise

    task = asyncio.create_task(acheck_backend(Slow))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(100):
        if Slow.stopped:
            break
        await asyncio.sleep(0.01)
    assert Slow.stopped


class Never(Painter):
    async def work(self) -> None:
        await asyncio.sleep(60)


def test_what_never_answers_is_given_up() -> None:
    report = check_backend(Never, options=Options(patience_s=0.05))
    assert report["draws"].says.startswith("No answer within 0.05 s")
    assert report.calls == 1


class Odd:
    name = "odd"
    fingerprint = "odd"
    capabilities = Capabilities()

    def __init__(self, result: Any) -> None:
        self.result = result

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> Any:
        return self.result


@pytest.mark.parametrize(
    ("result", "says"),
    [(None, "returned a NoneType"), (b"\x89PNG", "returned a bytes"), (ImageResult(()), "holds no picture")],
)
def test_what_is_no_result_is_a_finding(result: Any, says: str) -> None:
    assert says in check_backend(lambda: Odd(result))["draws"].says


def test_the_smallest_comfortable_size() -> None:
    assert smallest(Capabilities()) == (128, 128)
    assert smallest(Capabilities(min_side=1024)) == (1024, 1024)
    assert smallest(Capabilities(size_multiple=16, max_pixels=100 * 100)) == (96, 96)
    assert smallest(Capabilities(sizes=("16:9", "1:1"))) == (128, 128)
    assert Subject(Painter, Options(size=(40, 30))).size == (40, 30)


@pytest.mark.parametrize(("wrong", "says"), [
    ({"edit": "paint"}, "edit is 'paint', none of none, instruct, img2img"),
    ({"concurrency": 0}, "concurrency is 0"),
    ({"generate": False}, "neither draws from words nor edits"),
    ({"mask": True}, "it takes masks, and no references"),
    ({"min_side": 5000}, "larger than the largest"),
    ({"sizes": ("big",)}, "'big' in sizes is neither"),
    ({"max_prompt_tokens": 0}, "max_prompt_tokens is 0"),
    ({"max_images": None}, "max_images is None"),
])  # fmt: skip
def test_capabilities_that_contradict_themselves(wrong: dict[str, Any], says: str) -> None:
    assert says in "; ".join(inconsistent(Capabilities(**wrong)))


def test_the_names_are_loaded_when_they_are_asked_for() -> None:
    for name in testing.__all__:
        assert getattr(testing, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = testing.nothing
    home = Path(suite.__file__).parent
    needing = [path.name for path in home.glob("*.py") if "import pytest" in path.read_text(encoding="utf-8")]
    assert needing == ["standard.py"], "a program that checks a backend has no pytest"
