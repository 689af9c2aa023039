"""Layout: inside the frame, legible, where the words say, and the same every time."""

from __future__ import annotations

from itertools import combinations
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.world.layout import PHOTO_ID, Placed, bounds, layout
from langgraph_interleave.world.scene import Beside, Cell, Relation, Scene, Size, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

CELLS: tuple[Cell, ...] = get_args(Cell)
RELATIONS: tuple[Relation, ...] = get_args(Relation)


def thing(kind: str, **more: object) -> Thing:
    return Thing.model_validate({"id": kind, "kind": kind, **more})


def scene(*things: Thing, backdrop: str = "meadow", **more: object) -> Scene:
    return Scene.model_validate({"backdrop": backdrop, "things": things, **more})


def box(places: tuple[Placed, ...], name: str) -> Placed:
    found = bounds(places, name)
    assert found is not None
    return found


def middle(place: Placed) -> tuple[float, float]:
    return place.x + place.w / 2, place.y + place.h / 2


def overlap(one: Placed, other: Placed) -> float:
    across = min(one.x + one.w, other.x + other.w) - max(one.x, other.x)
    down = min(one.y + one.h, other.y + other.h) - max(one.y, other.y)
    return max(0.0, across) * max(0.0, down)


things = st.builds(
    Thing,
    id=st.just("x"),
    kind=st.sampled_from(sorted(KINDS)),
    size=st.sampled_from(get_args(Size)),
    count=st.integers(1, 9),
    at=st.none() | st.sampled_from(CELLS),
)


@st.composite
def scenes(draw: st.DrawFn, most: int = 5) -> Scene:
    found: list[Thing] = []
    for number in range(draw(st.integers(0, most))):
        made = draw(things)
        states = KINDS[made.kind].states
        at = made.at
        if found and draw(st.booleans()):
            at = Beside(relation=draw(st.sampled_from(RELATIONS)), of=draw(st.sampled_from(found)).id)
        state = draw(st.sampled_from(states)) if states else None
        found.append(made.model_copy(update={"id": f"t{number}", "state": state, "at": at}))
    return Scene(
        backdrop=draw(st.sampled_from(sorted(BACKDROPS))), things=tuple(found), photo=draw(st.booleans()),
        caption=draw(st.none() | st.just("words")),
    )  # fmt: skip


@given(scenes(), st.floats(1 / 3, 3))
def test_everything_is_inside_the_frame_once_and_in_proportion(made: Scene, aspect: float) -> None:
    places = layout(made, aspect=aspect)
    assert layout(made, aspect=aspect) == places
    expected = sorted((t.id, index) for t in made.things for index in range(t.count))
    assert sorted((p.id, p.index) for p in places if p.id != PHOTO_ID) == expected
    by_id = {t.id: t for t in made.things}
    for place in places:
        assert min(place.x, place.y) >= 0.015
        assert max(place.x + place.w, place.y + place.h) <= 0.985
        assert place.w > 0.008
        if place.id != PHOTO_ID:
            width, height = KINDS[place.kind].extent(by_id[place.id].state)
            assert place.w * aspect / place.h == pytest.approx(width / height)


@given(st.lists(things, min_size=1, max_size=4), st.sampled_from(["table", "meadow", "paper", "sky"]))
def test_what_is_not_related_does_not_overlap(made: list[Thing], backdrop: str) -> None:
    named = [one.model_copy(update={"id": f"t{number}", "count": 1}) for number, one in enumerate(made)]
    places = layout(Scene(backdrop=backdrop, things=tuple(named)))
    for one, other in combinations(places, 2):
        assert overlap(one, other) < 0.15 * min(one.w * one.h, other.w * other.h)


@pytest.mark.parametrize("count", range(1, 10))
@pytest.mark.parametrize("kind", ["ball", "cat", "candle", "star", "house"])
def test_copies_are_apart_and_of_one_size(kind: str, count: int) -> None:
    places = layout(scene(thing(kind, count=count)))
    assert [place.index for place in places] == list(range(count))
    assert all(overlap(one, other) == 0 for one, other in combinations(places, 2))
    assert len({(round(place.w, 6), round(place.h, 6)) for place in places}) == 1


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("kind", ["ball", "person", "house", "cloud", "seed"])
@pytest.mark.parametrize("backdrop", ["paper", "meadow", "table"])
def test_a_named_cell_holds_the_middle(cell: Cell, kind: str, backdrop: str) -> None:
    x, y = middle(box(layout(scene(thing(kind, at=cell), backdrop=backdrop)), kind))
    words = cell.split()
    column = {"left": 0, "middle": 1, "right": 2}[words[-1]]
    row = {"upper": 0, "lower": 2}.get(words[0], 1) if len(words) == 2 else 1
    assert (int(x * 3), int(y * 3)) == (column, row)


def test_nine_cells_at_once() -> None:
    named = tuple(thing("ball", id=f"ball {cell}", at=cell) for cell in CELLS)
    places = layout(scene(*named))
    assert all(overlap(one, other) == 0 for one, other in combinations(places, 2))
    assert min(place.scale for place in places) > 0.8


def test_ground_things_stand_on_the_floor_and_sky_things_are_up() -> None:
    places = layout(scene(thing("dog"), thing("sun")))
    dog, sun = box(places, "dog"), box(places, "sun")
    assert dog.y + dog.h == pytest.approx(BACKDROPS["meadow"].floor)
    assert dog.grounded
    assert not sun.grounded
    assert sun.y + sun.h < 0.4


@pytest.mark.parametrize("added", ["sun", "tree", "dog", "butterfly", "card"])
def test_a_thing_keeps_its_place_when_others_are_added(added: str) -> None:
    before = layout(scene(thing("flower pot")))
    after = layout(scene(thing("flower pot"), thing(added)))
    assert box(before, "flower pot") == box(after, "flower pot")


def test_a_thing_stays_put_while_it_grows() -> None:
    feet: set[tuple[float, float]] = set()
    for state in KINDS["flower pot"].states:
        place = box(layout(scene(thing("flower pot", state=state), backdrop="table")), "flower pot")
        feet.add((round(place.x + place.w / 2, 6), round(place.y + place.h, 6)))
    assert len(feet) == 1


@pytest.mark.parametrize("relation", RELATIONS)
def test_relations_can_be_seen(relation: Relation) -> None:
    places = layout(
        scene(thing("box", state="open"), thing("ball", size="small", at=Beside(relation=relation, of="box")))
    )
    ball, chest = box(places, "ball"), box(places, "box")
    (x, y), (cx, cy) = middle(ball), middle(chest)
    order = [place.id for place in places]
    match relation:
        case "on":
            assert ball.y + ball.h == pytest.approx(chest.y, abs=0.01)
            assert abs(x - cx) < chest.w / 2
        case "in":
            assert chest.x < x < chest.x + chest.w
            assert ball.y < chest.y + chest.h * 0.3 < ball.y + ball.h
            assert order == ["ball", "box"]
        case "above":
            assert ball.y + ball.h < chest.y
            assert abs(x - cx) < 0.1
        case "below":
            assert ball.y > chest.y + chest.h
        case "left of":
            assert ball.x + ball.w < chest.x
            assert ball.y + ball.h == pytest.approx(chest.y + chest.h)
        case "right of":
            assert ball.x > chest.x + chest.w
        case "in front of":
            assert order == ["box", "ball"]
            assert ball.y + ball.h > chest.y + chest.h
        case "behind":
            assert order == ["ball", "box"]
            assert y < cy


def test_what_pours_stands_over_what_it_fills() -> None:
    pot = thing("flower pot")
    can = thing("watering can", state="pouring", at=Beside(relation="above", of="flower pot"))
    places = layout(scene(pot, can, backdrop="table"))
    poured = box(places, "watering can")
    assert poured.x + 0.88 * poured.w == pytest.approx(middle(box(places, "flower pot"))[0], abs=0.03)


def test_under_a_table_is_between_its_legs() -> None:
    places = layout(scene(thing("table"), thing("cat", at=Beside(relation="below", of="table")), backdrop="room"))
    cat, table = box(places, "cat"), box(places, "table")
    assert table.x < cat.x < cat.x + cat.w < table.x + table.w
    assert cat.y > table.y + 0.2 * table.h
    assert [place.id for place in places] == ["table", "cat"]
    assert table.y + table.h == pytest.approx(BACKDROPS["room"].floor)


def test_apples_in_a_basket_are_not_wider_than_it() -> None:
    places = layout(scene(thing("basket"), thing("apple", count=7, at=Beside(relation="in", of="basket"))))
    assert box(places, "apple").w < box(places, "basket").w


def test_circles_of_relations_are_broken() -> None:
    one = thing("ball", at=Beside(relation="on", of="cube"))
    other = thing("cube", at=Beside(relation="on", of="ball"))
    assert len(layout(scene(one, other))) == 2
    assert len(layout(scene(thing("ball", at=Beside(relation="on", of="ball"))))) == 1
    assert len(layout(scene(thing("ball", at=Beside(relation="on", of="nowhere"))))) == 1


def test_a_crowd_is_set_out_in_rows() -> None:
    places = layout(scene(
        thing("apple", count=3), thing("banana", count=2), thing("cup"), thing("plate"), backdrop="table",
    ))  # fmt: skip
    assert all(overlap(one, other) == 0 for one, other in combinations(places, 2))
    horizon = BACKDROPS["table"].horizon
    assert all(box(places, name).y + box(places, name).h > horizon for name in ("apple", "banana", "cup", "plate"))


def test_the_photo_has_its_place_and_is_not_covered() -> None:
    alone = box(layout(scene(photo=True)), PHOTO_ID)
    crowd = layout(scene(
        thing("cat"), thing("dog", at=Beside(relation="in front of", of=PHOTO_ID)), thing("tree"), photo=True,
    ))  # fmt: skip
    photo = box(crowd, PHOTO_ID)
    assert photo == alone
    assert all(overlap(photo, box(crowd, name)) == 0 for name in ("cat", "dog", "tree"))


def test_written_words_keep_the_lower_edge_free() -> None:
    plain = box(layout(scene(thing("car", at="lower middle"))), "car")
    worded = box(layout(scene(thing("car", at="lower middle"), caption="Stop!")), "car")
    assert worded.y + worded.h <= 0.85 < plain.y + plain.h


def test_pixels_of_a_place() -> None:
    place = Placed("a", 0, "ball", 0.25, 0.5, 0.5, 0.25)
    assert place.pixels(400, 200) == (100, 100, 300, 150)


def test_unknown_kinds_and_backdrops_are_placed_all_the_same() -> None:
    [place] = layout(Scene(backdrop="atlantis", things=(thing("quokka"),)))
    assert place.kind == "card"
    assert bounds((place,), "nobody") is None


@pytest.mark.parametrize("backdrop", ["table", "meadow", "street", "kitchen"])
def test_what_grows_stays_where_it_stands(backdrop: str) -> None:
    feet: set[float] = set()
    for state in ("empty", "with soil", "sprouted", "leafy", "flowering"):
        pot = Thing(id="pot", kind="flower pot", state=state, at="middle")
        place = layout(Scene(backdrop=backdrop, things=(pot,)))[0]
        feet.add(round(place.y + place.h, 3))
    assert len(feet) == 1
