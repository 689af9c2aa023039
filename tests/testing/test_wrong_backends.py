"""Backends that do one thing wrong: each is caught, and by the item that is about it."""

from __future__ import annotations

import asyncio
import io
import itertools
import os
import random
import time
from dataclasses import replace
from typing import Any

import pytest
from painter import Painter
from PIL import Image

from langgraph_interleave.errors import CallTimeout, ConfigError, InvalidRequest
from langgraph_interleave.testing import noise_card
from langgraph_interleave.testing.conformance import ITEMS, Options, check_backend
from langgraph_interleave.testing.conformance.subject import SEED, Subject
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress, Usage

#: Hanging is noticed soon; all else is quick.
QUICK = Options(cancel_s=0.5, patience_s=30.0)


class IgnoresReferences(Painter):
    def used(self, request: ImageRequest) -> list[ImageBytes]:
        return []


class TurnsThemRound(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        turned = replace(request, references=tuple(request.references)[::-1])
        return await super().agenerate(turned, on_progress=on_progress)


class ChangesTheSeed(Painter):
    """Draws a seed that cannot be, as another one, and says nothing."""

    def refuse(self, request: ImageRequest) -> None:
        super().refuse(replace(request, seed=0))

    def seed(self, request: ImageRequest, index: int) -> int:
        return ((request.seed or 0) + index) % 2**32


class LosesTheirOrder(Painter):
    def used(self, request: ImageRequest) -> list[ImageBytes]:
        return sorted(request.references, key=lambda reference: reference.sha256)


class TakesTheFirstOnly(Painter):
    def used(self, request: ImageRequest) -> list[ImageBytes]:
        return list(request.references)[:1]


class TakesTooManySilently(Painter):
    def refuse(self, request: ImageRequest) -> None:
        super().refuse(replace(request, references=tuple(request.references)[:3]))


class DropsWhatIsBroken(Painter):
    def opened(self, reference: ImageBytes) -> Any:
        try:
            return super().opened(reference)
        except InvalidRequest:
            return Image.new("RGB", (8, 8))


class RaisesWhatPillowRaises(Painter):
    def opened(self, reference: ImageBytes) -> Any:
        picture = Image.open(io.BytesIO(reference.data))
        return picture.convert("RGB")


class StopsTheLoop(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        if (request.seed or 0) > SEED + 1:  # only the last of several at once: it takes long enough as it is
            time.sleep(0.25)  # noqa: ASYNC251
        return await super().agenerate(request, on_progress=on_progress)


class ChangesTheRequest(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        object.__setattr__(request, "prompt", f"{request.prompt}, trending")
        return await super().agenerate(request, on_progress=on_progress)


class GivesBase64(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        result = await super().agenerate(request, on_progress=on_progress)
        text: Any = "iVBORw0KGgo="
        return replace(result, images=(replace(result.images[0], data=text),))


class ForgetsItsUsage(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        nothing: Any = None
        return replace(await super().agenerate(request, on_progress=on_progress), usage=nothing)


class WarnsInOneString(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        words: Any = "Something was left out."
        return replace(await super().agenerate(request, on_progress=on_progress), warnings=words)


class LiesAboutSeeds(Painter):
    def seed(self, request: ImageRequest, index: int) -> int:
        return random.randrange(2**31)


class SameBytesOnlyAlmost(Painter):
    """The pixels are the same; the file is not."""

    def __init__(self) -> None:
        self.count = itertools.count()

    def encoded(self, picture: Any, request: ImageRequest, seed: int) -> ImageBytes:
        from PIL.PngImagePlugin import PngInfo

        made, buffer = PngInfo(), io.BytesIO()
        made.add_text("made", str(next(self.count)))
        picture.save(buffer, "PNG", pnginfo=made)
        return ImageBytes(buffer.getvalue(), "image/png", *picture.size)


class SeedsDoNothing(Painter):
    def seed(self, request: ImageRequest, index: int) -> int:
        return 0


class OneSeedForTheBatch(Painter):
    def seed(self, request: ImageRequest, index: int) -> int:
        return request.seed or 0


class FewerThanAsked(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        self.refuse(request)
        return await super().agenerate(replace(request, n=1), on_progress=on_progress)


class HangsWhenCancelled(Painter):
    async def work(self) -> None:
        try:
            await asyncio.sleep(0.03)
        except asyncio.CancelledError:
            await asyncio.sleep(2.0)
            raise

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        if request.timeout_s is not None:
            raise CallTimeout("No.", remedy="Allow more time.")
        return await super().agenerate(request, on_progress=on_progress)


class BrokenByACancel(Painter):
    broken = 0

    async def work(self) -> None:
        try:
            await asyncio.sleep(0.03)
        except asyncio.CancelledError:
            self.broken = 77
            raise

    def seed(self, request: ImageRequest, index: int) -> int:
        return super().seed(request, index) + self.broken

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        if request.timeout_s is not None:
            raise CallTimeout("No.", remedy="Allow more time.")
        return await super().agenerate(request, on_progress=on_progress)


class SaysNothingOfTheSize(Painter):
    """Multiples of 16, as many models draw, and not a word about it."""

    def size(self, request: ImageRequest) -> tuple[int, int]:
        width, height = super().size(request)
        return width // 16 * 16, height // 16 * 16


class DrawsLessThanItSays(Painter):
    """It says 4:1, and refuses more than 2:1."""

    def size(self, request: ImageRequest) -> tuple[int, int]:
        width, height = super().size(request)
        if max(width, height) > 2 * min(width, height):
            raise InvalidRequest(f"{width}x{height} is too long.", remedy="Ask for at most 2:1.")
        return width, height


class DrawsImpossibleSizes(Painter):
    def size(self, request: ImageRequest) -> tuple[int, int]:
        try:
            return super().size(request)
        except InvalidRequest:
            return 64, 64


class StretchesWhatItEdits(Painter):
    def size(self, request: ImageRequest) -> tuple[int, int]:
        return super().size(request) if request.width is not None else (64, 64)


class RaisesValueError(Painter):
    def refuse(self, request: ImageRequest) -> None:
        if not request.prompt.strip():
            raise ValueError("prompt must not be empty")
        super().refuse(request)


class HasNoRemedy(Painter):
    def refuse(self, request: ImageRequest) -> None:
        if not request.prompt.strip():
            raise InvalidRequest("No.")
        super().refuse(request)


class RaisesTimeoutError(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        async with asyncio.timeout(request.timeout_s):
            return await super().agenerate(replace(request, timeout_s=None), on_progress=on_progress)


class DrawsNoneAsOne(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        return await super().agenerate(replace(request, n=request.n or 1), on_progress=on_progress)


class LeaksThePlace(Painter):
    def encoded(self, picture: Any, request: ImageRequest, seed: int) -> ImageBytes:
        buffer = io.BytesIO()
        exif = Image.open(io.BytesIO(request.references[0].data)).getexif() if request.references else None
        picture.save(buffer, "PNG", **({"exif": exif} if exif else {}))
        return ImageBytes(buffer.getvalue(), "image/png", *picture.size)


class SharesState(Painter):
    def __init__(self) -> None:
        self.request: ImageRequest | None = None

    async def work(self) -> None:
        await asyncio.sleep(0.005)

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        self.request = request
        return await super().agenerate(request, on_progress=on_progress)

    def seed(self, request: ImageRequest, index: int) -> int:
        assert self.request is not None
        return super().seed(self.request, index)


class OneAtATime(Painter):
    busy = False

    async def work(self) -> None:
        if self.busy:
            raise IndexError("index 9 is out of bounds for dimension 0 with size 9")
        self.busy = True
        try:
            await asyncio.sleep(0.005)
        finally:
            self.busy = False


class MeasuresNothing(Painter):
    def encoded(self, picture: Any, request: ImageRequest, seed: int) -> ImageBytes:
        return replace(super().encoded(picture, request, seed), width=1024, height=1024)


class CountsNothing(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        return replace(await super().agenerate(request, on_progress=on_progress), usage=Usage())


class KeepsProgressToItself(Painter):
    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        return await super().agenerate(request)


class SaysNothing(Painter):
    """Takes no notice of mask, negative prompt and transparency, and does not say so."""

    def told(self, request: ImageRequest) -> tuple[str, ...]:
        return ()


class IsAnotherEachTime(Painter):
    def __init__(self) -> None:
        self.fingerprint = f"painter/{id(self)}"


class Contradicts(Painter):
    capabilities = replace(Painter.capabilities, max_aspect=0.5)


class TellsTheKey(Painter):
    def __repr__(self) -> str:
        return f"TellsTheKey(key={os.environ['PAINTER_API_KEY']})"


class TellsBytes(Painter):
    def refuse(self, request: ImageRequest) -> None:
        if not request.prompt.strip():
            raise InvalidRequest(f"Cannot draw {request.references or 'A' * 400}", remedy="Say what to paint.")
        super().refuse(request)


WRONG: dict[type[Painter], set[str]] = {
    IgnoresReferences: {"references_arrive"},
    TurnsThemRound: {"references_order"},
    LosesTheirOrder: {"references_order"},
    TakesTheFirstOnly: {"every_reference"},
    TakesTooManySilently: {"too_many_references"},
    DropsWhatIsBroken: {"broken_reference"},
    RaisesWhatPillowRaises: {"broken_reference"},
    LiesAboutSeeds: {"same_seed"},
    SameBytesOnlyAlmost: {"same_seed"},
    SeedsDoNothing: {"other_seed"},
    OneSeedForTheBatch: {"batch"},
    FewerThanAsked: {"batch"},
    HangsWhenCancelled: {"cancellation"},
    BrokenByACancel: {"cancellation"},
    SaysNothingOfTheSize: {"odd_sizes"},
    DrawsLessThanItSays: {"size_as_asked"},
    DrawsImpossibleSizes: {"extreme_sizes"},
    StretchesWhatItEdits: {"edits", "references_order"},
    RaisesValueError: {"empty_prompt"},
    HasNoRemedy: {"empty_prompt"},
    RaisesTimeoutError: {"deadline"},
    DrawsNoneAsOne: {"wrong_numbers"},
    LeaksThePlace: {"metadata"},
    SharesState: {"concurrency"},
    OneAtATime: {"concurrency"},
    MeasuresNothing: {"draws"},
    CountsNothing: {"usage"},
    KeepsProgressToItself: {"progress"},
    SaysNothing: {"mask", "negative_prompt", "transparent"},
    IsAnotherEachTime: {"contract"},
    Contradicts: {"contract"},
    ChangesTheSeed: {"wrong_numbers"},
    TellsTheKey: {"silence"},
    TellsBytes: {"silence"},
    StopsTheLoop: {"concurrency"},
}


def test_what_is_right_passes_all_of_it() -> None:
    report = check_backend(Painter, options=QUICK)
    assert [finding.says for finding in report.failed] == []
    assert {finding.item for finding in report.findings if finding.status == "not provable"} == {"provenance"}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda kind: kind.__name__)
def test_what_is_wrong_is_caught_by_the_item_about_it(wrong: type[Painter], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAINTER_API_KEY", "a-secret-of-the-painter")
    report = check_backend(wrong, options=QUICK)
    assert {finding.item for finding in report.failed} == WRONG[wrong]
    assert all(finding.says.endswith((".", "…")) or ":" in finding.says for finding in report.failed)
    assert all(finding.remedy and finding.remedy in str(report) for finding in report.failed)
    assert not any(finding.remedy for finding in report.findings if finding.status != "failed")


def test_every_item_catches_somebody() -> None:
    """But for those about what the painter does not do, and the one that never counts against a backend."""
    assert {item.name for item in ITEMS} - set().union(*WRONG.values()) == {"long_prompt", "provenance"}


class AlwaysSquare(Painter):
    def size(self, request: ImageRequest) -> tuple[int, int]:
        return 96, 96


class CutsThePrompt(Painter):
    capabilities = replace(Painter.capabilities, max_prompt_tokens=20)


class SaysThatItCut(CutsThePrompt):
    def told(self, request: ImageRequest) -> tuple[str, ...]:
        cut = ("The prompt was cut.",) if len(request.prompt) > 100 else ()
        return (*super().told(request), *cut)


def test_a_size_of_its_own_and_a_prompt_cut_in_silence_are_caught() -> None:
    assert check_backend(AlwaysSquare, options=QUICK)["size_as_asked"].status == "failed"
    assert check_backend(CutsThePrompt, options=QUICK)["long_prompt"].status == "failed"
    assert check_backend(SaysThatItCut, options=QUICK)["long_prompt"].status == "passed"


class DrawsBlack(Painter):
    def paint(self, request: ImageRequest, references: list[Any], width: int, height: int, seed: int) -> ImageBytes:
        return self.encoded(Image.new("RGB", (width, height)), request, seed)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (ChangesTheRequest, "changed the request"),
        (GivesBase64, "is a str, not bytes"),
        (ForgetsItsUsage, "not a Usage"),
        (WarnsInOneString, "not a tuple of words"),
    ],
)
def test_what_is_no_result_is_no_drawing(wrong: type[Painter], says: str) -> None:
    assert says in check_backend(wrong, options=QUICK)["draws"].says


def test_a_loop_that_stands_still_outlives_no_patience() -> None:
    class StopsForLong(Painter):
        async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
            time.sleep(1.2)  # noqa: ASYNC251
            return await super().agenerate(request, on_progress=on_progress)

    report = check_backend(StopsForLong, options=Options(patience_s=0.1))
    assert "No answer within 0.1 s" in report["draws"].says and report.calls == 1


def test_a_warning_that_always_comes_is_about_nothing() -> None:
    class Babbles(Painter):
        capabilities = replace(Painter.capabilities, mask=False, negative_prompt=False, transparent=False)

        def told(self, request: ImageRequest) -> tuple[str, ...]:
            return ("The weather is fine.",)

    report = check_backend(Babbles, options=QUICK)
    for item in ("mask", "negative_prompt", "transparent"):
        assert report[item].status == "failed", item


def test_what_cannot_be_read_fails_its_item_and_no_other() -> None:
    class Wild(Painter):
        capabilities = replace(Painter.capabilities, size_multiple=0)

    report = check_backend(Wild, options=QUICK)
    assert "size_multiple is 0" in report["contract"].says
    assert "cannot be read: ZeroDivisionError" in report["size_as_asked"].says
    assert report["same_seed"].status == "passed"


def test_capabilities_that_fail_are_an_error_in_words() -> None:
    class Shy(Painter):
        @property
        def capabilities(self) -> Capabilities:
            raise RuntimeError("ask me later")

    with pytest.raises(ConfigError, match="does not say what it can do: RuntimeError: ask me later"):
        Subject(Shy)


class CannotDraw(Painter):
    def refuse(self, request: ImageRequest) -> None:
        raise InvalidRequest("Out of paint.", remedy="Buy some.")


def test_a_black_picture_is_no_drawing() -> None:
    assert "black" in check_backend(DrawsBlack, options=QUICK)["draws"].says


def test_nothing_more_is_asked_of_what_does_not_draw() -> None:
    report = check_backend(CannotDraw, options=QUICK)
    assert report.calls == 1
    assert [finding.item for finding in report.failed] == ["draws"]
    assert "Out of paint. Buy some." in report["draws"].says
    assert report["edits"].status == "not provable"


class Chances(Painter):
    """Seeds are ignored, as with most services."""

    capabilities = Capabilities(edit="instruct", max_references=3, max_images=4, min_side=16, max_pixels=512 * 512,
                                max_aspect=4, progress="steps", concurrency=4)  # fmt: skip

    def seed(self, request: ImageRequest, index: int) -> int:
        return random.randrange(2**31)


class TurnsThemRoundByChance(Chances, TurnsThemRound):
    pass


def test_of_what_differs_by_chance_it_says_what_cannot_be_told() -> None:
    report = check_backend(Chances, options=QUICK)
    assert report.ok
    unknown = {finding.item for finding in report.findings if finding.status == "not provable"}
    assert unknown == {"references_arrive", "references_order", "every_reference", "provenance"}
    assert report["same_seed"].status == "not applicable"
    turned = check_backend(TurnsThemRoundByChance, options=QUICK)
    assert [finding.item for finding in turned.failed] == ["references_order"], "the shape gives it away"


class OneForTwo(Painter):
    """Draws one picture whatever is asked for."""

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        return await super().agenerate(replace(request, n=1), on_progress=on_progress)


def test_numbers_that_cannot_be_are_judged_by_what_came() -> None:
    drawn = check_backend(lambda prompt: noise_card(prompt).data, options=QUICK)["wrong_numbers"]
    assert (drawn.status, drawn.says) == ("passed", "n=0 is refused; n=2 gave 2 pictures; seed=-1 is refused.")
    one = check_backend(OneForTwo, options=QUICK)["wrong_numbers"]
    assert (one.status, one.says) == ("failed", "n=0 gave 1 picture, and no warning says so.")
    assert "check_request" in one.remedy


@pytest.mark.parametrize(
    ("item", "line"),
    [
        ("usage", "usage=Usage(images=len(images))"),
        ("edits", "raise InvalidRequest or add a warning"),
        ("every_reference", "Capabilities(max_references=1)"),
        ("same_seed", 'Capabilities(seed="ignored")'),
        ("deadline", "asyncio.timeout(request.timeout_s)"),
        ("draws", "verify_image(data, what=…)"),
    ],
)
def test_what_to_write_is_in_the_remedy(item: str, line: str) -> None:
    assert line in next(one.remedy for one in ITEMS if one.name == item)


def test_what_must_be_said_in_an_error_has_a_remedy_of_its_own() -> None:
    class Raises(Painter):
        async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
            raise ValueError("no paint")

    finding = check_backend(Raises, options=QUICK)["draws"]
    assert finding.text.startswith("ValueError (no paint) came for a request of")
    assert "raise one of langgraph_interleave.errors instead" in finding.remedy
