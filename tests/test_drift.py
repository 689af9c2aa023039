"""The measure of drift: 0 for the same, more for more, the same both ways."""

from __future__ import annotations

import io
import itertools

from PIL import Image, ImageDraw

from langgraph_interleave.drift import drift, look_of
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import ImageBytes
from langgraph_interleave.world.render import render
from langgraph_interleave.world.scene import Scene, Thing


def picture(image: Image.Image, kind: str = "PNG", **options: object) -> ImageBytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return ImageBytes(out.getvalue(), f"image/{kind.lower()}", image.width, image.height)


def scene(*things: Thing, backdrop: str = "table", seed: int = 1, side: int = 256) -> ImageBytes:
    return render(Scene(backdrop=backdrop, things=things), width=side, height=side, seed=seed)


BALL = Thing(id="ball", kind="ball", color="red", at="left")
CUP = Thing(id="cup", kind="cup", color="blue", at="right")


def measured(one: ImageBytes, other: ImageBytes) -> float:
    return drift(look_of(one), look_of(other))


def test_the_same_picture_has_not_drifted_whatever_its_size_and_encoding() -> None:
    one = scene(BALL, CUP, side=512)
    assert measured(one, one) == 0
    as_image = Image.open(io.BytesIO(one.data)).convert("RGB")
    assert measured(one, picture(as_image, "JPEG", quality=70)) < 0.05
    assert measured(one, picture(as_image.resize((300, 300)))) < 0.08


def test_more_change_is_more_drift() -> None:
    start = scene(BALL, CUP)
    changes = [
        scene(BALL.model_copy(update={"color": "yellow"}), CUP),
        scene(BALL.model_copy(update={"color": "yellow", "size": "large"}), CUP),
        scene(Thing(id="tree", kind="tree", size="large"), backdrop="meadow"),
    ]
    found = [measured(start, changed) for changed in changes]
    assert 0 < found[0] < found[1] < found[2] <= 1


def test_pictures_that_have_nothing_in_common() -> None:
    cards = [noise_card(words, side=64) for words in ("a", "b", "c")]
    for one, other in itertools.combinations(cards, 2):
        assert measured(one, other) == measured(other, one) > 0.25
    black, white = (picture(Image.new("RGB", (40, 40), color)) for color in ("black", "white"))
    assert measured(black, white) == 0.5  # neither has an edge
    left, right = Image.new("RGB", (64, 64), "white"), Image.new("RGB", (64, 64), "black")
    ImageDraw.Draw(left).rectangle((8, 8, 30, 30), fill="red")
    ImageDraw.Draw(right).rectangle((34, 34, 60, 60), fill="blue")
    assert measured(picture(left), picture(right)) > 0.9


def test_transparency_and_odd_shapes_are_no_trouble() -> None:
    layered = Image.new("RGBA", (3, 200), (0, 0, 0, 0))
    assert measured(picture(layered), picture(Image.new("RGB", (3, 200), "white"))) == 0
    assert 0 <= measured(picture(layered), picture(Image.new("L", (1, 1), 7))) <= 1
