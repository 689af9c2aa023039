"""The four examples of real use run offline, and what they show is what the library did."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import Image

from langgraph_interleave import ArtifactStore, Document, image_part
from langgraph_interleave.backends.svg import SvgBackend
from langgraph_interleave.checks.netlist import netlist_of
from langgraph_interleave.types import ImageBytes
from langgraph_interleave.types.record import StepRecord
from langgraph_interleave.world.marks import scene_of
from langgraph_interleave.world.scene import Thing

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NAMES = ("product_guide", "circuit_lesson", "storyboard", "guidance")


def example(name: str) -> ModuleType:
    """An example, as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples put their folder in front of the path; it is taken out again."""
    monkeypatch.setattr(sys, "path", [*sys.path])


def run(name: str, folder: Path, size: str = "320x224") -> Any:
    """Run an example; its document is on disk, and so is its picture."""
    made = example(name).main(["--out", str(folder), "--size", size])
    assert {path.name for path in folder.iterdir()} >= {"index.html", "document.md", "images", f"{name}.png"}
    with Image.open(folder / f"{name}.png") as figure:
        assert figure.width == 1200
    return made


def stored(picture: bytes) -> str:
    """The digest a picture of the user's has in a store."""
    return image_part(picture, ArtifactStore.memory())["url"].removeprefix("artifact://")


def records(document: Document) -> list[StepRecord]:
    found = [record for record in document.records() if record is not None]
    assert len(found) == len(document.steps)
    return found


def pictures(document: Document) -> list[ImageBytes]:
    return [image for _, image in document.images()]


def shown(document: Document, kind: str) -> list[list[Thing]]:
    """What each delivered picture really shows of a kind, by the backend's own word."""
    scenes = [scene_of(image.data) for image in pictures(document)]
    return [[thing for thing in scene.things if thing.kind == kind] for scene in scenes if scene is not None]


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_for_the_front_page_is_there_and_small(name: str) -> None:
    path = EXAMPLES / f"{name}.png"
    assert 10_000 < path.stat().st_size <= 300_000
    with Image.open(path) as figure:
        assert figure.width == 1200


def test_a_figure_of_nothing_is_an_empty_sheet(tmp_path: Path) -> None:
    # Where no model could be reached there is a document without pictures, and the example still ends.
    example("guidance")
    figure = sys.modules["figure"]
    with Image.open(figure.figure([figure.Row((), 2, "Nothing")], tmp_path / "figure.png")) as sheet:
        assert sheet.size == (1200, figure.MARGIN)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_says_how_it_is_run(name: str) -> None:
    assert f"python examples/{name}.py" in (example(name).__doc__ or "")


@pytest.mark.slow
def test_a_product_guide_is_drawn_from_the_customers_photo(tmp_path: Path) -> None:
    document: Document = run("product_guide", tmp_path)
    assert document.outcome == "complete" and [step.title for step in document.steps][::4] == ["Unbox", "Use it"]
    (photo,) = document.data.request.images
    assert photo.sha256 == stored(example("product_guide").photo())
    # Each picture is drawn from the one before, and the first one from the photo.
    drawn_from = [record.attempts[0].references[0].sha256 for record in records(document)]
    assert drawn_from == [photo.sha256, *(image.sha256 for image in pictures(document)[:-1])]
    # The manual says nothing of blue, nor of a garden: both were read from the photo.
    assert not re.search("blue|garden", example("product_guide").manual().model_dump_json())
    assert [[thing.color for thing in things] for things in shown(document, "chair")] == [["blue"]] * 5
    assert {scene.backdrop for image in pictures(document) if (scene := scene_of(image.data))} == {"garden"}
    # The critic sent something back, and what was delivered it accepted.
    sent_back = [attempt for record in records(document) for attempt in record.attempts[: record.kept]]
    assert sent_back and all(attempt.critique and attempt.critique.verdict == "revise" for attempt in sent_back)
    assert any("blue" in attempt.critique.reasoning for attempt in sent_back if attempt.critique)


@pytest.mark.slow
def test_a_circuit_lesson_is_wired_as_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document: Document = run("circuit_lesson", tmp_path, "320x192")
    lesson = example("circuit_lesson")
    assert document.outcome == "complete"
    drawings = [SvgBackend.drawing_of(image) or "" for image in pictures(document)]
    nets = [{frozenset(net) for net in netlist_of(drawing)} for drawing in drawings]
    assert nets == [{frozenset(net) for net in wanted} for *_, wanted in lesson.LESSON]
    # What was wrong was found by the check, and by nobody else.
    failed = {
        (record.index, attempt.number): [check.name for check in attempt.failed_checks]
        for record in records(document)
        for attempt in record.attempts
        if attempt.failed_checks
    }
    assert failed == {(2, 0): ["netlist"], (3, 0): ["netlist"]}
    assert [record.kept for record in records(document)] == [0, 0, 1, 1]
    said = capsys.readouterr().out
    assert "D1 and V1 should be connected and are not" in said
    assert "R1 and V1 should not be connected and are" in said


def test_the_values_of_the_circuit_lesson_are_right() -> None:
    lesson = example("circuit_lesson")
    captions = " ".join(caption for _, caption, _, _ in lesson.LESSON)
    # Ohm's law, and no more than the LED bears.
    assert pytest.approx(lesson.SUPPLY) == lesson.LED + lesson.OHMS * lesson.MILLIAMPERES / 1000
    assert abs((lesson.SUPPLY - lesson.LED) / 0.020 - 350) < 1e-9 < lesson.OHMS - 350
    assert abs(lesson.MILLIAMPERES - 17.95) < 0.01
    assert "7 V / 20 mA = 350 ohm" in captions and "18 mA" in captions and "390 ohm" in captions
    assert "I = 18 mA" in lesson.GLOW and "390" in lesson.RESISTOR


@pytest.mark.slow
def test_a_storyboard_is_sketched_approved_and_painted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document: Document = run("storyboard", tmp_path)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "waiting: 6 sketches, and {'planner': 1}", "nothing was painted before it was approved"
    assert said[1].endswith("another sketch of panel 2, and {'planner': 2}")
    assert document.outcome == "complete"
    assert [step.caption for step in document.steps] == list(example("storyboard").CAPTIONS)
    # The sheet was painted before the panels, and is one of the references of each of them.
    sheet = document.data.sheet
    assert sheet is not None and sheet.image is not None and sheet.outcome == "accepted"
    for record in records(document):
        assert sheet.image.sha256 in [reference.sha256 for reference in record.attempts[0].references]
    # The reviewer's bus, and the same robot everywhere.
    assert [[thing.color for thing in things] for things in shown(document, "robot")] == [["red"]] * 6
    assert [thing.color for things in shown(document, "bus") for thing in things] == ["green"]
    assert len({scene.backdrop for image in pictures(document) if (scene := scene_of(image.data))}) == 6


@pytest.mark.slow
def test_guidance_goes_on_from_a_photo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned, real = run("guidance", tmp_path)
    assert (planned.version, real.version, real.outcome) == (1, 2, "complete")
    assert "make the kettle green and show two cups instead of one" in capsys.readouterr().out
    # What was done is kept: the same pictures, no call, taken over from version 1.
    before, after = pictures(planned), pictures(real)
    assert [image.sha256 for image in after[:2]] == [image.sha256 for image in before[:2]]
    assert [record.origin is not None for record in records(real)] == [True, True, False, False, False, False]
    assert not {image.sha256 for image in after[2:]} & {image.sha256 for image in before}
    # The rest is drawn from the photo on, one from the other.
    assert records(real)[2].attempts[0].references[0].sha256 == stored(example("guidance").photo())
    drawn_from = [record.attempts[0].references[0].sha256 for record in records(real)[3:]]
    assert drawn_from == [image.sha256 for image in after[2:5]]
    # In all of it, the kettle is green and the cups are two, where there are any.
    assert {thing.color for things in shown(real, "kettle")[2:] for thing in things} == {"green"}
    assert {thing.count for things in shown(real, "cup")[2:] for thing in things} == {2}
    assert {thing.count for things in shown(planned, "cup") for thing in things} == {1}
