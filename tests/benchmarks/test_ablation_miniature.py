"""The ablation on the miniature, without its weights: tasks, measure, critics, arms and report."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from PIL import Image

pytest.importorskip("langgraph_interleave_miniature", reason="not installed: pip install -e ./miniature")

from crayons import picture_of, studio_of, world_of
from langgraph_interleave_miniature.captions import command, describe
from langgraph_interleave_miniature.critic import MiniatureCritic
from langgraph_interleave_miniature.instructions import instruction_of
from langgraph_interleave_miniature.scenes import Scene, Thing, random_edit, random_scene
from scene_reader import SceneReader

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types import CritiqueRequest, ImageRequest

Load = Callable[[str], ModuleType]
BALL, CAR = Thing("ball", "red", 0), Thing("car", "blue", 5)
SCENE = Scene("meadow", (BALL, CAR))


# --- tasks and measure


@pytest.mark.parametrize(("crowd", "fewest", "most"), [("few", 1, 3), ("many", 4, 6), ("crowd", 5, 6)])
def test_storyboards_are_fresh_full_and_read_as_meant(load: Load, crowd: str, fewest: int, most: int) -> None:
    tasks = load("worth.miniature.tasks")
    first = tasks.tasks(30, crowd)
    assert first == tasks.tasks(30, crowd) and first[:7] == tasks.tasks(7, crowd)
    assert not {task.request for task in first} & {task.request for task in tasks.tasks(30, crowd, seed=1)}
    kinds: list[str] = []
    for task in first:
        assert task.request.splitlines() == [f"{n}. {describe(scene)}" for n, scene in enumerate(task.scenes, 1)]
        assert len(task.scenes) in (3, 4)
        assert all(fewest <= len(scene.things) <= most for scene in task.scenes)
        steps = tasks.planned(task.request).plan.steps
        assert [tasks.target(step.instruction).shown for step in steps] == [scene.shown for scene in task.scenes]
        assert steps[0].op == "generate"
        kinds += [step.op for step in steps[1:]]
    assert 0.6 < kinds.count("edit") / len(kinds) < 0.9, "edits for the most part, and new scenes"


def test_right_is_all_of_it_and_nothing_else(load: Load) -> None:
    world = world_of(load)
    blue = replace(SCENE, things=(replace(BALL, color="blue"), CAR))
    more = replace(SCENE, things=(*SCENE.things, Thing("fish", "red", 3)))
    turned = replace(SCENE, things=(CAR, replace(BALL, dx=1.0)))
    shown = [SCENE, turned, blue, more, replace(SCENE, background="night"), None]
    assert world.rightness(shown, [SCENE] * 7) == (True, True, False, False, False, False, False)
    moved = replace(SCENE, background="night", things=(replace(BALL, cell=4), CAR))
    assert [world.contains(one, SCENE) for one in (SCENE, more, moved, blue, None)] == [True, True, True, False, False]


def test_every_task_has_luck_of_its_own(load: Load) -> None:
    world = world_of(load)
    tasks = world.tasks(20, "few")
    seeds = {world.luck(task, seed) for task in tasks for seed in (0, 1)}
    assert len(seeds) == 40 and world.luck(tasks[3], 1) == world.luck(tasks[3], 1)


# --- critics


async def drawn(load: Load, spoilt: float, count: int) -> tuple[Any, list[CritiqueRequest]]:
    """An artist, and critiques asked of edits it drew, some of them wrong."""
    artist = load("worth.miniature.artist").Artist(studio_of(load, spoilt))
    rng, asked = Random(4), list[CritiqueRequest]()
    for seed in range(count):
        scene = random_scene(rng, 2)
        before = (await artist.agenerate(ImageRequest(describe(scene), seed=seed))).images[0]
        edit = random_edit(rng, scene, "add")
        request = ImageRequest(command(edit), references=(before,), seed=seed)
        after = (await artist.agenerate(request)).images[0]
        asked.append(CritiqueRequest(instruction_of(edit.after, edit), command(edit), after, before))
    return artist, asked


async def test_an_oracle_that_never_errs_judges_as_the_critic_that_reads_the_same(load: Load) -> None:
    artist, asked = await drawn(load, 0.4, 12)
    oracle, critic = load("worth.miniature.oracle").Oracle(artist), MiniatureCritic(SceneReader(1.0))
    verdicts = [oracle.judge(request) for request in asked]
    assert verdicts == [critic.critique(request) for request in asked]
    assert [verdict.verdict == "accept" for verdict in verdicts] == [artist.faultless(request) for request in asked]
    assert {verdict.verdict for verdict in verdicts} == {"accept", "revise"}


async def test_the_oracle_errs_as_often_as_it_is_told(load: Load) -> None:
    artist, asked = await drawn(load, 0.5, 30)
    oracles = load("worth.miniature.oracle")
    right = [request for request in asked if artist.faultless(request)]
    wrong = [request for request in asked if not artist.faultless(request)]
    assert min(len(right), len(wrong)) >= 8
    counts = {"accept": 0, "revise": 0}
    for seed in range(20):
        oracle = oracles.Oracle(artist, false_accept=0.3, false_reject=0.1, seed=seed)
        counts["accept"] += sum(oracle.judge(request).verdict == "accept" for request in wrong)
        counts["revise"] += sum(oracle.judge(request).verdict == "revise" for request in right)
    assert counts["accept"] / (20 * len(wrong)) == pytest.approx(0.3, abs=0.06)
    assert counts["revise"] / (20 * len(right)) == pytest.approx(0.1, abs=0.05)


async def test_a_mistaken_oracle_is_mistaken_in_all_it_says(load: Load) -> None:
    artist, asked = await drawn(load, 0.5, 12)
    oracles = load("worth.miniature.oracle")
    contrary = oracles.Oracle(artist, false_accept=1.0, false_reject=1.0, seed=3)
    for request in asked:
        verdict = contrary.judge(request)
        assert (verdict.verdict == "revise") == artist.faultless(request)
        assert (verdict.scores.mean == 10) == (verdict.verdict == "accept")
        assert (verdict.refined_prompt is None) == (verdict.verdict == "accept")
        silent = (await oracles.Silent(contrary).acritique(request)).critique
        assert silent == verdict.model_copy(update={"refined_prompt": None})


def test_what_is_imagined_is_wrong(load: Load) -> None:
    imagined = load("worth.miniature.oracle").imagined
    for number in range(40):
        assert imagined(SCENE, Random(number)).shown != SCENE.shown


# --- the arms


async def test_nothing_is_drawn_twice_and_everything_is_counted(load: Load) -> None:
    module, studio = load("worth.miniature.artist"), studio_of(load)
    one, two = module.Artist(studio), module.Artist(studio)
    request = ImageRequest("a red ball at the top left at night", seed=1)
    first = (await one.agenerate(request)).images[0]
    assert (await two.agenerate(request)).images[0] is first
    after = ImageRequest("make it on the beach", references=(first,), seed=1)
    changed = (await one.agenerate(after)).images[0]
    assert (one.drawings, two.drawings, len(studio.backend.asked)) == (2, 1, 2)
    assert one.shown(first.sha256).shown == ("night", {0: ("ball", "red")})
    assert one.shown(changed.sha256).background == "beach"
    assert one.shown(picture_of(SCENE).sha256) is None, "of others it knows nothing"


async def test_long_prompts_are_not_cut(load: Load) -> None:
    studio = studio_of(load)
    artist = load("worth.miniature.artist")
    for words in ("a red ball at night", "and nothing else " * 30):
        await artist.Artist(studio).agenerate(ImageRequest(words, seed=1))
    assert [request.extra["max_sequence_length"] for request in studio.backend.asked] == [
        artist.TOKENS,
        artist.MORE_TOKENS,
    ]


async def test_without_faults_whatever_plans_is_right(load: Load) -> None:
    arms, world = load("worth.arms"), world_of(load)
    for task in world.tasks(2, "many"):
        for arm in (arms.REWRITE_ONLY, arms.PLAN_ONLY, arms.BEST_OF_2, arms.KEEP_BEST):
            result = await arms.run_arm(
                world, arm, task, True, seed=0, judging=None if arm not in arms.JUDGED else "own"
            )
            assert all(result.right) and result.exhausted == result.false_accepts == result.false_rejects == 0, arm
            assert result.drawings == len(task.scenes) * (2 if arm == arms.BEST_OF_2 else 1)
        one_shot = await arms.run_arm(world, arms.ONE_SHOT, task, True, seed=0)
        assert not any(one_shot.right) and one_shot.drawings == len(task.scenes)


async def test_candidates_are_ranked_by_the_whole_picture_not_by_the_change(load: Load) -> None:
    """The prompt of an edit does not say what has to stay; its judge must know."""
    world = world_of(load)
    [task] = [
        task for task in world.tasks(9, "few") if len({step.op for step in world.planned(task.request).plan.steps}) > 1
    ][:1]
    plan, seed = world.planned(task.request).plan, world.luck(task, 0)
    derive = load("worth.arms").derive_seed
    asked = [world.instruction(ImageRequest("x", seed=derive(seed, step.index, 0)), plan, seed) for step in plan.steps]
    assert [load("worth.miniature.tasks").target(words).shown for words in asked] == [s.shown for s in task.scenes]


async def test_the_loop_mends_and_a_critic_that_passes_everything_is_none(load: Load) -> None:
    arms, world = load("worth.arms"), world_of(load, 0.4)
    right = {"plan": 0, "loop": 0}
    for task in world.tasks(4, "few"):
        plan = await arms.run_arm(world, arms.PLAN_ONLY, task, True, seed=0)
        blind = await arms.run_arm(world, arms.KEEP_BEST, task, True, seed=0, judging=(1.0, 0.0))
        assert (blind.right, blind.drawings) == (plan.right, plan.drawings)
        assert blind.false_accepts == blind.critiques - blind.of_right == plan.right.count(False)
        loop = await arms.run_arm(world, arms.KEEP_BEST, task, True, seed=0, judging="own", attempts=4)
        right["plan"] += sum(plan.right)
        right["loop"] += sum(loop.right)
    assert right["loop"] > right["plan"]


# --- report and command line


def test_a_report_of_two_tasks(load: Load) -> None:
    world, arms, job = world_of(load, 0.6), load("worth.arms"), load("worth.world").Job
    loops = (arms.KEEP_LAST, arms.KEEP_BEST)
    cells = [
        job("crowd", 1.0, 1.0, None, (arms.ONE_SHOT, arms.REWRITE_ONLY, arms.PLAN_ONLY), 2),
        job("crowd", 1.0, 0.0, None, (arms.PLAN_ONLY,), 2),
        job("crowd", 1.0, 1.0, "own", (arms.BEST_OF_2, *loops), 2),
        job("crowd", 1.0, 0.0, "own", loops, 2),
        job("crowd", 1.0, 1.0, "own", (arms.KEEP_BEST,), 2, 1, 2),
    ]
    result = load("worth.report").report(cells, load("worth.jobs").run_jobs(cells, world))
    own = [row for row in result["rows"] if row["critic"] == {"own": True}]
    assert own.pop(0)["arm"] == arms.BEST_OF_2
    assert [(row["arm"], row["helps"], row["attempts"]) for row in own] == [
        (arms.KEEP_LAST, 1, 3), (arms.KEEP_BEST, 1, 3), (arms.KEEP_LAST, 0, 3), (arms.KEEP_BEST, 0, 3),
        (arms.KEEP_BEST, 1, 2),
    ]  # fmt: skip
    assert ["step_over_resampling" in row for row in own] == [True, True, False, False, False]
    assert own[0]["critic_measured"]["false_accept"]["value"] == 0, "here both readers are one"
    text = load("ablation").table(world, {**result, "notes": world.notes(result)})
    assert "plan+critic, keep best, 2 attempts" in text and "plan+critic, keep best, resampling" in text


def test_no_weights_are_told_of_with_what_to_do(load: Load, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="weights"):
        load("ablation").main(["--world", "miniature", "--quick", "--weights", str(tmp_path)])
    with pytest.raises(SystemExit, match="weights"):
        load("readers").main(["--weights", str(tmp_path)])


@pytest.mark.slow
def test_quick_run(load: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("diffusers")
    ablation, world = load("ablation"), load("worth.miniature.world").MiniatureWorld()
    try:
        world.parameters()
    except ConfigError as error:
        pytest.skip(error.message)
    arguments = ["--world", "miniature", "--json", "--quick", "--workers", "1", "--tasks", "4"]
    assert ablation.main([*arguments, "--figure", str(tmp_path / "figure.png")]) == 0
    result = json.loads(capsys.readouterr().out)
    with Image.open(tmp_path / "figure.png") as figure:
        assert figure.size[0] == 1800
    corners = {
        (c["helps"], c["critic"]["false_accept"], c["critic"]["false_reject"]): c for c in result["break_even"]["map"]
    }
    assert corners[0.0, 1.0, 0.0]["step_over_plan_only"]["value"] == 0.0
    assert corners[0.0, 0.0, 0.0]["step_over_plan_only"]["value"] >= 0.0
    assert ablation.main(arguments) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["rows"] == result["rows"], "the same command gives the same figures"
