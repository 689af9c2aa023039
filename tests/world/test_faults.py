"""Faults: seeded, named, real differences, and moved by the words of the prompt as the preset says."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.world.faults import (
    BACKDROP,
    Fault,
    faulty,
    other_colors,
    other_places,
    other_states,
    words_of,
)
from langgraph_interleave.world.layout import bounds, layout
from langgraph_interleave.world.palette import MIN_DISTANCE, distance, tone
from langgraph_interleave.world.presets import CATEGORIES, Category, Preset, Rates, preset
from langgraph_interleave.world.scene import Beside, Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

TABLE = Thing(id="table", kind="table")
CUP = Thing(id="cup", kind="cup", color="blue", at=Beside(relation="on", of="table"))
BALLS = Thing(id="ball", kind="ball", color="red", count=3, at="lower left")
LAMP = Thing(id="lamp", kind="lamp", state="lit", at="right")
SCENE = Scene(backdrop="room", things=(TABLE, CUP, BALLS, LAMP))
PROMPT = "A blue cup on a table, three red balls at the lower left and a lit lamp at the right."


def only(category: Category, rate: float = 1.0, **more: float) -> Preset:
    """A preset in which nothing but `category` goes wrong."""
    rates = Rates(**{name: rate if name == category else 0.0 for name in CATEGORIES})
    options = {"plain_prompt_helps": 0.0, "refined_helps": 0.0, "drift_cap": 1.0, **more}
    return Preset(name=category, about="", rates=rates, **options)


def drawn(category: Category, scene: Scene = SCENE, before: Scene | None = None, seed: int = 0, depth: int = 1):
    return faulty(scene, before, only(category), Random(seed), PROMPT, depth=depth)


def thing(scene: Scene, name: str) -> Thing:
    return next(one for one in scene.things if one.id == name)


def test_without_rates_the_very_scene_comes_back() -> None:
    result, faults = faulty(SCENE, SCENE, preset("perfect"), Random(3), PROMPT, depth=9)
    assert result is SCENE
    assert faults == ()


def test_the_only_thing_is_replaced_not_wiped_away() -> None:
    result, (fault,) = drawn("single_object", Scene(things=(CUP.model_copy(update={"at": None}),)))
    assert (fault.category, fault.what, fault.thing) == ("single_object", "other", "cup")
    assert thing(result, "cup").kind != "cup"
    assert "instead of a blue cup" in fault.words


def test_one_of_several_goes_missing_and_what_stood_on_it_takes_its_place() -> None:
    result, faults = drawn("two_objects")
    assert {fault.what for fault in faults} == {"missing"}
    assert result.things, "something is always left"
    ids = {one.id for one in result.things}
    assert all(one.at.of in ids for one in result.things if isinstance(one.at, Beside))


def test_a_thing_whose_neighbour_is_missing_can_have_a_fault_of_its_own() -> None:
    eggs = Thing(id="egg", kind="egg", count=2, color="red", state="hatching", at=Beside(relation="on", of="leaf"))
    scene = Scene(things=(Thing(id="leaf", kind="leaf", at="left"), eggs))
    rates = Rates(**dict.fromkeys(CATEGORIES, 0.9))
    everything = Preset(name="x", about="", rates=rates, plain_prompt_helps=0, refined_helps=0, drift_cap=1)
    for seed in range(40):
        result, _ = faulty(scene, None, everything, Random(seed), "")
        ids = {one.id for one in result.things}
        assert all(one.at.of in ids for one in result.things if isinstance(one.at, Beside)), seed


def test_counts_are_wrong_by_one_or_two_and_only_of_several() -> None:
    off = Counter[int]()
    for seed in range(60):
        result, (fault,) = drawn("counting", seed=seed)
        assert (fault.thing, fault.what) == ("ball", "count")
        off[thing(result, "ball").count - 3] += 1
    assert set(off) <= {-2, -1, 1, 2}
    assert off[1] + off[-1] > off[2] + off[-2]


def test_the_words_name_both_counts() -> None:
    _, (fault,) = drawn("counting", seed=2)
    assert "asked for" in fault.words
    assert "three" in fault.words
    assert "red ball" in fault.words


def test_another_color_is_clearly_another() -> None:
    for seed in range(40):
        result, faults = drawn("colors", seed=seed)
        assert {fault.thing for fault in faults} == {"cup", "ball"}
        for name, asked in (("cup", "blue"), ("ball", "red")):
            color = thing(result, name).color
            assert color is not None
            assert distance(tone(color).fill, tone(asked).fill) >= MIN_DISTANCE


def test_a_color_nobody_named_is_not_at_risk() -> None:
    assert drawn("colors", Scene(things=(TABLE, LAMP)))[1] == ()


def test_colors_are_swapped_between_two_things() -> None:
    result, (fault,) = drawn("color_attribution")
    assert fault.what == "swap"
    assert (thing(result, "cup").color, thing(result, "ball").color) == ("red", "blue")
    assert fault.words == "The blue cup is red and the red balls are blue: swapped."


def test_places_change_to_other_places() -> None:
    result, faults = drawn("position")
    assert {fault.thing for fault in faults} == {"cup", "ball", "lamp"}
    assert all(thing(result, one.id).at != one.at for one in (CUP, BALLS, LAMP))


def test_a_relation_turns_round_or_to_a_side() -> None:
    seen = other_places(Beside(relation="above", of="x"))
    assert [place.relation for place in seen if isinstance(place, Beside)] == ["below", "left of", "right of"]
    assert other_places(Beside(relation="left of", of="x")) == [Beside(relation="right of", of="x")]
    assert len(other_places("middle")) == 8
    assert len(other_places(None)) == 9


@pytest.mark.parametrize("seed", range(20))
def test_what_stands_elsewhere_can_be_seen_to(seed: int) -> None:
    cases: list[tuple[Category, Scene | None]] = [("position", None), ("collateral", SCENE), ("identity_drift", SCENE)]
    for category, before in cases:
        result, faults = drawn(category, SCENE, before, seed)
        for fault in faults:
            if fault.what not in ("place", "size"):
                continue
            alone = tuple(thing(result, one.id) if one.id == fault.thing else one for one in SCENE.things)
            old = bounds(layout(SCENE), fault.thing)
            new = bounds(layout(SCENE.model_copy(update={"things": alone})), fault.thing)
            assert old is not None
            assert new is not None
            if fault.what == "size":
                assert max(old.h / new.h, new.h / old.h) >= 1.25
            else:
                assert abs(old.x + old.w / 2 - new.x - new.w / 2) + abs(old.y + old.h / 2 - new.y - new.h / 2) >= 0.1


def test_a_state_is_another_of_the_kinds_own() -> None:
    result, (fault,) = drawn("state")
    assert thing(result, "lamp").state == "off"
    assert fault.words == "The lamp is off, not lit."


def test_an_edit_not_carried_out_shows_the_old_state() -> None:
    before = SCENE.model_copy(update={"things": (TABLE, Thing(id="pot", kind="flower pot", state="seeded"))})
    scene = SCENE.model_copy(update={"things": (TABLE, Thing(id="pot", kind="flower pot", state="flowering"))})
    states = Counter(thing(drawn("state", scene, before, seed)[0], "pot").state for seed in range(60))
    assert states["seeded"] > 20
    assert "flowering" not in states


def test_something_extra_is_of_a_kind_the_scene_lacks() -> None:
    result, (fault,) = drawn("extra_object")
    stray = thing(result, "stray")
    assert stray.kind not in {one.kind for one in SCENE.things}
    assert fault.words == f"There is a {stray.kind} that nobody asked for."


def test_an_edit_puts_only_what_it_changes_at_risk() -> None:
    before = SCENE.model_copy(update={"things": (TABLE, CUP, BALLS)})
    assert drawn("counting", SCENE, before)[1] == ()
    assert [fault.thing for fault in drawn("two_objects", SCENE, before)[1]] == ["lamp"]
    assert [fault.thing for fault in drawn("position", SCENE, before)[1]] == ["lamp"]


def test_collateral_change_hits_what_was_to_stay() -> None:
    before = SCENE.model_copy(update={"things": (TABLE, CUP, BALLS)})
    whats = Counter[str]()
    for seed in range(80):
        result, (fault,) = drawn("collateral", SCENE, before, seed)
        assert fault.thing in {"table", "cup", "ball", BACKDROP}
        assert result != SCENE
        assert thing(result, "lamp") == LAMP
        whats[fault.what] += 1
    assert set(whats) == {"missing", "color", "place", "backdrop"}


def test_nothing_collateral_without_a_picture_before() -> None:
    assert drawn("collateral")[1] == ()
    assert drawn("identity_drift")[1] == ()


def test_identity_drift_grows_with_depth_up_to_its_cap() -> None:
    def share(depth: int) -> float:
        drift = preset("identity_drift")
        hits = 0
        for seed in range(150):
            _, faults = faulty(SCENE, SCENE, drift, Random(seed), "", depth=depth)
            hits += any(fault.category == "identity_drift" for fault in faults)
        return hits / 150

    assert share(1) == pytest.approx(0.15, abs=0.07)
    assert share(3) == pytest.approx(0.45, abs=0.09)
    assert share(40) == pytest.approx(0.80, abs=0.09)


@given(st.integers(0, 2**32), st.sampled_from(["default", "hard", "identity_drift"]), st.booleans())
def test_the_same_request_and_seed_have_the_same_faults(seed: int, name: str, edit: bool) -> None:
    before = SCENE.model_copy(update={"things": SCENE.things[:2]}) if edit else None
    one = faulty(SCENE, before, preset(name), Random(seed), PROMPT, depth=2)
    assert one == faulty(SCENE, before, preset(name), Random(seed), PROMPT, depth=2)
    scene, faults = one
    assert len({fault.thing for fault in faults}) == len(faults)
    assert all(fault.words and fault.thing for fault in faults)
    # Exactly when there is a fault does the picture differ from what was asked.
    assert (scene != SCENE) == bool(faults)
    assert len({one.id for one in scene.things}) == len(scene.things)


@given(st.integers(0, 2**32), st.floats(0, 1))
def test_what_came_out_right_stays_right_at_a_lower_rate(seed: int, factor: float) -> None:
    weak, better = preset("default"), preset("default").scaled(factor)
    if not faulty(SCENE, SCENE, weak, Random(seed), "")[1]:
        assert not faulty(SCENE, SCENE, better, Random(seed), "")[1]
    if not faulty(SCENE, None, weak, Random(seed), "")[1]:
        assert not faulty(SCENE, None, better, Random(seed), "")[1]
        assert not faulty(SCENE, None, weak, Random(seed), PROMPT)[1]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [("Some balls.", 0.8), (PROMPT, 0.4), ("Balls. There must be exactly three red balls.", 0.08)],
)
def test_words_lower_the_rate_they_speak_of(prompt: str, expected: float) -> None:
    helped = only("counting", 0.8, plain_prompt_helps=0.5, refined_helps=0.9)
    hits = sum(bool(faulty(SCENE, None, helped, Random(seed), prompt)[1]) for seed in range(300))
    assert hits / 300 == pytest.approx(expected, abs=0.07)


def test_pure_resampling_ignores_the_words() -> None:
    resampling = only("counting", 0.5)
    for seed in range(50):
        plain = faulty(SCENE, None, resampling, Random(seed), "")
        assert plain == faulty(SCENE, None, resampling, Random(seed), "There must be exactly three red balls!")


def test_emphasis_on_one_thing_does_not_help_another() -> None:
    helped = only("colors", 0.9, refined_helps=1.0)
    prompt = f"{PROMPT} Correction: the cup must be blue."
    for seed in range(60):
        hit = {fault.thing for fault in faulty(SCENE, None, helped, Random(seed), prompt)[1]}
        assert "cup" not in hit
    assert "ball" in {f.thing for seed in range(9) for f in faulty(SCENE, None, helped, Random(seed), prompt)[1]}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_has_other_colors_and_other_states(kind: str) -> None:
    one = Thing(id="x", kind=kind)
    assert len(other_colors(one)) >= 5 or not KINDS[kind].recolourable
    states = KINDS[kind].states
    assert len(other_states(one)) == max(0, len(states) - 1)


def test_a_changed_backdrop_is_one_of_ours() -> None:
    for seed in range(60):
        result, (fault,) = drawn("collateral", SCENE, SCENE, seed)
        assert result.backdrop in BACKDROPS
        assert (fault.thing == BACKDROP) == (result.backdrop != SCENE.backdrop)


def test_all_words_in_one_text() -> None:
    faults = [Fault(category="colors", what="color", thing="a", words=words) for words in ("One.", "Two.")]
    assert words_of(faults) == "One. Two."
