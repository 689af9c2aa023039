"""What a run may take: figures reckoned by hand, caps, prices that are not known, and never falling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.backends.simulator import SimulatorBackend
from langgraph_interleave.critics.ensemble import CriticEnsemble
from langgraph_interleave.critics.first_look import FirstLook
from langgraph_interleave.critics.unjudged import Unjudged
from langgraph_interleave.errors import ConfigError, Role
from langgraph_interleave.estimate import (
    CallProfile,
    Priced,
    Range,
    calls_seconds,
    describe,
    estimate_plan,
    estimate_run,
    in_a_line,
    profile_of,
)
from langgraph_interleave.ledger import CallRecord
from langgraph_interleave.limits import Limits
from langgraph_interleave.prices import ENVIRONMENT, Price, Prices
from langgraph_interleave.profiles import DRAWING_USAGE
from langgraph_interleave.references import Policy
from langgraph_interleave.registry import init_critic, init_planner
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, simple_plan
from langgraph_interleave.types import Capabilities, StyleGuide, Usage

ONCE = Limits(max_repeats=0)


def profile(cost: float = 0.0, *, seconds: float = 1.0, requests: int = 1, **fields: Any) -> CallProfile:
    usage = Usage(cost_usd=cost / requests)
    return CallProfile((("m", usage),) * requests, billed=True, seconds=seconds, **fields)


def three(found: Range) -> tuple[float, float, float]:
    return found.best, found.expected, found.worst


# --- calls ----------------------------------------------------------------------------------


def test_five_steps_of_five_attempts_are_51_calls_at_worst() -> None:
    estimate = estimate_run(5, limits=Limits(max_attempts=5, max_repeats=0))
    assert three(estimate.calls["planner"]) == (1, 1, 1)
    # 5 · (1 - 0.3^5) / 0.7 attempts are expected.
    assert three(estimate.calls["backend"]) == pytest.approx((5, 7.1255, 25))
    assert three(estimate.calls["critic"]) == pytest.approx((5, 7.1255, 25))
    assert three(estimate.all_calls) == pytest.approx((11, 15.251, 51))
    assert three(estimate.images) == pytest.approx((5, 7.1255, 25))
    assert estimate.limited == ()


def test_every_call_may_be_repeated_and_no_picture_more_is_drawn() -> None:
    estimate = estimate_run(5, limits=Limits(max_attempts=5, max_repeats=3))
    assert estimate.all_calls.worst == 4 * 51
    assert estimate.images.worst == 25
    assert estimate.all_calls.expected == pytest.approx(15.251)


@pytest.mark.parametrize(("p_accept", "expected"), [(1, 4), (0, 12), (0.5, 4 * 1.75)])
def test_expected_attempts_are_geometric_and_cut_off(p_accept: float, expected: float) -> None:
    assert estimate_run(4, p_accept=p_accept).images.expected == pytest.approx(expected)


def test_a_critique_of_several_critics_is_several_calls() -> None:
    one = ScriptedCritic()
    estimate = estimate_run(2, limits=ONCE, critic=CriticEnsemble(one, times=3))
    assert three(estimate.calls["critic"]) == pytest.approx((6, 3 * 2 * 1.39, 18))
    assert estimate_run(2, limits=ONCE, critic=FirstLook(one, CriticEnsemble(one))).calls["critic"].best == 8


def test_code_of_ours_is_not_repeated() -> None:
    estimate = estimate_run(
        2, limits=Limits(max_attempts=2, max_repeats=3), planner=init_planner("scene"), backend=SimulatorBackend(),
        critic=init_critic("pixel"),
    )  # fmt: skip
    assert (estimate.all_calls.worst, estimate.repeats) == (9, 0)
    assert estimate.cost_usd == Range()
    assert estimate.seconds.worst < 1


# --- caps -----------------------------------------------------------------------------------

# Three steps of at most two attempts each with p = 1/2 take 3, 4, 5 or 6 drawings: 1/8, 3/8, 3/8, 1/8.


def test_a_cap_on_images() -> None:
    estimate = estimate_run(3, limits=Limits(max_attempts=2, max_images=4, max_repeats=0), p_accept=0.5)
    assert three(estimate.images) == pytest.approx((3, 3 / 8 + 4 * 7 / 8, 4))
    assert estimate.all_calls.worst == 9
    assert estimate.limited == ("max_images",)


def test_a_cap_on_calls() -> None:
    estimate = estimate_run(3, limits=Limits(max_attempts=2, max_calls=8, max_repeats=0), p_accept=0.5)
    # The plan, three drawings with their critiques, and one drawing more.
    assert three(estimate.calls["backend"]) == pytest.approx((3, 3.875, 4))
    assert three(estimate.calls["critic"]) == pytest.approx((3, 3, 3))
    assert three(estimate.all_calls) == pytest.approx((7, 7.875, 8))
    assert estimate.limited == ("max_calls",)


def test_a_cap_on_calls_holds_with_repeats() -> None:
    estimate = estimate_run(5, limits=Limits(max_calls=10, max_repeats=3))
    assert estimate.all_calls.worst == 10
    assert estimate.images.worst >= estimate.images.expected


def test_a_cap_on_steps_and_on_seconds() -> None:
    estimate = estimate_run(9, limits=Limits(max_steps=4, max_seconds=60, max_repeats=0))
    assert (estimate.steps, estimate.images.best) == (4, 4)
    assert three(estimate.seconds) == (60, 60, 60)
    assert estimate.limited == ("max_steps", "max_seconds")


# --- time -----------------------------------------------------------------------------------


def test_a_chain_takes_one_call_after_the_other() -> None:
    # A plan of 20 s; each attempt 15 + 6 s; 1 + 0.3 + 0.09 attempts expected, 3 at worst.
    assert three(estimate_run(5, limits=ONCE).seconds) == pytest.approx((125, 20 + 5 * 1.39 * 21, 335))


def test_independent_steps_take_as_long_as_the_longest() -> None:
    found = estimate_run(2, limits=Limits(max_attempts=2, max_repeats=0), p_accept=0.5, independent=True)
    # Both are accepted at once with 1/4: one round; else two.
    assert three(found.seconds) == pytest.approx((41, 20 + 1.75 * 21, 62))


def test_a_backend_that_draws_one_at_a_time_is_waited_for() -> None:
    locked = profile(seconds=10, concurrency=1)
    quick = profile(seconds=1)
    found = estimate_run(4, limits=ONCE, p_accept=1, independent=True, planner=quick, backend=locked, critic=quick)
    assert found.seconds.best == 41
    two = profile(seconds=10, concurrency=2)
    found = estimate_run(4, limits=ONCE, p_accept=1, independent=True, planner=quick, backend=two, critic=quick)
    assert found.seconds.best == 21


def test_a_plan_has_its_own_longest_way() -> None:
    # 0 → 1 → 3 and, beside it, 2; step 4 is words alone.
    plan = simple_plan(5, sources=[[], [0], [], [1], []], text=[4])
    found = estimate_plan(plan, limits=ONCE, p_accept=1)
    assert (found.steps, found.images.best) == (4, 4)
    assert found.seconds.best == 20 + 3 * 21
    chain = estimate_plan(simple_plan(4), limits=ONCE)
    assert chain == estimate_run(4, limits=ONCE)
    apart = estimate_plan(simple_plan(4, sources=[[], [], [], []]), limits=ONCE)
    assert apart == estimate_run(4, limits=ONCE, independent=True)


def test_a_plan_of_words_alone_takes_its_plan() -> None:
    found = estimate_plan(simple_plan(2, text=[0, 1]))
    assert (found.steps, found.all_calls.best, found.images.worst, found.seconds.best) == (0, 1, 0, 20)


def test_seconds_are_measured_from_records() -> None:
    def record(role: Role, seconds: float, status: Any = "finished") -> CallRecord:
        return CallRecord(scope="s", key="k", role=role, status=status, t_start=100, t_end=100 + seconds)

    measured = calls_seconds([
        record("backend", 4), record("backend", 8), record("critic", 1), record("critic", 99, "failed")
    ])  # fmt: skip
    assert measured == {"backend": 6, "critic": 1}
    assert estimate_run(2, limits=ONCE, p_accept=1, seconds=measured).seconds.best == 20 + 2 * 7


# --- money ----------------------------------------------------------------------------------


def test_money_is_calls_times_what_a_call_costs() -> None:
    found = estimate_run(
        2, limits=Limits(max_attempts=2, max_repeats=0), p_accept=0.5, planner=profile(0.1), backend=profile(0.04),
        critic=profile(0.01),
    )  # fmt: skip
    assert found.cost_usd is not None
    assert three(found.cost_usd) == pytest.approx((0.2, 0.1 + 3 * 0.05, 0.1 + 4 * 0.05))


def test_repeats_are_billed_as_far_as_they_can_be() -> None:
    parts: Any = {"planner": profile(0.1), "backend": profile(0.04), "critic": profile(0.01)}
    found = estimate_run(2, limits=Limits(max_attempts=2, max_repeats=3), **parts)
    # Plans each time; drawings and critiques once more: the other repeats were provably not produced.
    assert found.cost_usd is not None
    assert found.cost_usd.worst == pytest.approx(4 * 0.1 + 4 * 2 * 0.05)


def test_prices_come_from_the_model_a_part_holds() -> None:
    class Chat:
        model_name = "gpt-4.1"

    class Critic(ScriptedCritic):
        model = Chat()
        expected_usage = Usage(input_tokens=1000, output_tokens=100)

    class Drawing(ScriptedBackend):
        model_name = "house"
        expected_usage = Usage(images=1)

    critic, backend = Critic(billed=True), Drawing(capabilities=Capabilities(billed=True, concurrency=3))
    assert isinstance(backend, Priced)
    prices = Prices.builtin().merged({"house": {"picture": 0.5}})
    found = estimate_run(3, limits=ONCE, p_accept=1, planner=profile(0), backend=backend, critic=critic, prices=prices)
    assert found.costs["critic"] is not None and found.costs["backend"] is not None
    assert found.costs["critic"].best == pytest.approx(3 * (0.002 + 0.0008))
    assert found.costs["backend"].best == 1.5
    assert profile_of("backend", backend).concurrency == 3
    both = estimate_run(
        1, limits=ONCE, p_accept=1, planner=profile(0), backend=backend, prices=prices,
        critic=CriticEnsemble(critic, ScriptedCritic()),
    )  # fmt: skip
    assert both.costs["critic"] is not None
    assert both.costs["critic"].best == pytest.approx(0.0028), "a critic that is not billed adds nothing"


def test_a_price_that_is_not_known_is_named_and_never_nothing() -> None:
    strange = CallProfile((("gpt-9", Usage(input_tokens=5)),), billed=True, seconds=1)
    found = estimate_run(2, planner=profile(0.5), backend=strange, critic=strange)
    assert found.cost_usd is None
    assert found.costs["backend"] is None and found.costs["planner"] is not None
    assert found.unpriced == ("gpt-9",)
    assert found.known_cost.best == 0.5
    assert estimate_run(2).unpriced == ("the planner", "the backend", "the critic")
    nameless = estimate_run(1, planner=profile(0), backend=profile(0), critic=ScriptedCritic(billed=True))
    assert nameless.unpriced == ("the critic",)


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        # Published for one picture of about 1024x1024 in medium quality.
        ("gpt-image-1.5", 0.034),
        ("gpt-image-1-mini", 0.011),
        ("gemini-3-pro-image", 0.134),
        ("gemini-3.1-flash-image", 0.067),
        ("gemini-3.1-flash-lite-image", 0.0336),
        ("gemini-2.5-flash-image", 0.039),
    ],
)
def test_the_drawing_that_is_assumed_costs_about_what_is_published(model: str, dollars: float) -> None:
    drawn = DRAWING_USAGE.model_copy(update={"input_tokens": 0, "image_input_tokens": 0})
    assert Prices.builtin().cost(model, drawn) == pytest.approx(dollars, rel=0.25)


# --- as a whole -----------------------------------------------------------------------------

limits_of = st.builds(
    Limits,
    max_steps=st.integers(1, 6),
    max_attempts=st.integers(1, 4),
    max_repeats=st.integers(0, 3),
    max_images=st.none() | st.integers(1, 20),
    max_calls=st.none() | st.integers(1, 40),
    max_seconds=st.none() | st.floats(1, 500),
)
sources_of = st.integers(1, 7).flatmap(
    lambda count: st.tuples(*(st.lists(st.integers(0, max(0, i - 1)), max_size=2 if i else 0) for i in range(count)))
)
profiles = st.builds(
    profile,
    st.floats(0, 1),
    seconds=st.floats(0, 60),
    requests=st.integers(1, 3),
    concurrency=st.integers(1, 4),
    repeatable=st.booleans(),
)


@settings(max_examples=80, deadline=None)
@given(limits_of, sources_of, st.floats(0, 1), profiles, profiles, profiles, st.sets(st.integers(0, 6)))
def test_figures_never_fall_and_never_pass_a_cap(
    limits: Limits,
    sources: tuple[list[int], ...],
    p_accept: float,
    planner: CallProfile,
    backend: CallProfile,
    critic: CallProfile,
    text: set[int],
) -> None:
    plan = simple_plan(len(sources), sources=sources, text=[i for i in text if i < len(sources)])
    found = estimate_plan(plan, limits=limits, p_accept=p_accept, planner=planner, backend=backend, critic=critic)
    assert found.cost_usd is not None
    for one in (*found.calls.values(), found.all_calls, found.images, found.seconds, found.cost_usd):
        assert 0 <= one.best <= one.expected <= one.worst
    most = found.steps * limits.max_attempts
    assert found.images.worst <= min(most, limits.max_images or most)
    if limits.max_calls is not None:
        assert found.all_calls.worst <= limits.max_calls
    assert found.all_calls.expected == pytest.approx(sum(one.expected for one in found.calls.values()))
    if limits.max_seconds is not None:
        assert found.seconds.worst <= limits.max_seconds
    assert found.images.expected <= found.steps * limits.max_attempts


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), limits_of, st.floats(0, 1), st.floats(0, 1))
def test_a_better_backend_takes_less(steps: int, limits: Limits, one: float, other: float) -> None:
    worse, better = sorted((one, other))
    bad, good = estimate_run(steps, limits=limits, p_accept=worse), estimate_run(steps, limits=limits, p_accept=better)
    assert good.all_calls.expected <= bad.all_calls.expected + 1e-9
    assert good.seconds.expected <= bad.seconds.expected + 1e-9
    assert good.all_calls.worst == bad.all_calls.worst


def test_many_steps_are_estimated_quickly_and_alike() -> None:
    limits = Limits(max_steps=5000, max_attempts=5, max_images=6000, max_repeats=0)
    found = estimate_run(5000, limits=limits)
    assert three(found.images) == pytest.approx((5000, 6000, 6000))


def test_where_nobody_judges_every_attempt_is_accepted_and_no_critique_is_spoken_of() -> None:
    free = CallProfile((("", Usage()),), billed=False, seconds=1, repeatable=False)
    found = estimate_run(3, limits=Limits(max_attempts=3), planner=free, backend=free, critic=Unjudged())
    assert (found.images.expected, found.images.worst, found.costs["critic"]) == (3, 9, Range())
    assert found.p_accept == 1 and not found.judged
    assert "3 steps, kept as they are drawn." in describe(found) and "Nobody judges" in describe(found)
    assert in_a_line(found).startswith("3 drawings (at most 9), ")


@pytest.mark.parametrize("p_accept", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(p_accept: float) -> None:
    with pytest.raises(ConfigError, match="no probability"):
        estimate_run(1, p_accept=p_accept)


def test_no_steps_are_refused() -> None:
    with pytest.raises(ConfigError, match="0 steps"):
        estimate_run(0)


# --- reference policies ---------------------------------------------------------------------


def test_what_steps_are_drawn_from_decides_what_waits() -> None:
    each: Any = {"backend": CallProfile((("m", Usage()),), billed=False, seconds=10, concurrency=8), "p_accept": 1}
    alone = simple_plan(4, sources=[[], [], [], []])
    plain = estimate_plan(alone, **each).seconds.best
    assert estimate_plan(alone, policy=Policy("first"), **each).seconds.best == plain + 10 + 6
    chained = estimate_plan(alone, policy=Policy("previous"), **each).seconds.best
    assert chained == pytest.approx(estimate_plan(simple_plan(4), **each).seconds.best)


def test_a_sheet_of_characters_is_one_drawing_more() -> None:
    plan = simple_plan(3).model_copy(update={"style_guide": StyleGuide(characters="a thing")})
    drawings = estimate_plan(plan, policy=Policy("sheet")).calls["backend"].best
    assert drawings == estimate_plan(plan).calls["backend"].best + 1
    assert estimate_plan(simple_plan(3), policy=Policy("sheet")).calls["backend"].best == 3


# --- in words -------------------------------------------------------------------------------


def test_an_estimate_in_words() -> None:
    free = "(one that drew nothing costs nothing)"
    text = describe(
        estimate_run(
            5,
            limits=Limits(max_attempts=3, max_images=12),
            planner=profile(0.02, seconds=20),
            backend=profile(0.04, seconds=15),
            critic=CallProfile((("gpt-9", Usage(input_tokens=5)),), billed=True, seconds=6),
        )
    )
    assert text.splitlines() == [
        "5 steps, 70 % of attempts accepted. An estimate: nothing was spent.",
        "              best  expected     worst",
        "plan             1         1         4",
        "drawing          5       6.9        48",
        "critique         5       6.9        48",
        "all calls       11      14.9       100",
        "time        2m 05s    2m 46s   18m 08s",
        "cost known   $0.22     $0.30     $1.04",
        "Cost unknown: no price for gpt-9.",
        f"Worst: every attempt is used up, and every call of a model is repeated 3 times {free}.",
        "May be ended sooner by max_images.",
    ]


def test_an_estimate_of_a_known_cost_in_words() -> None:
    parts: Any = {"planner": profile(0.001), "backend": profile(0.01), "critic": profile(0)}
    text = describe(estimate_run(1, limits=ONCE, p_accept=1, **parts))
    assert "cost       $0.0110   $0.0110   $0.0310" in text
    assert text.startswith("1 step, 100 %") and "unknown" not in text


def test_candidates_are_drawn_and_judged_each_and_make_an_accept_likelier() -> None:
    free = CallProfile((("", Usage()),), billed=False, seconds=1.0, repeatable=False)
    one = estimate_run(4, planner=free, backend=free, critic=free, p_accept=0.5)
    three = estimate_run(4, planner=free, backend=free, critic=free, p_accept=0.5, candidates=3)
    assert (one.calls["backend"].best, three.calls["backend"].best) == (4, 12), "a profile draws one at a time"
    assert (three.calls["critic"].best, three.images.best) == (12, 12)
    assert three.images.worst == 3 * one.images.worst
    # Attempts expected: 1 + 1/2 + 1/4 with one picture, 1 + 1/8 + 1/64 with three.
    assert one.images.expected == pytest.approx(4 * 1.75)
    assert three.images.expected == pytest.approx(3 * 4 * (1 + 1 / 8 + 1 / 64))
    assert three.seconds.best <= one.seconds.worst


def test_pictures_of_one_call_cost_what_is_drawn_more() -> None:
    class Several:
        capabilities = Capabilities(billed=True, max_images=4)
        model_name = "m"
        expected_usage = Usage(images=1, output_tokens=100, input_tokens=50)

    prices = Prices({"m": Price(picture=0.04)})
    free = CallProfile((("", Usage()),), billed=False, seconds=1.0, repeatable=False)
    once = estimate_run(2, planner=free, backend=Several(), critic=free, prices=prices, candidates=3)
    assert once.calls["backend"].best == 2 and once.images.best == 6
    cost = once.costs["backend"]
    assert cost is not None and cost.best == pytest.approx(6 * 0.04)


def test_a_cap_on_pictures_counts_candidates() -> None:
    free = CallProfile((("", Usage()),), billed=False, seconds=1.0, repeatable=False)
    capped = estimate_run(4, limits=Limits(max_images=7), planner=free, backend=free, critic=free, candidates=2)
    assert capped.images.worst <= 7 and capped.limited == ("max_images",)


# --- caps on money and on steps -------------------------------------------------------------


def test_a_cap_on_money_is_what_a_run_costs_at_most() -> None:
    roles: dict[str, Any] = {"planner": profile(0.1), "backend": profile(0.2), "critic": profile(0.1)}
    free = estimate_run(5, limits=ONCE, **roles)
    capped = estimate_run(5, limits=Limits(max_repeats=0, max_cost_usd=2.0), **roles)
    assert free.cost_usd is not None and three(free.cost_usd) == pytest.approx((1.6, 0.1 + 0.3 * 5 * 1.39, 4.6))
    assert capped.cost_usd is not None and capped.cost_usd.worst <= 2.0
    # 1.9 are left for attempts of 0.3: six of them, as five steps want at best.
    assert (capped.images.best, capped.images.worst) == (5, 6) and 5 < capped.images.expected < 6
    assert capped.limited == ("max_cost_usd",) and "max_cost_usd" in describe(capped)


@pytest.mark.parametrize(
    ("limits", "most"),
    [({"step_max_images": 2}, 10), ({"step_max_calls": 3}, 10), ({"step_max_cost_usd": 0.7}, 10),
     ({"step_max_cost_usd": 0.2}, 0), ({"step_max_images": 3}, 15)],
)  # fmt: skip
def test_a_cap_on_steps_is_one_on_their_attempts(limits: dict[str, Any], most: int) -> None:
    roles: dict[str, Any] = {"planner": profile(0.1), "backend": profile(0.2), "critic": profile(0.1)}
    found = estimate_run(5, limits=Limits(max_repeats=0, **limits), **roles)
    assert found.images.worst == most
    assert found.limited == (() if most == 15 else tuple(limits))


def test_without_a_price_a_cap_on_money_changes_nothing() -> None:
    assert estimate_run(5, limits=Limits(max_cost_usd=1.0)).images == estimate_run(5).images


def test_prices_of_the_environment_are_known_before_a_backend_has_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices.toml").write_text('["house-model"]\npicture = 0.05\n', "utf-8")
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "prices.toml"))
    backend = init_image_backend("openai:house-model?base_url=http://127.0.0.1:9/v1&billed=true")
    assert getattr(backend, "prices", None) is None, "it reads them with its first picture"
    free = CallProfile((("", Usage()),), billed=False, seconds=1.0, repeatable=False)
    found = estimate_run(3, limits=ONCE, planner=free, backend=backend, critic=free)
    assert found.unpriced == ()
    assert found.cost_usd is not None and found.cost_usd.best == pytest.approx(3 * 0.05)
