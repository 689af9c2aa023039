"""What people send besides what is meant to be sent: endless, contradictory, negated, broken."""

from __future__ import annotations

import shutil
import struct
import time
import zlib
from pathlib import Path

import pytest

pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")

from langgraph_interleave_miniature.critic import MiniatureCritic
from langgraph_interleave_miniature.outlines import outline_of
from langgraph_interleave_miniature.parsing import said
from scene_reader import SceneReader

from langgraph_interleave.errors import ConfigError, PlanError
from langgraph_interleave.types import CritiqueRequest, ImageBytes


@pytest.mark.parametrize("text", ["a ball" + " " * 50_000 + "x", "a ball" + "\t \n" * 15_000 + "x", "x " * 25_000])
def test_long_requests_are_refused_at_once_and_in_few_words(text: str) -> None:
    started = time.process_time()
    with pytest.raises(PlanError, match="“x”") as refused:
        outline_of(text)
    assert time.process_time() - started < 2.5  # quadratic: from five seconds to minutes
    assert len(refused.value.message) < 300


def test_a_refusal_quotes_only_the_beginning_of_what_it_refuses() -> None:
    with pytest.raises(PlanError, match="There is one ball in a picture at most") as refused:
        outline_of("a red ball " * 100)
    assert len(refused.value.message) < 300


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("no ball", ("no",)),
        ("a red ball, not red", ("not", "red")),
        ("a red ball at the top left bottom right", ("bottom", "right")),
        ("a red ball at night on the beach", ("beach",)),
        ("a red ball left of the blue car", ("left of",)),
        ("a ball on top of a house", ("top of",)),
    ],
)
def test_what_cannot_be_is_named_and_not_left_out(text: str, unknown: tuple[str, ...]) -> None:
    assert said(text).unknown == unknown
    with pytest.raises(PlanError, match=unknown[0]):
        outline_of(text)


def test_places_that_go_together_are_put_together() -> None:
    for text in ("a red ball at the top, left, on paper", "a red ball at the top of the picture on the left, on paper"):
        assert outline_of(text).moments[0].scene.shown == ("paper", {0: ("ball", "red")})
    for text in ("the night", "at night, in the dark"):
        assert said(text).background == "night" and not said(text).unknown


def test_a_move_and_a_change_count_to_where_they_go() -> None:
    moved = outline_of("a red ball at the top left at night; move it from the top left to the bottom right")
    assert moved.moments[-1].scene.shown == ("night", {5: ("ball", "red")})
    changed = outline_of("a red ball at the top left at night; change it from night to the beach")
    assert changed.moments[-1].scene.shown == ("beach", {0: ("ball", "red")})


def test_a_dark_color_is_not_the_night() -> None:
    for text in ("a dark blue ball in a meadow", "the dark blue ball in a meadow"):
        words = said(text)
        assert (words.background, words.unknown, words.unshown) == ("meadow", (), ("dark",))
    assert said("in the dark a blue ball").background == "night"


def test_a_picture_of_endless_size_cannot_be_opened() -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    bomb = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    request = CritiqueRequest(
        instruction="A red ball at night.", prompt="", after=ImageBytes(bomb, "image/png", 60_000, 60_000)
    )
    assert MiniatureCritic(SceneReader()).critique(request).reasoning == "The picture cannot be opened."


@pytest.mark.parametrize("damage", ["cut", "other"])
def test_a_reader_of_other_weights_is_refused(trained_reader: Path, tmp_path: Path, damage: str) -> None:
    from langgraph_interleave_miniature.reader import TrainedReader

    file = tmp_path / trained_reader.name
    if damage == "cut":
        file.write_bytes(trained_reader.read_bytes()[:5000])
    else:
        shutil.copy(trained_reader.parent / "pipeline" / "vae" / "diffusion_pytorch_model.safetensors", file)
    with pytest.raises(ConfigError, match=r"critic_reader\.safetensors"):
        TrainedReader(file)
