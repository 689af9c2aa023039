"""The sketch backend: prompts, changes in plain words, photos, sizes, seeds, warnings."""

from __future__ import annotations

import asyncio
import io

import pytest
from PIL import Image

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.backends.sketch import SketchBackend, size_of, understand
from langgraph_interleave.errors import CallError, CallTimeout, InvalidRequest
from langgraph_interleave.types import ImageBytes, ImageRequest, ImageResult, Progress
from langgraph_interleave.world import fonts, lettering
from langgraph_interleave.world.grammar import prompt
from langgraph_interleave.world.marks import photo_of, scene_of
from langgraph_interleave.world.render import render
from langgraph_interleave.world.scene import MOST_THINGS, Beside, Scene, Thing


async def draw(prompt: str, *references: ImageBytes, **more: object) -> ImageResult:
    settings = {"width": 128, "height": 128, **more}
    return await SketchBackend().agenerate(ImageRequest(prompt=prompt, references=references, **settings))  # pyright: ignore[reportArgumentType]


def shown(image: ImageBytes) -> Scene:
    scene = scene_of(image.data)
    assert scene is not None
    return scene


def photo(width: int = 300, height: int = 200, fmt: str = "JPEG") -> ImageBytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), "#557799").save(buffer, fmt)
    return ImageBytes(buffer.getvalue(), f"image/{fmt.lower()}", width, height)


def test_it_is_a_backend_like_any_other() -> None:
    backend = init_image_backend("sketch")
    assert isinstance(backend, ImageBackend)
    assert isinstance(backend, SketchBackend)
    assert backend.name == "sketch"
    assert backend.fingerprint.startswith("sketch/")
    can = backend.capabilities
    assert (can.generate, can.edit, can.seed, can.billed) == (True, "instruct", "exact", False)
    assert can.max_references > 1
    assert can.concurrency > 1


async def test_a_prompt_becomes_a_picture_of_its_scene() -> None:
    result = await draw("three red apples on a table")
    [image] = result.images
    assert (image.width, image.height, image.mime) == (128, 128, "image/png")
    [apples] = shown(image).things
    assert (apples.kind, apples.color, apples.count) == ("apple", "red", 3)
    assert shown(image).backdrop == "table"
    assert result.warnings == ()
    assert result.usage.images == 1
    assert result.usage.cost_usd == 0


async def test_seeds_are_exact_and_count_up() -> None:
    result = await draw("a red ball", seed=41, n=3)
    assert [image.seed for image in result.images] == [41, 42, 43]
    assert len({image.sha256 for image in result.images}) == 3
    again = await draw("a red ball", seed=42)
    assert again.images[0] == result.images[1]
    assert (await draw("a red ball")).images == (await draw("a red ball", seed=0)).images
    last = await draw("a red ball", seed=2**32 - 1, n=2)
    assert [image.seed for image in last.images] == [2**32 - 1, 0]


async def test_a_change_in_plain_words_is_applied_to_the_picture_before() -> None:
    [before] = (await draw("three red apples and a cup on a table")).images
    result = await draw("make the apples green", before)
    apples, cup = shown(result.images[0]).things
    assert (apples.color, apples.count) == ("green", 3)
    assert cup == shown(before).things[1]
    assert result.warnings == ()


async def test_a_prompt_that_states_the_whole_scene_is_drawn_as_stated() -> None:
    [before] = (await draw("three red apples on a table")).images
    wanted = Scene(backdrop="meadow", things=(Thing(id="ball", kind="ball", color="blue"),))
    for words in ("", "Add a ball"):
        [image] = (await draw(prompt(words, wanted), before)).images
        assert shown(image) == wanted


async def test_a_change_that_is_not_understood_changes_nothing_and_says_so() -> None:
    [before] = (await draw("a red ball")).images
    result = await draw("!?", before)
    assert shown(result.images[0]) == shown(before)
    assert "No change was understood" in result.warnings[0]


async def test_unknown_words_become_cards_and_a_warning() -> None:
    result = await draw("a red ball and a quokka")
    assert [thing.label for thing in shown(result.images[0]).things] == [None, "quokka"]
    [warning] = result.warnings
    assert "quokka" in warning


async def test_missing_glyphs_are_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lettering.fonts, "font_for", lambda character, context="": None)
    card = Scene(things=(Thing(id="a", kind="card", label="\u690d\u7269"),))
    result = await draw("make it night", render(card, width=128, height=128))
    assert any("\u690d\u7269" in warning and fonts.REMEDY in warning for warning in result.warnings)


async def test_a_photo_is_pinned_up_and_stays_through_the_sequence() -> None:
    [first] = (await draw("a cat", photo())).images
    assert shown(first).photo
    assert photo_of(first.data) is not None
    [second] = (await draw("add a red ball", first)).images
    assert [thing.kind for thing in shown(second).things] == ["cat", "ball"]
    kept = photo_of(second.data)
    assert kept is not None
    assert kept.width / kept.height == pytest.approx(1.5, rel=0.05)


async def test_a_photo_beside_a_picture_of_ours_is_used() -> None:
    [before] = (await draw("a cat")).images
    [after] = (await draw("add a ball", before, photo())).images
    assert shown(after).photo
    assert [thing.kind for thing in shown(after).things] == ["cat", "ball"]


async def test_a_photo_asked_for_but_not_given() -> None:
    result = await draw(prompt("", Scene(photo=True)))
    assert shown(result.images[0]).photo
    assert "none was given" in result.warnings[0]


async def test_a_reference_that_is_no_picture_is_refused() -> None:
    with pytest.raises(InvalidRequest) as caught:
        await draw("a cat", ImageBytes(b"not a picture", "image/png", 10, 10))
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("size", "reference", "expected"),
    [
        ((None, None), None, (512, 512)),
        ((300, None), None, (300, 300)),
        ((None, 200), None, (200, 200)),
        ((None, None), (320, 200), (320, 200)),
        ((640, None), (320, 200), (640, 400)),
        ((None, 100), (320, 200), (160, 100)),
        ((100, 100), (320, 200), (100, 100)),
    ],
)
def test_sizes(
    size: tuple[int | None, int | None], reference: tuple[int, int] | None, expected: tuple[int, int]
) -> None:
    references = (ImageBytes(b"", "image/png", *reference),) if reference else ()
    request = ImageRequest(prompt="", references=references, width=size[0], height=size[1])
    assert size_of(request) == (*expected, ())


@pytest.mark.parametrize(
    ("reference", "expected"), [((4000, 3000), (1536, 1152)), ((3000, 300), (900, 300)), ((20, 30), (64, 96))]
)
def test_a_reference_of_an_odd_size_is_followed_as_far_as_possible(
    reference: tuple[int, int], expected: tuple[int, int]
) -> None:
    request = ImageRequest(prompt="", references=(ImageBytes(b"", "image/png", *reference),))
    width, height, [warning] = size_of(request)
    assert (width, height) == expected
    assert f"{reference[0]}x{reference[1]}" in warning


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 32}, {"width": 5000, "height": 5000}, {"width": 640, "height": 128}, {"n": 0}, {"n": 99},
        {"seed": -1}, {"seed": 2**32}, {"extra": {"steps": 4}}, {"references": (photo(),) * 9},
    ],
)  # fmt: skip
async def test_wrong_requests_are_refused_with_a_remedy(wrong: dict[str, object]) -> None:
    settings = {"width": 128, "height": 128, **wrong}
    with pytest.raises(InvalidRequest) as caught:
        await SketchBackend().agenerate(ImageRequest(prompt="a ball", **settings))  # pyright: ignore[reportArgumentType]
    assert caught.value.remedy
    assert not caught.value.ambiguous


async def test_progress_is_told() -> None:
    told: list[Progress] = []
    request = ImageRequest(prompt="a ball", width=64, height=64, n=2)
    await SketchBackend().agenerate(request, on_progress=told.append)
    assert [(one.step, one.total) for one in told] == [(1, 2), (2, 2)]


async def test_a_deadline_holds() -> None:
    with pytest.raises(CallTimeout) as caught:
        await draw("a ball", timeout_s=1e-6)
    assert not caught.value.ambiguous
    assert isinstance(caught.value, CallError)


async def test_many_at_once_give_the_same_as_one_by_one() -> None:
    prompts = ["a red ball", "two cats", "a house", "a boat on the sea"]
    alone = [(await draw(words)).images for words in prompts]
    together = await asyncio.gather(*(draw(words) for words in prompts * 2))
    assert [result.images for result in together] == alone * 2


@pytest.mark.parametrize("words", ["", "   ", "!!! ???", "浇水", "a" * 5000, "red red red on on on"])
async def test_any_words_give_a_picture(words: str) -> None:
    assert len((await draw(words)).images) == 1


def test_understanding_draws_nothing() -> None:
    understood = understand(ImageRequest(prompt="a blue car on the street"))
    assert understood.photo is None
    assert understood.scene.backdrop == "street"


def test_of_a_crowd_a_part_is_drawn() -> None:
    # Finding places for 400 things took minutes.
    crowd = understand(ImageRequest(prompt="a red ball " * 400))
    assert len(crowd.scene.things) == MOST_THINGS
    assert crowd.warnings == ("360 things are left out: a sketch shows 40 at most.",)
    things = tuple(Thing(id=f"cup_{n}", kind="cup", at=Beside(relation="on", of="table")) for n in range(50))
    table = Thing(id="table", kind="table")
    assert Scene(things=(*things, table)).few().things == ()
    assert Scene(things=(table, *things)).few().things == (table, *things[:39])
