"""Figures of the ablation: what each arm is worth, and where drawing again loses. Needs the extra `plots`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from worth.arms import ARMS, KEEP_BEST, PLAN_ONLY
from worth.jobs import PIXEL

Row = dict[str, Any]

INK, GREY, PALE = "#22303c", "#7b8794", "#e4e7eb"
STEP, SEQUENCE = "#1f6f8b", "#c8553d"
GAIN, LOSS = "#1f6f8b", "#c8553d"
LABELS: dict[str, str] = {PIXEL: "plan+critic that sees pixels only"}
ERROR_COLORS = {0.0: "#1f6f8b", 0.1: "#d9932f", 0.3: "#c8553d"}


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw the figure of the built-in world and save it, 1800 pixels wide.

    Args:
        result: What `ablation.py` printed.
        path: Where to; the ending says the format.

    Raises:
        SystemExit: matplotlib is not installed.
    """
    tasks = result["parameters"]["tasks"]
    with sheet(path) as (top, left, right):
        headline = at(result["rows"], preset="default", scale=1.0, helps=1.0)
        picked = [
            row for arm in ARMS for row in at(headline, arm=arm) if not row["critic"] or row in at([row], error=0.1)
        ]
        picked += at(headline, arm=PIXEL)
        labelled = [(LABELS.get(str(row["arm"]), str(row["arm"])), row) for row in picked]
        said = f"{tasks} storyboards, critic wrong in one case of ten (the last row: as it is), 95 % intervals"
        panel_of_arms(top, labelled, said)
        _price(left, result["rows"])
        panel_of_map(right, result["break_even"]["map"])


@contextmanager
def sheet(path: Path) -> Generator[tuple[Any, Any, Any]]:
    """A figure of three panels, the first as wide as the others; it is saved in the end.

    Raises:
        SystemExit: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise SystemExit("The figure needs matplotlib: pip install 'langgraph-interleave[plots]'") from error
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    style: dict[Any, Any] = {
        "font.family": "DejaVu Sans", "font.size": 9.5, "text.color": INK, "axes.labelcolor": INK,
        "axes.edgecolor": GREY, "xtick.color": INK, "ytick.color": INK, "axes.spines.top": False,
        "axes.spines.right": False, "svg.hashsalt": "ablation", "axes.titlesize": 11, "axes.titleweight": "bold",
        "axes.titlelocation": "left", "axes.titlepad": 10,
    }  # fmt: skip
    with plt.rc_context(style):
        figure = plt.figure(figsize=(9, 7.9), dpi=200, facecolor="white")
        grid = figure.add_gridspec(
            2, 2, height_ratios=(1.0, 1.0), left=0.075, right=0.975, top=0.9, bottom=0.07, hspace=0.46, wspace=0.24
        )
        panels = [figure.add_subplot(place) for place in (grid[0, :], grid[1, 0], grid[1, 1])]
        yield panels[0], panels[1], panels[2]
        figure.savefig(path, facecolor="white")
        plt.close(figure)


def at(rows: Sequence[Row], **wanted: object) -> list[Row]:
    """The rows whose fields have these values; `error` is the critic's rate, both being the same.

    Example:
        >>> at([{"arm": "x", "critic": None}, {"arm": "y", "critic": None}], arm="y")
        [{'arm': 'y', 'critic': None}]
    """
    error = wanted.pop("error", Ellipsis)

    def fits(row: Row) -> bool:
        if any(row[name] != value for name, value in wanted.items()):
            return False
        return error is Ellipsis or (row["critic"] or {}).get("false_accept") == error

    return [row for row in rows if fits(row)]


def panel_of_arms(axes: Any, picked: Sequence[tuple[str, Row]], said: str) -> None:
    """Shares of steps and of sequences, with calls beside them.

    Args:
        axes: The wide panel.
        picked: Labels and rows, from the top.
        said: What there is to know, in small letters.
    """
    for place, (_, row) in enumerate(picked):
        for name, color, marker, shift in (("step", STEP, "o", -0.13), ("sequence", SEQUENCE, "D", 0.13)):
            share = row[name]
            axes.plot([share["low"], share["high"]], [place + shift] * 2, color=color, lw=2, alpha=0.45, zorder=2)
            axes.plot(share["value"], place + shift, marker, color=color, ms=6.5 if marker == "o" else 5.5, zorder=3)
        axes.text(1.065, place, f"{row['drawings_per_step']:.1f}", ha="center", va="center")
        critiques = row["critiques_per_step"]
        axes.text(1.175, place, f"{critiques:.1f}" if critiques else "–", ha="center", va="center")
    for x, words in ((1.065, "drawings"), (1.175, "critiques")):
        axes.text(x, -0.95, words, ha="center", va="bottom", color=GREY, fontsize=8.5)
    axes.set_yticks(range(len(picked)), [label for label, _ in picked])
    axes.set_ylim(len(picked) - 0.5, -0.7)
    axes.set_xlim(-0.008, 1.22)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.spines["bottom"].set_bounds(0, 1)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    for x in (0, 0.25, 0.5, 0.75, 1):
        axes.axvline(x, color=PALE, lw=1, zorder=0)
    axes.plot([], [], "o", color=STEP, label="of the steps")
    axes.plot([], [], "D", color=SEQUENCE, ms=5.5, label="of the whole sequences")
    axes.legend(loc="upper center", bbox_to_anchor=(0.42, -0.10), ncols=2, frameon=False)
    # Names of arms need room that the panels below do not.
    box = axes.get_position()
    axes.set_position((0.265, box.y0, box.x1 - 0.265, box.height))
    figure = axes.get_figure()
    figure.text(0.015, 0.962, "How much comes out right, and the calls it takes per step", size=11, weight="bold")
    figure.text(0.015, 0.938, said, size=8.5, color=GREY)


def _price(axes: Any, rows: Sequence[Row]) -> None:
    top, bottom = 3.0, -0.6
    axes.axhspan(bottom, 0, color=LOSS, alpha=0.10, lw=0)
    axes.axhline(0, color=GREY, lw=1)
    errors = sorted({row["critic"]["false_accept"] for row in at(rows, arm=KEEP_BEST, preset="default")})
    for error in errors:
        points: list[tuple[float, float, float, float]] = []
        for row in at(rows, arm=KEEP_BEST, preset="default", helps=1.0, error=error):
            [plan] = at(rows, arm=PLAN_ONLY, preset="default", helps=1.0, scale=row["scale"])
            price = row["critique_price"]
            if price["value"] is not None and price["high"] is not None:
                points.append((plan["step"]["value"], price["value"], price["low"], price["high"]))
        points.sort()
        if not points:
            continue
        color = ERROR_COLORS.get(error, INK)
        # A little apart, so that intervals do not hide each other.
        x = [point[0] + 0.006 * (errors.index(error) - 1) for point in points]
        axes.vlines(x, [point[2] for point in points], [point[3] for point in points], color=color, lw=2, alpha=0.4)
        said = f"critic wrong in {100 * error:.0f} %" if error else "critic never wrong"
        axes.plot(x, [point[1] for point in points], "o-", color=color, ms=5, lw=1.8, label=said)
    axes.set_ylim(bottom, top)
    axes.set_xlim(right=1.02)
    axes.xaxis.set_major_formatter(_percent)
    axes.set_xlabel("steps the generator gets right at once")
    axes.set_ylabel("price of a critique, in drawings")
    axes.text(0.02, 0.025, "loses even if critiques are free", transform=axes.transAxes, color=LOSS, fontsize=8.5)
    axes.legend(frameon=False, fontsize=8.5, loc="upper right")
    axes.set_title("Up to what price drawing again pays")


def panel_of_map(axes: Any, corners: Sequence[Row], *, shaded: float = 0.0, legend_at: str = "lower left") -> None:
    """Steps gained over plan-only, over the two errors of a critic.

    Args:
        axes: The panel.
        corners: Of the map, for words that help and that do not.
        shaded: Which of the two is shown by color, 0 or 1; the other is the dashed line.
        legend_at: As matplotlib names places.
    """
    from matplotlib.colors import TwoSlopeNorm

    levels = sorted({corner["critic"]["false_accept"] for corner in corners})
    field, other = (_field(corners, levels, helps) for helps in (shaded, 1.0 - shaded))
    most = max(0.01, *(abs(value) for row in field for value in row))
    norm = TwoSlopeNorm(0, -most, most)
    shades = axes.contourf(levels, levels, field, levels=13, cmap=_colors(), norm=norm)
    shades.set_edgecolor("face")
    axes.contour(levels, levels, field, levels=[0], colors=[INK], linewidths=2)
    axes.contour(levels, levels, other, levels=[0], colors=[INK], linewidths=1.5, linestyles=["dashed"])
    for value, place in (
        (field[0][0], (0.03, 0.19, "left", "baseline")),
        (field[-1][-1], (0.97, 0.955, "right", "top")),
    ):
        x, y, beside, above = place
        color = "white" if value < -0.75 * most else INK
        words = f"{100 * value:+.0f} points".replace("-", "−")
        axes.text(x, y, words, color=color, weight="bold", ha=beside, va=above)
    lines = (
        ("where words do not help", "where they do")
        if not shaded
        else ("with the critic's prompts", "only drawn again")
    )
    axes.plot([], [], color=INK, lw=2, label=f"no gain, {lines[0]}")
    axes.plot([], [], "--", color=INK, lw=1.5, label=f"no gain, {lines[1]}")
    legend = axes.legend(fontsize=8.5, loc=legend_at, frameon=True, framealpha=0.9, edgecolor="white")
    legend.get_frame().set_linewidth(0)
    axes.set_aspect("auto")
    for axis, words in ((axes.xaxis, "wrong pictures the critic passes"), (axes.yaxis, "right ones it sends back")):
        axis.set_major_formatter(_percent)
        axis.set_ticks(levels)
        axis.set_label_text(words)
    axes.set_title("Steps gained, by the errors of the critic")


def _field(corners: Sequence[Row], levels: Sequence[float], helps: float) -> list[list[float]]:
    """Gain in right steps; rows by false rejects, columns by false accepts."""
    value = {
        (corner["critic"]["false_accept"], corner["critic"]["false_reject"]): corner["step_over_plan_only"]["value"]
        for corner in corners
        if corner["helps"] == helps
    }
    return [[value[accept, reject] for accept in levels] for reject in levels]


def _colors() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("gain", [LOSS, "#f0c9bf", "#fbf9f6", "#bcd9e2", GAIN])


_percent: Callable[[float, int], str] = lambda value, _: f"{100 * value:.0f} %"  # noqa: E731 - a formatter
