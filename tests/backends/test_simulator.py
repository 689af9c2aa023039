"""The simulator: sketch plus seeded faults; reproducible, and silent about them."""

from __future__ import annotations

import asyncio
import io
from random import Random

import pytest
from PIL import Image

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.simulator import SimulatorBackend
from langgraph_interleave.backends.sketch import SketchBackend
from langgraph_interleave.errors import CallTimeout, ConfigError, InvalidRequest
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.types import (
    CritiqueRequest,
    ImageBytes,
    ImageRequest,
    PlanFinished,
    Progress,
    Request,
    TextPart,
    parse_source,
)
from langgraph_interleave.world.critic import PixelCritic
from langgraph_interleave.world.faults import Fault, faulty
from langgraph_interleave.world.grammar import describe, prompt, target
from langgraph_interleave.world.marks import scene_of
from langgraph_interleave.world.planner import plan_deltas
from langgraph_interleave.world.presets import CATEGORIES, Preset, Rates, preset
from langgraph_interleave.world.procedures.book import book
from langgraph_interleave.world.scene import Scene, Thing

WORDS = "On a meadow: five red balls; a blue kite in the upper left corner."


def request(words: str = WORDS, **more: object) -> ImageRequest:
    return ImageRequest(prompt=words, width=128, height=128, **more)  # pyright: ignore[reportArgumentType]


async def draw(simulator: SimulatorBackend, wanted: ImageRequest) -> tuple[ImageBytes, tuple[Fault, ...]]:
    image = (await simulator.agenerate(wanted)).images[0]
    truth = simulator.truth(image.sha256)
    assert truth is not None
    return image, truth


def pixels(image: ImageBytes) -> bytes:
    with Image.open(io.BytesIO(image.data)) as opened:
        return opened.convert("RGB").tobytes()


def test_it_is_a_backend_like_sketch() -> None:
    simulator = SimulatorBackend()
    assert isinstance(simulator, ImageBackend)
    assert simulator.capabilities == SketchBackend().capabilities
    assert simulator.name == "simulator"
    assert "test world" in (SimulatorBackend.__doc__ or "")
    assert SimulatorBackend.from_string("hard", seed=3).preset == preset("hard")
    with pytest.raises(ConfigError, match="default, hard"):
        SimulatorBackend.from_string("harsh")
    with pytest.raises(ConfigError, match="latency_s"):
        SimulatorBackend(latency_s=-1)


def test_fingerprints_tell_artists_apart_and_ignore_latency() -> None:
    own = preset("hard").model_copy(update={"refined_helps": 0.0})
    simulators = [SimulatorBackend(), SimulatorBackend("hard"), SimulatorBackend(seed=1), SimulatorBackend(own)]
    assert len({one.fingerprint for one in simulators}) == 4
    assert SimulatorBackend(latency_s=2).fingerprint == SimulatorBackend().fingerprint


async def test_perfect_draws_what_sketch_draws() -> None:
    wanted = request(seed=5)
    image, truth = await draw(SimulatorBackend("perfect"), wanted)
    assert truth == ()
    assert pixels(image) == pixels((await SketchBackend().agenerate(wanted)).images[0])


async def test_the_same_request_and_seed_have_the_same_picture_in_every_object() -> None:
    for seed in range(6):
        one, truth = await draw(SimulatorBackend("hard"), request(seed=seed))
        other, again = await draw(SimulatorBackend("hard"), request(seed=seed))
        assert one.data == other.data
        assert truth == again


async def test_other_seeds_have_other_faults() -> None:
    simulator = SimulatorBackend("hard")
    found = {(await draw(simulator, request(seed=seed)))[1] for seed in range(12)}
    assert len(found) > 3
    elsewhere = {(await draw(SimulatorBackend("hard", seed=1), request(seed=seed)))[1] for seed in range(12)}
    assert elsewhere != found


async def test_truth_and_the_scene_that_is_shown() -> None:
    simulator = SimulatorBackend("hard")
    asked = target(WORDS)
    for seed in range(10):
        image, truth = await draw(simulator, request(seed=seed))
        shown = simulator.shown(image.sha256)
        assert shown is not None
        assert (shown == asked) == (not truth)
    assert simulator.truth("0" * 64) is None
    assert simulator.shown("0" * 64) is None


async def test_a_picture_says_what_it_shows_and_nothing_of_faults() -> None:
    simulator = SimulatorBackend("hard")
    for seed in range(10):
        image, truth = await draw(simulator, request(seed=seed))
        for fault in truth:
            assert fault.words.encode() not in image.data
            assert fault.category.encode() not in image.data
        assert b"default" not in image.data
        assert b"fault" not in image.data


async def test_several_pictures_of_one_request() -> None:
    simulator = SimulatorBackend("hard")
    seen: list[Progress] = []
    result = await simulator.agenerate(request(seed=7, n=3), on_progress=seen.append)
    assert len(result.images) == 3
    assert [(one.step, one.total) for one in seen] == [(1, 3), (2, 3), (3, 3)]
    for index, image in enumerate(result.images):
        alone, truth = await draw(SimulatorBackend("hard"), request(seed=7 + index))
        assert alone.data == image.data
        assert simulator.truth(image.sha256) == truth
    with pytest.raises(InvalidRequest):
        await simulator.agenerate(request(n=0))
    with pytest.raises(InvalidRequest, match="seed -1 is out of range"):
        await simulator.agenerate(request(seed=-1))


async def test_unknown_words_are_warned_about_once_as_by_sketch() -> None:
    wanted = request("a frobnicator on a table", seed=1)
    ours = await SimulatorBackend("perfect").agenerate(wanted)
    assert ours.warnings == (await SketchBackend().agenerate(wanted)).warnings
    assert any("frobnicator" in warning for warning in ours.warnings)


async def test_latency_and_deadline() -> None:
    loop = asyncio.get_running_loop()
    slow = SimulatorBackend("perfect", latency_s=0.15)
    start = loop.time()
    await slow.agenerate(request())
    assert loop.time() - start >= 0.15
    with pytest.raises(CallTimeout, match="did not draw") as caught:
        await SimulatorBackend(latency_s=5).agenerate(request(timeout_s=0.1))
    assert not caught.value.ambiguous


def drift_only() -> Preset:
    rates = Rates(**{name: 1.0 if name == "identity_drift" else 0.0 for name in CATEGORIES})
    return Preset(name="x", about="", rates=rates, plain_prompt_helps=0, refined_helps=0, drift_cap=1)


async def test_an_edit_keeps_what_it_does_not_speak_of_at_risk_of_drift_alone() -> None:
    simulator = SimulatorBackend(drift_only())
    first, truth = await draw(simulator, request(seed=1))
    assert truth == (), "nothing drifts in a picture drawn from nothing"
    scene = target(WORDS)
    after = scene.model_copy(update={"things": (*scene.things, Thing(id="dog", kind="dog"))})
    _, faults = await draw(simulator, request(prompt("Add a dog.", after), references=(first,), seed=1))
    assert [fault.category for fault in faults] == ["identity_drift"]
    assert faults[0].thing in ("ball", "kite")


async def test_drift_grows_with_every_edit_in_any_process() -> None:
    rates = Rates(**{**drift_only().rates.model_dump(), "identity_drift": 0.34})
    drifting = drift_only().model_copy(update={"rates": rates})
    words = prompt("Make nothing new.", target(WORDS))
    hits = [0, 0, 0]
    for seed in range(8):
        image, _ = await draw(SimulatorBackend("perfect"), request(seed=seed))
        for depth in range(3):
            # A fresh object each time: how deep an edit is must be known from the picture alone.
            _, faults = await draw(SimulatorBackend(drifting), request(words, references=(image,), seed=seed))
            hits[depth] += bool(faults)
            image, _ = await draw(SimulatorBackend("perfect"), request(words, references=(image,), seed=seed))
            assert scene_of(image.data) == target(WORDS)
    assert 0 < hits[0] < 8
    assert hits[0] <= hits[1] <= hits[2] == 8, "three edits deep the rate is above 1"


async def test_a_foreign_photo_is_pinned_up_and_nothing_counts_as_kept() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), "teal").save(buffer, "JPEG")
    photo = ImageBytes(buffer.getvalue(), "image/jpeg", 64, 48)
    simulator = SimulatorBackend(drift_only())
    image, truth = await draw(simulator, ImageRequest(prompt=WORDS, references=(photo,), width=128, height=128))
    assert truth == ()
    shown = simulator.shown(image.sha256)
    assert shown is not None
    assert shown.photo


def test_every_faulty_scene_can_be_said_and_so_drawn() -> None:
    scenes = [step.scene for entry in book() for step in entry.steps][::4]
    hard = preset("hard").scaled(2)
    before: Scene | None = None
    for index, scene in enumerate(scenes):
        wrong, _ = faulty(scene, before, hard, Random(index), "", depth=2)
        assert target(describe(wrong)) == wrong
        before = scene


async def run(words: str, seed: int, *, attempts: int = 3) -> tuple[int, bool, int]:
    """Plan, draw, judge, draw again; corrections made, whether every step was accepted, faults accepted."""
    simulator, critic = SimulatorBackend(), PixelCritic()
    wish = PlanRequest(request=Request(parts=(TextPart(text=words),)), capabilities=simulator.capabilities)
    plan = next(delta.plan for delta in plan_deltas(wish) if isinstance(delta, PlanFinished))
    drawn: dict[int, ImageBytes] = {}
    corrections, complete, passed = 0, True, 0
    for step in plan.steps:
        assert step.prompt is not None
        assert step.instruction is not None
        sources = [drawn[number] for kind, number in map(parse_source, step.sources) if kind == "step"]
        prompt_now = step.prompt
        for attempt in range(attempts):
            wanted = request(prompt_now, references=tuple(sources), seed=seed * 1000 + step.index * 10 + attempt)
            image, truth = await draw(simulator, wanted)
            critique = critic.critique(
                CritiqueRequest(
                    instruction=step.instruction,
                    prompt=prompt_now,
                    after=image,
                    before=sources[0] if sources else None,
                    references=sources,
                )
            )
            drawn[step.index] = image
            if critique.verdict == "accept":
                passed += bool(truth)
                break
            corrections += 1
            prompt_now = critique.refined_prompt or prompt_now
        else:
            complete = False
    return corrections, complete, passed


async def test_the_loop_corrects_itself_on_the_bean() -> None:
    outcomes = [await run("How to plant a bean, in 5 steps", seed) for seed in range(4)]
    assert sum(corrections for corrections, _, _ in outcomes) >= 2, outcomes
    assert sum(complete for _, complete, _ in outcomes) >= 3, outcomes
    assert sum(passed for _, _, passed in outcomes) == 0, outcomes
