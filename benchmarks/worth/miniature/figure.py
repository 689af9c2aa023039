"""The figure of the ablation on the miniature: arms, attempts, and errors of the critic. Needs the extra `plots`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from worth.arms import ATTEMPTS, CANDIDATES, KEEP_BEST, KEEP_LAST, ONE_SHOT, PLAN_ONLY, REWRITE_ONLY
from worth.figure import GREY, INK, SEQUENCE, STEP, Row, panel_of_arms, panel_of_map, sheet
from worth.miniature.tasks import CROWDS
from worth.miniature.world import MAIN
from worth.world import OWN

_AMBER = "#d9932f"
#: Arms of the first panel: name, attempts, whether the critic's prompts are used, label.
_PICKED = (
    (ONE_SHOT, None, 1, ONE_SHOT),
    (REWRITE_ONLY, None, 1, REWRITE_ONLY),
    (PLAN_ONLY, None, 1, PLAN_ONLY),
    *((arm, ATTEMPTS, 1, arm) for arm in CANDIDATES),
    (KEEP_BEST, ATTEMPTS, 0, "plan+critic, only drawn again"),
    (KEEP_LAST, ATTEMPTS, 1, "plan+critic, keep last"),
    (KEEP_BEST, ATTEMPTS, 1, "plan+critic, keep best"),
)


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw the figure and save it, 1800 pixels wide.

    Args:
        result: What `ablation.py --world miniature` printed.
        path: Where to; the ending says the format.

    Raises:
        SystemExit: matplotlib is not installed.
    """
    rows, tasks = result["rows"], result["parameters"]["tasks"]
    with sheet(path) as (top, left, right):
        picked = [(label, row) for arm, attempts, helps, label in _PICKED for row in _own(rows, arm, attempts, helps)]
        said = (
            f"{tasks} storyboards with {CROWDS[MAIN].low} to {CROWDS[MAIN].most} things in each picture (the miniature "
            "was trained on three at most), measured by a second reader, 95 % intervals"
        )
        panel_of_arms(top, picked, said)
        _attempts(left, rows)
        panel_of_map(right, result["break_even"]["map"], shaded=1.0, legend_at="upper left")
        _mark(right, _own(rows, KEEP_BEST, ATTEMPTS, 1))


def _own(rows: Sequence[Row], arm: str, attempts: int | None, helps: int) -> list[Row]:
    """The row of an arm as the miniature's critic judges it, or of one nobody judges (`attempts` is `None`)."""
    critic = None if attempts is None else {OWN: True}
    return _rows(rows, arm=arm, helps=helps, critic=critic, attempts=attempts)


def _sure(rows: Sequence[Row], attempts: int) -> list[Row]:
    """The row of the loop whose critic never errs."""
    never = {"false_accept": 0.0, "false_reject": 0.0}
    return _rows(rows, arm=KEEP_BEST, helps=1, critic=never, attempts=attempts)


def _rows(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    fields = {"preset": MAIN, **wanted}
    return [row for row in rows if all(row.get(name) == value for name, value in fields.items())]


def _attempts(axes: Any, rows: Sequence[Row]) -> None:
    """Right steps over drawings: one to four attempts, or candidates."""
    alone = _own(rows, PLAN_ONLY, None, 1)
    loop = [row for number in (2, 3, 4) for row in _own(rows, KEEP_BEST, number, 1)]
    again = [row for number in (2, 3, 4) for row in _own(rows, KEEP_BEST, number, 0)]
    several = [row for arm in CANDIDATES for row in _own(rows, arm, ATTEMPTS, 1)]
    sure = [row for number in (2, 3, 4) for row in _sure(rows, number)]
    lines = (
        (several, GREY, "s-", "best of 2, 3, 4"),
        (again, _AMBER, "o-", "2, 3, 4 attempts, only drawn again"),
        (loop, STEP, "o-", "2, 3, 4 attempts, the critic's prompts"),
        (sure, SEQUENCE, "^:", "the same, a critic that never errs"),
    )
    for points, color, form, label in lines:
        shown = [*alone, *points]
        x = [row["drawings_per_step"] for row in shown]
        axes.vlines(
            x, [row["step"]["low"] for row in shown], [row["step"]["high"] for row in shown],
            color=color, lw=2, alpha=0.25,
        )  # fmt: skip
        axes.plot(x, [row["step"]["value"] for row in shown], form, color=color, ms=5, lw=1.6, label=label)
    for row in alone:
        axes.plot(row["drawings_per_step"], row["step"]["value"], "o", color=INK, ms=6, zorder=5)
        axes.annotate(
            "drawn\nonce", (row["drawings_per_step"], row["step"]["value"]), xytext=(8, -18),
            textcoords="offset points", fontsize=8.5, color=INK,
        )  # fmt: skip
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    axes.set_xlabel("drawings a step")
    axes.legend(frameon=False, fontsize=8.5, loc="lower right")
    axes.set_title("Steps right, for what they take")


def _mark(axes: Any, own: Sequence[Row]) -> None:
    """Where the miniature's critic is on the map."""
    for row in own:
        accept, reject = (row["critic_measured"][name]["value"] for name in ("false_accept", "false_reject"))
        if accept is None or reject is None:
            continue
        axes.plot(accept, reject, "*", color="white", mec=INK, ms=13, mew=1, zorder=6, clip_on=False)
        axes.annotate(
            "the miniature's critic", (accept, reject), xytext=(9, 3), textcoords="offset points", fontsize=8.5,
            color=INK, zorder=6, bbox={"facecolor": "white", "alpha": 0.75, "lw": 0, "pad": 1.5},
        )  # fmt: skip
