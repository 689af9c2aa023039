"""Whatever order the steps of a run come in, they are told in the order of the document."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_interleave import events
from langgraph_interleave.chat.order import Order, Piece
from langgraph_interleave.events import RunEvent, SegmentImage, StepEvent, WarningEvent, segment
from langgraph_interleave.types import (
    ArtifactRef,
    DocumentData,
    DocumentStep,
    Request,
    StepOutcome,
    TextPart,
)

RUN = "r"


def ref(step: int) -> ArtifactRef:
    return ArtifactRef(sha256=f"{step:064x}", mime="image/png", size=1, width=8, height=6)


def custom(event: Any) -> dict[str, Any]:
    return {"type": "custom", "ns": (), "data": events.to_dict(event)}


def committed(step: int) -> dict[str, Any]:
    steps = {str(step): {"outcome": "exhausted", "record": f"{step:064x}"}}
    return {"type": "updates", "ns": (), "data": {"critique": {"progress": {"steps": steps}}}}


def step_parts(step: int, outcome: StepOutcome) -> list[dict[str, Any]]:
    """What is told of one step, from its beginning to its end."""
    picture = SegmentImage.of(ref(step))
    parts = [
        custom(StepEvent(run_id=RUN, step=step, phase="start")),
        custom(segment(RUN, step, "caption", text=f"Caption {step}")),
        custom(segment(RUN, step, "preview", image=picture.model_copy(update={"unchecked": True}))),
    ]
    if outcome == "backend_failed":
        parts.append(custom(segment(RUN, step, "placeholder", text="no luck")))
    else:
        parts += [
            custom(segment(RUN, step, "reasoning", phase="start")),
            custom(segment(RUN, step, "reasoning", phase="delta", text="Look", offset=0)),
            custom(segment(RUN, step, "reasoning", text="Looks good.")),
            custom(segment(RUN, step, "image", image=picture)),
        ]
    parts.append(custom(StepEvent(run_id=RUN, step=step, phase="finish", outcome=outcome)))
    return [*parts, committed(step)] if outcome not in ("accepted", "text_only") else parts


def document(outcomes: list[StepOutcome]) -> dict[str, Any]:
    steps = [
        DocumentStep(
            index=step,
            op="generate",
            outcome=outcome,
            caption=f"Caption {step}",
            image=None if outcome == "backend_failed" else ref(step),
            mark=None if outcome == "accepted" else f"Mark {step}",
        )
        for step, outcome in enumerate(outcomes)
    ]
    data = DocumentData(run_id=RUN, request=Request(parts=(TextPart(text="x"),)), outcome="partial", steps=tuple(steps))
    return {"type": "updates", "ns": (), "data": {"compose": {"document": data.model_dump(mode="json")}}}


def told(parts: list[dict[str, Any]]) -> tuple[list[Piece], Order]:
    order = Order()
    return [piece for part in parts for piece in order.read(part)], order


def shape(pieces: list[Piece]) -> list[tuple[str, int | None]]:
    """Kinds and steps of the blocks; a mark is text whichever way it came about."""
    seen: dict[int, tuple[str, int | None]] = {}
    for piece in pieces:
        seen.setdefault(piece.index, ("text" if piece.kind == "mark" else piece.kind, piece.step))
    assert list(seen) == sorted(seen), "blocks begin in order"
    assert [piece.index for piece in pieces] == sorted(piece.index for piece in pieces), "no block is taken up again"
    return list(seen.values())


def expected(outcomes: list[StepOutcome]) -> list[tuple[str, int | None]]:
    blocks: list[tuple[str, int | None]] = []
    for step, outcome in enumerate(outcomes):
        kinds = ["text"] if outcome == "backend_failed" else ["text", "reasoning", "image"]
        blocks += [(kind, step) for kind in ([*kinds, "text"] if outcome != "accepted" else kinds)]
    return blocks


OUTCOMES = st.lists(st.sampled_from(["accepted", "exhausted", "backend_failed"]), min_size=1, max_size=5)


@settings(max_examples=40)
@given(outcomes=OUTCOMES, data=st.data())
def test_any_interleaving_of_the_steps_is_told_in_document_order(
    outcomes: list[StepOutcome], data: st.DataObject
) -> None:
    queues = [step_parts(step, outcome) for step, outcome in enumerate(outcomes)]
    turns = data.draw(st.permutations([step for step, queue in enumerate(queues) for _ in queue]))
    parts = [queues[step].pop(0) for step in turns]
    pieces, _ = told([*parts, document(outcomes)])
    assert shape(pieces) == expected(outcomes)


@settings(max_examples=40)
@given(outcomes=OUTCOMES, data=st.data())
def test_what_an_earlier_invocation_told_comes_from_the_document(
    outcomes: list[StepOutcome], data: st.DataObject
) -> None:
    silent = data.draw(st.sets(st.sampled_from(range(len(outcomes)))))
    parts = [part for step, outcome in enumerate(outcomes) if step not in silent for part in step_parts(step, outcome)]
    pieces, _ = told([*parts, document(outcomes)])
    wanted = [(kind, step) for kind, step in expected(outcomes) if kind != "reasoning" or step not in silent]
    assert shape(pieces) == wanted


def test_reasoning_grows_in_one_block_and_the_whole_adds_only_the_rest() -> None:
    pieces, _ = told(step_parts(0, "accepted"))
    reasoning = [piece for piece in pieces if piece.kind == "reasoning"]
    assert [piece.text for piece in reasoning] == ["Look", "s good."]
    assert len({piece.index for piece in reasoning}) == 1


def test_a_step_ahead_of_its_turn_waits_for_the_one_before() -> None:
    order = Order()
    assert [piece for part in step_parts(1, "accepted") for piece in order.read(part)] == []
    first = step_parts(0, "accepted")
    pieces = [piece for part in first[:-1] for piece in order.read(part)]
    assert {piece.step for piece in pieces} == {0}
    assert {piece.step for piece in order.read(first[-1])} == {1}


def test_a_marked_step_ends_when_the_graph_has_committed_its_record() -> None:
    parts = step_parts(0, "exhausted")
    before, _ = told(parts[:-1])
    assert all(piece.kind != "mark" for piece in before)
    after, _ = told(parts)
    assert after[-1].kind == "mark" and after[-1].record == f"{0:064x}"


def test_notes_come_first_and_other_runs_not_at_all() -> None:
    note = custom(WarningEvent(run_id=RUN, code="note", message="Sketches."))
    other = custom(segment("another", 0, "caption", text="not ours"))
    pieces, order = told([custom(RunEvent(run_id=RUN, phase="start")), note, other, *step_parts(0, "accepted")])
    assert (pieces[0].kind, pieces[0].text) == ("reasoning", "Sketches.")
    assert all(piece.text != "not ours" for piece in pieces)
    assert order.run_id == RUN and order.document is None
