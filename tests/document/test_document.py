"""The document as an object: loaded, read, saved, and calm when something is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.document import Document
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.types import ArtifactRef, DocumentData, Request, StepRecord, TextPart


def test_it_is_loaded_from_plain_json(bean: Document, store: ArtifactStore) -> None:
    wire = json.loads(json.dumps(bean.data.model_dump(mode="json")))
    again = Document.load(wire, store)
    assert again.data == bean.data
    assert again.title == "How to plant a bean"
    assert again.outcome == "partial"
    assert [step.index for step in again.steps] == [0, 1, 2, 3, 4, 5]
    assert repr(again) == "Document('How to plant a bean', 6 steps, partial)"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({}, "This is not a document: outcome: Field required"),
        ({"document": {}, "outcome": "complete", "spend": {}}, 'Pass result["document"]'),
        ({"v": 2}, "This document was written by a newer release: it is a document of form 2"),
        ("text", "A document is a mapping, not a str"),
        (None, "A document is a mapping, not a NoneType"),
    ],
)
def test_what_is_no_document_is_refused(data: Any, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Document.load(data, ArtifactStore.memory())
    assert reason in str(caught.value)
    assert caught.value.remedy


def test_records_are_read_by_digest(bean: Document) -> None:
    records = bean.records()
    assert len(records) == len(bean.steps)
    assert records[2] is None
    assert isinstance(records[1], StepRecord)
    assert [attempt.critique.verdict for attempt in records[1].attempts if attempt.critique] == ["revise", "accept"]


def test_a_lost_or_foreign_record_is_left_out(bean: Document, store: ArtifactStore) -> None:
    foreign = store.put_json({"something": "else"})
    steps = tuple(
        step.model_copy(update={"record": "f" * 64 if step.index == 0 else foreign}) for step in bean.data.steps
    )
    document = Document(bean.data.model_copy(update={"steps": steps, "plan": foreign}), store)
    assert document.records() == (None,) * 6
    assert "Push one bean in" in document.to_html()
    assert "How this picture came about" not in document.to_html()


def test_images_come_in_order_with_their_steps(bean: Document) -> None:
    found = list(bean.images())
    assert [step.index for step, _ in found] == [0, 1, 3]
    assert all((image.mime, image.width, image.height) == ("image/png", 12, 8) for _, image in found)
    assert [image.sha256 for _, image in found] == [step.image.sha256 for step in bean.steps if step.image]


def test_images_say_which_is_missing(bean: Document) -> None:
    elsewhere = Document(bean.data, ArtifactStore.memory())
    with pytest.raises(ArtifactMissing, match="Step 1, artifact [0-9a-f]{64}: This picture is no longer"):
        list(elsewhere.images())


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        (" Bean \n plant", "x", "Bean plant"),
        (None, "Plant a bean,\nplease", "Plant a bean, please"),
        (None, "word " * 40, "word " * 15 + "word…"),
        (None, "字" * 90, "字" * 79 + "…"),
    ],
)
def test_a_document_always_has_a_title(title: str | None, text: str, expected: str) -> None:
    request = Request(parts=(TextPart(text=text),))
    data = DocumentData(run_id="r", request=request, outcome="complete", title=title)
    assert Document(data, ArtifactStore.memory()).title == expected


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_save_writes_page_text_and_pictures(bean: Document, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "bean"
    assert bean.save(str(folder)) == folder / "index.html"
    assert names(folder) == [
        "document.md", "images/input-01.png", "images/step-01.png", "images/step-02.png", "images/step-04.png",
        "index.html",
    ]  # fmt: skip
    assert (folder / "index.html").read_text(encoding="utf-8") == bean.to_html()
    assert (folder / "document.md").read_text(encoding="utf-8") == bean.to_markdown()
    for step, image in bean.images():
        assert (folder / "images" / f"step-{step.index + 1:02d}.png").read_bytes() == image.data


def test_save_replaces_an_earlier_document_and_nothing_else(
    bean: Document, make: Callable[..., Document], tmp_path: Path
) -> None:
    bean.save(tmp_path)
    (tmp_path / "trajectory.jsonl").write_text("{}")
    (tmp_path / "images" / "step-09.png").write_bytes(b"somebody's own")
    make().save(tmp_path)
    assert names(tmp_path) == ["document.md", "images/step-09.png", "index.html", "trajectory.jsonl"]
    make().save(tmp_path)
    assert names(tmp_path) == ["document.md", "images/step-09.png", "index.html", "trajectory.jsonl"]


def test_two_steps_with_the_same_picture_have_a_file_each(bean: Document, tmp_path: Path) -> None:
    steps = list(bean.data.steps)
    steps[1] = steps[1].model_copy(update={"image": steps[0].image})
    Document(bean.data.model_copy(update={"steps": tuple(steps)}), bean.artifacts).save(tmp_path)
    assert {"images/step-01.png", "images/step-02.png"} < set(names(tmp_path))


def test_a_failed_save_leaves_the_earlier_document_whole(
    bean: Document, make: Callable[..., Document], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make().save(tmp_path)
    before = (tmp_path / "index.html").read_bytes()

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ConfigError, match="could not be written to .*No space left on device"):
        bean.save(tmp_path)
    monkeypatch.undo()
    assert (tmp_path / "index.html").read_bytes() == before
    assert names(tmp_path) == ["document.md", "index.html"]


def test_saving_into_a_file_is_refused(bean: Document, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(ConfigError, match="could not be written"):
        bean.save(tmp_path / "taken")


def test_a_picture_gone_from_the_store_leaves_a_gap_that_names_it(bean: Document, tmp_path: Path) -> None:
    elsewhere = Document(bean.data, ArtifactStore.memory())
    with pytest.raises(ArtifactMissing, match="Load the document with the store it was made with"):
        elsewhere.save(tmp_path)
    assert bean.data.plan is not None
    elsewhere.artifacts.put_json(bean.artifacts.get_json(bean.data.plan))
    page = elsewhere.to_html()
    assert bean.steps[0].image is not None
    assert bean.steps[0].image.sha256 in page
    assert "no longer in the artifact store" in page
    assert "data:image" not in page
    elsewhere.save(tmp_path)
    assert names(tmp_path) == ["document.md", "index.html"]
    text = (tmp_path / "document.md").read_text(encoding="utf-8")
    assert f"The picture {bean.steps[0].image.sha256} is missing" in text
    assert "](images/" not in text


@pytest.mark.parametrize(
    ("data", "mime", "why"),
    [
        (b"<svg onload='alert(1)'/>", "image/svg+xml", "not a picture that can be shown here (image/svg+xml)"),
        (b"<script>alert(1)</script>", "image/png", "not a picture of the type image/png"),
        (b"<b>", "text/html", "not a picture that can be shown here (text/html)"),
    ],
)
def test_only_pictures_are_embedded(
    make: Callable[..., Document], store: ArtifactStore, tmp_path: Path, data: bytes, mime: str, why: str
) -> None:
    document = make(step={"image": store.put(data, mime=mime, width=8, height=8)})
    page = document.to_html()
    assert why in page
    assert "data:image" not in page
    document.save(tmp_path)
    assert names(tmp_path) == ["document.md", "index.html"]
    with pytest.raises(ArtifactMissing):
        list(document.images())


def test_notebooks_get_smaller_pictures(make: Callable[..., Document], store: ArtifactStore) -> None:
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.effect_noise((1024, 768), 90).convert("RGB").save(buffer, "PNG")
    ref: ArtifactRef = store.put(buffer.getvalue(), mime="image/png", width=1024, height=768)
    document = make(step={"image": ref})
    assert len(document.fragment()) > ref.size
    small = document._repr_html_()
    assert len(small) < 250_000
    assert 'width="560" height="420"' in small
