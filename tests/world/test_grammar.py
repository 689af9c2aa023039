"""The grammar of scenes: text to scene and back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langgraph_interleave.world.grammar import describe, read
from langgraph_interleave.world.grammar.phrases import CELLS, RELATIONS
from langgraph_interleave.world.grammar.prose import canonical_id
from langgraph_interleave.world.palette import COLORS
from langgraph_interleave.world.scene import Beside, Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

LABELS = st.text(min_size=1, max_size=12).filter(lambda text: text.strip() != "")


@st.composite
def scenes(draw: st.DrawFn, most: int = 5) -> Scene:
    number = draw(st.integers(0, most))
    names: list[str] = []
    drafts: list[Thing] = []
    for _ in range(number):
        kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        thing = Thing(
            id="?",
            kind=kind.name,
            color=draw(st.none() | st.sampled_from(sorted(COLORS))),
            size=draw(st.sampled_from(("small", "medium", "large"))),
            count=draw(st.integers(1, 9)),
            state=draw(st.sampled_from((None, *kind.states))),
            label=draw(LABELS) if kind.name == "card" else draw(st.none() | LABELS) if kind.name == "sign" else None,
        )
        own = draw(st.booleans()) and draw(st.booleans())
        name = draw(LABELS.filter(lambda text: text not in names)) if own else canonical_id(thing, names)
        names.append(name)
        drafts.append(thing.model_copy(update={"id": name}))
    photo = draw(st.booleans()) and "photo" not in names
    things: list[Thing] = []
    for thing in drafts:
        anchors = [name for name in names if name != thing.id] + (["photo"] if photo else [])
        choice = st.none() | st.sampled_from(sorted(CELLS))
        if anchors:
            choice = choice | st.builds(
                Beside, relation=st.sampled_from(sorted(RELATIONS)), of=st.sampled_from(anchors)
            )
        things.append(thing.model_copy(update={"at": draw(choice)}))
    return Scene(
        backdrop=draw(st.sampled_from(sorted(BACKDROPS))),
        things=tuple(things),
        caption=draw(st.none() | LABELS),
        photo=photo,
    )


@given(scenes())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_described_is_read_back(scene: Scene) -> None:
    assert read(describe(scene)).scene == scene


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_reads_as_a_scene_that_can_be_described(text: str) -> None:
    scene = read(text).scene
    assert read(describe(scene)).scene == scene
    assert len({thing.id for thing in scene.things}) == len(scene.things)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_in_every_state_is_read_back(kind: str) -> None:
    for backdrop in ("paper", "table"):
        for state in (None, *KINDS[kind].states):
            for color in (None, "red", "green"):
                for count in (1, 4):
                    label = "x" if kind == "card" else None
                    thing = Thing(id="?", kind=kind, state=state, color=color, count=count, label=label)
                    scene = Scene(backdrop=backdrop, things=(thing.model_copy(update={"id": canonical_id(thing, [])}),))
                    assert read(describe(scene)).scene == scene, describe(scene)
