"""What a reader sees of the pictures an attempt had to choose from."""

from __future__ import annotations

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.document import Document
from langgraph_interleave.graph import create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan
from langgraph_interleave.types import Critique, CritiqueRequest, Scores


def test_the_page_shows_every_candidate_with_what_was_said_of_it() -> None:
    marks = iter([("revise", 4), ("accept", 6), ("accept", 9)])

    def judge(asked: CritiqueRequest) -> Critique:
        verdict, score = next(marks)
        return Critique(verdict=verdict, reasoning=f"Worth {score}.", scores=Scores(quality=score))  # type: ignore[arg-type]

    store = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ScriptedCritic(judge), artifacts=store, candidates=3
    )
    document = Document.load(graph.invoke({"request": "x"})["document"], store)
    page = document.to_html()
    assert "Drawn beside it" in page
    assert "Candidate 1: rejected, 4 of 10" in page and "Candidate 2: accepted, 6 of 10" in page
    assert "Candidate 3" not in page, "the one that was chosen is the attempt itself"
    assert "Worth 9." in page and "Worth 4." not in page


def test_one_picture_has_nothing_beside_it() -> None:
    store = ArtifactStore.memory()
    graph = create_interleave_graph(
        ScriptedPlanner(simple_plan(1)), ScriptedBackend(), ScriptedCritic(), artifacts=store
    )
    assert "Drawn beside it" not in Document.load(graph.invoke({"request": "x"})["document"], store).to_html()
