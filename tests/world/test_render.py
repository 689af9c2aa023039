"""The renderer: every kind in every state inside its box, the same for the same request, and marked."""

from __future__ import annotations

import io
import re
from importlib import import_module

import pytest
from PIL import Image, ImageChops

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging.provenance import SOURCE_TYPES
from langgraph_interleave.types import ImageBytes
from langgraph_interleave.world import drawing
from langgraph_interleave.world import render as renderer
from langgraph_interleave.world.layout import PHOTO_ID, bounds, layout
from langgraph_interleave.world.marks import Format, photo_of, scene_of
from langgraph_interleave.world.palette import COLORS, PAPER, distance, rgb
from langgraph_interleave.world.render import picture, render, svg
from langgraph_interleave.world.scene import Beside, Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

#: How far a line may stray over the edge of its thing's box, in units of 400 to the picture's side.
STRAY = 6.0


def thing(kind: str, **more: object) -> Thing:
    return Thing.model_validate({"id": kind, "kind": kind, **more})


def over(level: int) -> list[int]:
    """White for values over a level, black for the rest: a table for `Image.point`."""
    return [255 if value > level else 0 for value in range(256)]


def decoded(image: ImageBytes) -> Image.Image:
    with Image.open(io.BytesIO(image.data)) as opened:
        opened.load()
        return opened.convert("RGB")


def photo(color: str = "#336699", size: tuple[int, int] = (320, 200)) -> ImageBytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, color).save(buffer, "JPEG")
    return ImageBytes(buffer.getvalue(), "image/jpeg", *size)


def drawn_alone(
    kind: str, state: str | None, color: str | None = None, around: float = 30.0
) -> tuple[Image.Image, float]:
    """A thing on nothing, one pixel to a unit, with room around its box; and its width."""
    made = thing(kind, state=state, color=color)
    [place] = layout(Scene(backdrop="sky", things=(made,)))
    sheet = renderer.Sheet(400, 400)
    sprite = renderer._sprite(place, renderer._look(made), sheet, 0)
    x, y, w, h = place.x * 400 - around, place.y * 400 - around, place.w * 400 + 2 * around, place.h * 400 + 2 * around
    document = renderer._document(sprite.elements, (x, y, w, h), round(w), round(h))
    return renderer.rasterizer().rasterize(document, round(w)), place.w * 400


@pytest.mark.parametrize("module", drawing._MODULES)
def test_every_drawing_stays_in_its_box(module: str) -> None:
    for kind in import_module(f"langgraph_interleave.world.drawing.{module}").DRAWINGS:
        for state in KINDS[kind].states or (None,):
            image, width = drawn_alone(kind, state)
            solid = image.getchannel("A").point(over(80))
            box = solid.getbbox()
            assert box is not None, (kind, state)
            left, top, right, bottom = box
            assert min(left, top) >= 30 - STRAY, (kind, state)
            assert image.width - right >= 30 - STRAY, (kind, state)
            assert image.height - bottom >= 30 - STRAY, (kind, state)
            # And fills it: the box is the thing's, for whoever looks for it there.
            assert right - left > 0.3 * width, (kind, state)


#: What has hardly any surface, or little that is painted.
SPARE = {"book", "glass", "jar", "bottle", "window", "spectacles", "magnifying glass", "snowflake"}


@pytest.mark.parametrize("module", drawing._MODULES)
def test_an_asked_colour_shows_in_every_state(module: str) -> None:
    wanted = COLORS["purple"]
    near = {
        level: min(distance(level, wanted.fill), distance(level, wanted.shade)) < 16
        for level in [(r, g, b) for r in range(0, 256, 16) for g in range(0, 256, 16) for b in range(0, 256, 16)]
    }
    for kind in import_module(f"langgraph_interleave.world.drawing.{module}").DRAWINGS:
        if not KINDS[kind].recolourable:
            continue
        for state in KINDS[kind].states or (None,):
            image, _ = drawn_alone(kind, state, "purple", around=2)
            counted = image.getcolors(image.width * image.height) or []
            shown = {pixel: count for count, pixel in counted if isinstance(pixel, tuple) and pixel[3] > 200}
            right = sum(count for (r, g, b, _), count in shown.items() if near[r & 240, g & 240, b & 240])
            share = right / sum(shown.values())
            assert share > (0.015 if kind in SPARE else 0.1), (kind, state, share)


@pytest.mark.parametrize("backdrop", sorted(BACKDROPS))
def test_every_backdrop_is_its_own(backdrop: str) -> None:
    image = picture(Scene(backdrop=backdrop), width=96, height=96)
    others = [picture(Scene(backdrop=other), width=96, height=96) for other in BACKDROPS if other != backdrop]
    assert all(ImageChops.difference(image, other).getbbox() for other in others)
    # Paper outside the frame.
    assert distance(image.getpixel((0, 0)), PAPER) < 2  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("width", "height"), [(64, 64), (256, 256), (1024, 1024), (300, 100), (100, 300), (517, 401)])
def test_any_size_and_shape(width: int, height: int) -> None:
    image = render(Scene(backdrop="meadow", things=(thing("house"), thing("sun"))), width=width, height=height)
    assert (image.width, image.height, image.mime) == (width, height, "image/png")
    assert decoded(image).size == (width, height)


@pytest.mark.parametrize(("width", "height"), [(63, 64), (64, 5000), (100, 301), (0, 0)])
def test_sizes_out_of_range_are_refused_with_a_remedy(width: int, height: int) -> None:
    with pytest.raises(ConfigError) as caught:
        render(Scene(), width=width, height=height)
    assert caught.value.remedy


SCENE = Scene(
    backdrop="table",
    things=(
        thing("flower pot", state="seeded"),
        thing("watering can", at=Beside(relation="above", of="flower pot")),
    ),
)


def test_the_same_request_gives_the_same_bytes() -> None:
    first = render(SCENE, width=200, height=200, seed=7)
    for cached in (renderer._pixels, renderer._ground, renderer._frame):
        cached.cache_clear()
    assert render(SCENE, width=200, height=200, seed=7) == first


def test_another_seed_gives_other_bytes_of_the_same_picture() -> None:
    for scene in (SCENE, Scene(), Scene(backdrop="night", things=(thing("star"),))):
        one, other = (render(scene, width=256, height=256, seed=seed) for seed in (1, 2))
        assert one.data != other.data
        changed = ImageChops.difference(decoded(one), decoded(other)).convert("L").point(over(24))
        assert changed.histogram()[255] < 0.06 * 256 * 256


def test_what_stays_is_the_same_pixel_for_pixel() -> None:
    pot, can = thing("flower pot", state="with soil"), thing("watering can", at="upper left")
    before = picture(Scene(backdrop="table", things=(pot,)), width=256, height=256)
    after = picture(Scene(backdrop="table", things=(pot, can)), width=256, height=256)
    box = ImageChops.difference(before, after).getbbox()
    assert box is not None
    place = bounds(layout(Scene(backdrop="table", things=(pot, can))), "watering can")
    assert place is not None
    left, top, right, bottom = place.pixels(256, 256)
    assert left - 10 <= box[0] < box[2] <= right + 10
    assert top - 10 <= box[1] < box[3] <= bottom + 10


def test_a_thing_keeps_its_lines_while_its_state_changes() -> None:
    one, other = (
        picture(Scene(backdrop="table", things=(thing("flower pot", state=state),)), width=256, height=256)
        for state in ("sprouted", "flowering")
    )
    place = bounds(layout(Scene(backdrop="table", things=(thing("flower pot", state="sprouted"),))), "flower pot")
    assert place is not None
    left, _, right, bottom = place.pixels(256, 256)
    clay = (left, bottom - 60, right, bottom)
    assert ImageChops.difference(one.crop(clay), other.crop(clay)).getbbox() is None


def test_copies_are_not_clones() -> None:
    scene = Scene(backdrop="sky", things=(thing("ball", count=2),))
    image = picture(scene, width=400, height=400)
    one, other = (image.crop(place.pixels(400, 400)) for place in layout(scene))
    assert ImageChops.difference(one.resize((80, 80)), other.resize((80, 80))).getbbox()


def test_unknown_kinds_become_cards_with_their_name() -> None:
    assert picture(Scene(things=(thing("quokka"),))) == picture(
        Scene(things=(Thing(id="quokka", kind="card", label="quokka"),))
    )


def test_unknown_colours_states_and_backdrops_do_no_harm() -> None:
    wild = Scene(backdrop="atlantis", things=(thing("ball", state="on fire"), thing("cat", state="flying")))
    tame = Scene(backdrop="paper", things=(thing("ball"), thing("cat")))
    assert picture(wild, width=128, height=128) == picture(tame, width=128, height=128)


def test_a_colour_nobody_knows_is_the_things_own() -> None:
    assert picture(Scene(things=(thing("ball", color="octarine"),))) == picture(Scene(things=(thing("ball"),)))


def test_words_are_written_into_the_picture() -> None:
    plain = picture(Scene(backdrop="meadow"), width=256, height=256)
    worded = picture(Scene(backdrop="meadow", caption="Water it daily"), width=256, height=256)
    box = ImageChops.difference(plain, worded).getbbox()
    assert box is not None
    assert box[1] > 0.82 * 256


def test_the_picture_says_how_it_was_made() -> None:
    data = render(SCENE, width=128, height=128).data
    assert f"{SOURCE_TYPES}algorithmicMedia".encode() in data
    assert f"{SOURCE_TYPES}composite".encode() not in data
    pinned = render(Scene(photo=True), width=128, height=128, photo=photo()).data
    assert f"{SOURCE_TYPES}composite<".encode() in pinned


@pytest.mark.parametrize("fmt", ["JPEG", "WEBP"])
def test_other_formats_carry_the_source_mark_too(fmt: Format) -> None:
    image = render(SCENE, width=128, height=128, fmt=fmt)
    assert image.mime == f"image/{fmt.lower()}"
    assert f"{SOURCE_TYPES}algorithmicMedia".encode() in image.data
    assert scene_of(image.data) is None


def test_the_scene_travels_with_the_picture() -> None:
    scene = SCENE.model_copy(update={"caption": "Gießen, 浇水"})
    assert scene_of(render(scene, width=128, height=128).data) == scene


def test_pictures_of_others_carry_no_scene() -> None:
    assert scene_of(photo().data) is None
    assert scene_of(b"not a picture") is None
    assert photo_of(b"not a picture") is None
    assert photo_of(render(SCENE, width=128, height=128).data) is None
    from PIL.PngImagePlugin import PngInfo

    for text in ("{", '{"things": 3}', '{"secret": true}', "x" * 300_000):
        marks, buffer = PngInfo(), io.BytesIO()
        marks.add_itxt("langgraph-interleave.scene", text)
        marks.add_text("langgraph-interleave.photo", "0,0,9999,9999")
        Image.new("RGB", (8, 8)).save(buffer, "PNG", pnginfo=marks)
        assert scene_of(buffer.getvalue()) is None
        assert photo_of(buffer.getvalue()) is None


@pytest.mark.parametrize("size", [(320, 200), (100, 300), (900, 100)])
def test_a_photo_is_pinned_up_with_its_aspect_and_colours(size: tuple[int, int]) -> None:
    image = render(Scene(photo=True), width=400, height=400, photo=photo("#336699", size))
    kept = photo_of(image.data)
    assert kept is not None
    assert kept.width / kept.height == pytest.approx(size[0] / size[1], rel=0.05)
    middle = decoded(kept).getpixel((kept.width // 2, kept.height // 2))
    assert distance(middle, "#336699") < 4  # pyright: ignore[reportArgumentType]


def test_a_photo_can_be_taken_over_into_the_next_picture() -> None:
    first = render(Scene(photo=True), width=256, height=256, photo=photo())
    kept = photo_of(first.data)
    scene = Scene(photo=True, things=(thing("cat"),))
    again = render(scene, width=256, height=256, photo=kept)
    place = bounds(layout(scene), PHOTO_ID)
    assert place is not None
    left, top, right, bottom = place.pixels(256, 256)
    inner = (left + 20, top + 30, right - 20, bottom - 30)
    assert ImageChops.difference(decoded(first).crop(inner), decoded(again).crop(inner)).getbbox() is None


def test_a_mount_without_photo_is_empty() -> None:
    assert photo_of(render(Scene(photo=True), width=128, height=128).data) is None


def test_as_svg_it_is_the_same_picture() -> None:
    scene = Scene(backdrop="meadow", things=(thing("house"), thing("dog")), caption="Home", photo=True)
    document = svg(scene, width=256, height=256, photo=photo())
    assert document.startswith("<svg")
    assert "data:image/jpeg;base64," in document
    assert not re.search(r'(href|src)="(?!data:)', document)
    image = renderer.rasterizer().rasterize(svg(scene, width=256, height=256), 256).convert("RGB")
    changed = ImageChops.difference(image, picture(scene, width=256, height=256)).convert("L")
    assert changed.point(over(48)).histogram()[255] < 0.02 * 256 * 256


def test_text_in_fonts_is_drawn_where_there_is_a_font() -> None:
    from langgraph_interleave.world.lettering import missing_glyphs

    if missing_glyphs("植物"):
        pytest.skip("no font of this machine has Chinese characters")
    image = picture(Scene(things=(Thing(id="a", kind="card", label="植物"),)), width=256, height=256)
    blank = picture(Scene(things=(Thing(id="a", kind="card", label=" "),)), width=256, height=256)
    assert ImageChops.difference(image, blank).getbbox()


def test_dark_things_have_faces() -> None:
    image, _ = drawn_alone("cat", "finished", "black")
    colors = [color for _, color in image.convert("RGB").getcolors(100_000) or []]
    assert any(distance(color, "#f6efd2") < 6 for color in colors if isinstance(color, tuple))  # pyright: ignore[reportArgumentType]
    assert rgb(COLORS["black"].fill) in colors
