"""The pure parts of the ablation: when a step is right, the bootstrap, the break-even figures, the tasks."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from langgraph_interleave.types import CritiqueRequest, ImageBytes, ImageRequest
from langgraph_interleave.world.grammar import describe, instruction, prompt
from langgraph_interleave.world.presets import preset
from langgraph_interleave.world.scene import Beside, Scene, Thing

Load = Callable[[str], ModuleType]
BALL = Thing(id="ball", kind="ball", color="red", count=2, at="left")
CUP = Thing(id="cup", kind="cup", state="empty", at="right")
SCENE = Scene(backdrop="meadow", things=(BALL, CUP))


def scene(*things: Thing, backdrop: str = "meadow") -> Scene:
    return Scene(backdrop=backdrop, things=things)


# --- when a step is right


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        (SCENE, "the very scene"),
        (scene(CUP, BALL), "order does not count"),
        (scene(BALL.model_copy(update={"id": "x"}), CUP.model_copy(update={"id": "y"})), "names do not count"),
    ],
)
def test_right(load: Load, shown: Scene, why: str) -> None:
    assert load("worth.truth").right(shown, SCENE), why


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        (None, "no picture"),
        (scene(BALL), "something is missing"),
        (scene(BALL, CUP, Thing(id="star", kind="star")), "nobody asked for a star"),
        (scene(BALL.model_copy(update={"count": 3}), CUP), "number"),
        (scene(BALL.model_copy(update={"color": "blue"}), CUP), "colour"),
        (scene(BALL, CUP.model_copy(update={"state": None})), "state"),
        (scene(BALL, CUP.model_copy(update={"size": "large"})), "size"),
        (scene(BALL.model_copy(update={"at": "middle"}), CUP), "place"),
        (SCENE.model_copy(update={"backdrop": "beach"}), "backdrop"),
        (scene(BALL, BALL), "one ball twice is no cup"),
    ],
)
def test_wrong(load: Load, shown: Scene | None, why: str) -> None:
    assert not load("worth.truth").right(shown, SCENE), why


def test_a_place_left_open_is_free_for_what_is_new_and_not_for_what_was_there(load: Load) -> None:
    right = load("worth.truth").right
    asked = scene(BALL.model_copy(update={"at": None}))
    assert right(scene(BALL), asked)
    assert not right(scene(BALL), asked, before=asked)
    assert right(asked, asked, before=asked)


def test_a_place_beside_something_is_told_by_what_that_is(load: Load) -> None:
    right = load("worth.truth").right
    asked = scene(CUP, BALL.model_copy(update={"at": Beside(relation="on", of="cup")}))
    cup = CUP.model_copy(update={"id": "cup_2"})
    assert right(scene(cup, BALL.model_copy(update={"at": Beside(relation="on", of="cup_2")})), asked)
    assert not right(scene(cup, BALL.model_copy(update={"at": Beside(relation="behind", of="cup_2")})), asked)


def test_the_lenient_rule_forgives_what_else_is_there(load: Load) -> None:
    contains = load("worth.truth").contains
    moved = BALL.model_copy(update={"at": "middle"})
    assert contains(scene(Thing(id="star", kind="star"), CUP, moved, backdrop="beach"), SCENE)
    assert not contains(scene(CUP), SCENE)
    assert not contains(None, SCENE)
    assert not contains(scene(CUP, BALL), scene(BALL, BALL)), "two are asked for"


def test_a_step_without_a_picture_is_wrong(load: Load) -> None:
    rightness = load("worth.truth").rightness
    assert rightness([SCENE, None, SCENE], [SCENE] * 3) == (True, False, True)
    assert rightness([SCENE], [SCENE] * 2) == (True, False)
    assert rightness([SCENE] * 3, [SCENE] * 2) == (True, True)


# --- bootstrap


def sums(load: Load, **fields: int) -> Any:
    return load("worth.bootstrap").Sums(**fields)


def test_the_interval_of_a_share_is_that_of_the_textbook(load: Load) -> None:
    """100 tasks of which 60 succeed: 0.60 +- 1.96 * sqrt(0.6 * 0.4 / 100) = 0.504 to 0.696."""
    rows = [sums(load, steps=1, right=int(number < 60)) for number in range(100)]
    found = load("worth.bootstrap").interval([rows], lambda totals: totals[0].right / totals[0].steps)
    assert found["value"] == 0.6
    assert found["low"] == pytest.approx(0.504, abs=0.02)
    assert found["high"] == pytest.approx(0.696, abs=0.02)


def test_pairing_takes_the_tasks_spread_out_of_a_difference(load: Load) -> None:
    """One arm is better by the same step in every task: the difference is certain, the shares are not."""
    one = [sums(load, steps=10, right=number % 10) for number in range(40)]
    two = [sums(load, steps=10, right=number % 10 + 1) for number in range(40)]
    interval = load("worth.bootstrap").interval
    share = interval([one], lambda totals: totals[0].right / totals[0].steps)
    more = interval([two, one], lambda totals: (totals[0].right - totals[1].right) / totals[0].steps)
    assert share["high"] - share["low"] > 0.1
    assert more == {"value": 0.1, "low": 0.1, "high": 0.1}


def test_a_statistic_that_mostly_has_no_value_has_no_interval(load: Load) -> None:
    rows = [sums(load, steps=1)] * 3
    found = load("worth.bootstrap").interval([rows], lambda _: None)
    assert found == {"value": None, "low": None, "high": None}


# --- break-even


def test_the_price_of_a_critique_at_which_the_loop_breaks_even(load: Load) -> None:
    price = load("worth.report").critique_price
    plan = sums(load, sequences=10, whole=2, drawings=40)  # 20 drawings for a right sequence
    loop = sums(load, sequences=10, whole=8, drawings=60, critiques=50)
    # 8 right ones are worth 160 drawings; 60 were drawn; 100 are left for 50 critiques.
    assert price([loop, plan]) == pytest.approx(2.0)
    wasteful = sums(load, sequences=10, whole=2, drawings=50, critiques=50)
    assert price([wasteful, plan]) == pytest.approx(-0.2), "not even for nothing"
    assert price([loop, sums(load, sequences=10, drawings=40)]) is None


def test_best_of_n_is_mixed_to_the_loops_number_of_drawings(load: Load) -> None:
    report = load("worth.report")
    one = sums(load, steps=100, right=50, drawings=100)
    two = sums(load, steps=100, right=70, drawings=200, critiques=200)
    three = sums(load, steps=100, right=80, drawings=300, critiques=300)
    loop = sums(load, steps=100, right=66, drawings=150)
    few, many, share = report.mix([one, two, three, loop])
    assert (few, many, share) == (one, two, pytest.approx(0.5))
    assert report.over_candidates([one, two, three, loop]) == pytest.approx(0.06)
    much = sums(load, steps=100, right=66, drawings=275)
    assert report.mix([one, two, three, much]) == (two, three, pytest.approx(0.75))


# --- tasks, critic, arms


def test_tasks_are_the_same_every_time_and_read_as_meant(load: Load) -> None:
    tasks = load("worth.tasks")
    first, again = tasks.tasks(4, seed=3), tasks.tasks(4, seed=3)
    assert first == again
    assert [task.name.startswith("random") for task in first] == [False, True, False, True]
    assert tasks.tasks(3, seed=3) == first[:3]
    for task in first:
        assert task.request.splitlines() == [f"{n}. {describe(shown)}" for n, shown in enumerate(task.scenes, 1)]


async def drawn(artist: Any, asked: Scene, seed: int) -> ImageBytes:
    result = await artist.agenerate(ImageRequest(prompt("", asked), seed=seed, width=64, height=64))
    return result.images[0]


async def test_the_oracle_errs_as_often_as_it_is_told(load: Load) -> None:
    artists = load("worth.artists")
    artist = artists.Artist(preset("default"), seed=1)
    pictures = [await drawn(artist, SCENE, seed) for seed in range(24)]
    faulty = {picture.sha256: bool(artist.truth(picture.sha256)) for picture in pictures}
    assert 4 < sum(faulty.values()) < 20

    def share(judge: Any, of: bool, says: str) -> float:
        asked = [
            CritiqueRequest(f"{instruction('', SCENE)} Again {number}.", "x", picture)
            for number in range(10)
            for picture in pictures
            if faulty[picture.sha256] == of
        ]
        return sum(judge.judge(one).verdict == says for one in asked) / len(asked)

    sure = artists.Oracle(artist)
    assert share(sure, True, "revise") == share(sure, False, "accept") == 1
    erring = artists.Oracle(artist, false_accept=0.3, false_reject=0.1, seed=4)
    assert share(erring, True, "accept") == pytest.approx(0.3, abs=0.1)
    assert share(erring, False, "revise") == pytest.approx(0.1, abs=0.1)


async def test_what_is_right_with_a_plan_is_what_the_simulator_calls_faultless(load: Load) -> None:
    arms, artists, truth = (load(f"worth.{name}") for name in ("arms", "artists", "truth"))
    world = load("worth.builtin").WORLD
    [task] = load("worth.tasks").tasks(2)[:1]
    artist = artists.Artist(preset("hard"), seed=2)
    agree = 0
    for asked in task.scenes:
        for seed in range(2):
            picture = await drawn(artist, asked, seed)
            assert truth.right(artist.shown(picture.sha256), asked) == (artist.truth(picture.sha256) == ())
            agree += 1
    assert agree == 2 * len(task.scenes)
    flawless = preset("perfect")
    for arm in (arms.REWRITE_ONLY, arms.PLAN_ONLY, arms.BEST_OF_2):
        result = await arms.run_arm(world, arm, task, flawless, seed=0, judging=(0.0, 0.0))
        assert all(result.right)
        assert result.drawings == len(task.scenes) * (2 if arm == arms.BEST_OF_2 else 1)


async def test_keep_last_and_keep_best_part_only_where_a_step_is_exhausted(load: Load) -> None:
    arms, world = load("worth.arms"), load("worth.builtin").WORLD
    task = load("worth.tasks").tasks(2)[1]
    one_short = await arms.run_loop(world, task, preset("perfect"), seed=0, judging=(0.0, 0.0))
    assert one_short[arms.KEEP_LAST] is one_short[arms.KEEP_BEST]
    hopeless = await arms.run_loop(world, task, preset("perfect"), seed=0, judging=(0.0, 1.0))
    assert hopeless[arms.KEEP_LAST] is not hopeless[arms.KEEP_BEST]
    for result in hopeless.values():
        assert result.exhausted == len(task.scenes)
        assert result.drawings == result.critiques == 3 * len(task.scenes)
        assert all(result.right), "a perfect artist is right whatever the critic says"


async def test_a_critic_that_passes_everything_is_no_critic(load: Load) -> None:
    """The corner of the map where the loop must be exactly plan-only."""
    arms, world = load("worth.arms"), load("worth.builtin").WORLD
    task = load("worth.tasks").tasks(2)[1]
    loop = await arms.run_loop(world, task, preset("hard"), seed=3, judging=(1.0, 0.0))
    plan = await arms.run_arm(world, arms.PLAN_ONLY, task, preset("hard"), seed=3)
    assert not all(plan.right)
    assert loop[arms.KEEP_BEST].right == plan.right
    assert loop[arms.KEEP_BEST].drawings == plan.drawings


async def test_the_first_candidate_is_what_would_have_been_drawn_alone(load: Load) -> None:
    artists, critics = load("worth.artists"), load("worth.critics")
    artist = artists.Artist(preset("hard"), seed=5)
    alone = await drawn(artist, SCENE, 9)
    one = critics.BestOf(artist, artists.Oracle(artist), 1)
    assert (await drawn(one, SCENE, 9)).sha256 == alone.sha256
    three = critics.BestOf(artist, artists.Oracle(artist), 3)
    chosen = [await drawn(three, SCENE, seed) for seed in range(12)]
    wrong = [len(artist.truth(picture.sha256) or ()) > 0 for picture in chosen]
    singly = [len(artist.truth((await drawn(artist, SCENE, seed)).sha256) or ()) > 0 for seed in range(12)]
    assert sum(wrong) < sum(singly)


def test_a_report_of_two_tasks(load: Load) -> None:
    """One cell, end to end, as JSON and as a table."""
    ablation, jobs, arms, world = load("ablation"), load("worth.jobs"), load("worth.arms"), load("worth.builtin").WORLD
    job = load("worth.world").Job
    cells = [
        job("default", 1.0, 1.0, None, (arms.ONE_SHOT, arms.REWRITE_ONLY, arms.PLAN_ONLY), 2),
        job("default", 1.0, 1.0, (0.1, 0.1), (arms.KEEP_LAST, arms.KEEP_BEST), 2),
    ]
    result = load("worth.report").report(cells, jobs.run_jobs(cells, world))
    assert [row["arm"] for row in result["rows"]] == [
        arms.ONE_SHOT, arms.REWRITE_ONLY, arms.PLAN_ONLY, arms.KEEP_LAST, arms.KEEP_BEST
    ]  # fmt: skip
    plan = result["rows"][2]
    assert plan["step_over_plan_only"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert plan["drawings_per_step"] == 1.0
    assert plan["critiques_per_step"] == 0.0
    text = ablation.table(world, {**result, "notes": world.notes(result)})
    assert "plan+critic, keep best" in text
