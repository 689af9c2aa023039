"""How far the two readers of the miniature's pictures agree, and with a person's eyes.

    python benchmarks/readers.py --json [--pictures 400]             # the readers with each other
    python benchmarks/readers.py --sheet FOLDER                      # 100 pictures to look at, and the readers' answers
    python benchmarks/readers.py --answers FOLDER/answers.json --eyes benchmarks/worth/miniature/eyes.json

Pictures are the first attempts at fresh storyboards of the ablation's kind (other ones than it uses), each edit made of
the picture before as it came, from few things to many in turn. The critic's reader and the independent one share
architecture and world, and neither seed nor training data. A picture is right for a reader when what it sees is all
that was asked for, and nothing else.

For the eyes, `--sheet` writes pages of 25 pictures with numbers and what each should show; they do not say what the
readers saw, so that nobody is led. Whoever looked writes down
`{"weights": as in answers.json, "from": 1, "to": 100, "wrong": [3, 17], "unsure": [20]}`: all others from the first to
the last one looked at are right. What is unsure is counted and left out. The same weights draw the same sheet.

Intervals are Wilson's, 95 %, as if pictures of one storyboard had nothing to do with each other.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_interleave.errors import ConfigError

if TYPE_CHECKING:
    from langgraph_interleave_miniature.scenes import Scene
    from PIL import Image

#: Seed of the storyboards; the ablation's are those of seed 0.
SEED = 1
_PAGE, _COLUMNS, _SIDE, _WIDE, _HIGH = 25, 5, 192, 236, 312

Answer = dict[str, Any]
"""One picture: `number`, `asked`, `critic` and `independent` in words, `critic_right`, `independent_right`."""


async def pictures(count: int, weights: Path | None = None) -> list[tuple[Scene, Image.Image]]:
    """What was asked for, and what the miniature drew: first attempts, in the order of their storyboards.

    Args:
        count: How many.
        weights: A folder of weights; `None` for the package's own.
    """
    import io

    from PIL import Image
    from worth.miniature.artist import studio
    from worth.miniature.tasks import CROWDS, planned, target, tasks
    from worth.miniature.world import MiniatureWorld

    from langgraph_interleave.context import derive_seed
    from langgraph_interleave.types import ImageBytes, ImageRequest

    world, hands = MiniatureWorld(weights), studio(weights)
    found: list[tuple[Scene, Image.Image]] = []
    each = math.ceil(count / 3 / len(CROWDS))
    in_turn = zip(*(tasks(each, crowd, seed=SEED) for crowd in CROWDS), strict=True)
    for task in chain.from_iterable(in_turn):
        before: ImageBytes | None = None
        for step in planned(task.request).plan.steps:
            references = (before,) if step.op == "edit" and before is not None else ()
            seed = derive_seed(world.luck(task, 0), step.index, 0)
            before = await hands.draw(ImageRequest(step.prompt or "", references=references, seed=seed))
            with Image.open(io.BytesIO(before.data)) as picture:
                found.append((target(step.instruction or ""), picture.convert("RGB")))
    return found[:count]


def drawn_by(weights: Path | None = None) -> str:
    """What tells the weights of a folder from others."""
    from langgraph_interleave_miniature.storage import PIPELINE
    from langgraph_interleave_miniature.storage import weights as stored

    from langgraph_interleave.backends.diffusers.identity import identity_of

    return identity_of(str(stored(PIPELINE, weights)))


def answers_of(drawn: Sequence[tuple[Scene, Image.Image]], weights: Path | None = None) -> list[Answer]:
    """What both readers see in every picture."""
    from langgraph_interleave_miniature.captions import describe
    from langgraph_interleave_miniature.reader import READERS, TrainedReader
    from langgraph_interleave_miniature.storage import weights as stored

    readers = {name: TrainedReader(stored(file, weights)) for name, file in READERS.items()}
    answers: list[Answer] = []
    for number, (asked, picture) in enumerate(drawn, 1):
        answer: Answer = {"number": number, "asked": describe(asked)}
        for name, reader in readers.items():
            seen = reader(picture).scene
            answer |= {name: describe(seen), f"{name}_right": seen.shown == asked.shown}
        answers.append(answer)
    return answers


def agreement(answers: Sequence[Answer]) -> dict[str, Any]:
    """The readers with each other: on all they see, and on whether a picture is right.

    Example:
        >>> one = {"critic": "nothing at night", "independent": "nothing at night"}
        >>> agreement([{**one, "critic_right": True, "independent_right": True}] * 9)["see_the_same"]
        {'value': 1.0, 'low': 0.7008, 'high': 1.0, 'count': 9}
    """
    same = [answer["critic"] == answer["independent"] for answer in answers]
    return {
        "see_the_same": share(same),
        "right": {name: share([answer[f"{name}_right"] for answer in answers]) for name in ("critic", "independent")},
        "critic_against_independent": against(
            [(answer["critic_right"], answer["independent_right"]) for answer in answers]
        ),
    }


def with_eyes(answers: Sequence[Answer], eyes: Mapping[str, Any]) -> dict[str, Any]:
    """Both readers against a person who looked.

    Args:
        answers: As the sheet was written with.
        eyes: `from`, `to`, `wrong` and perhaps `unsure`, numbers of pictures.

    Raises:
        SystemExit: It tells of pictures that are not there.
    """
    first, last = int(eyes["from"]), int(eyes["to"])
    wrong, unsure = set(eyes["wrong"]), set(eyes.get("unsure", ()))
    numbers = {answer["number"] for answer in answers}
    strange = sorted((wrong | unsure | {first, last}) - numbers) + sorted(
        number for number in wrong | unsure if not first <= number <= last
    )
    if strange:
        raise SystemExit(f"The eyes tell of pictures that were not looked at: {strange}. The sheet has {len(numbers)}.")
    looked = [one for one in answers if first <= one["number"] <= last and one["number"] not in unsure]
    told = {
        name: against([(answer[f"{name}_right"], answer["number"] not in wrong) for answer in looked])
        for name in ("critic", "independent")
    }
    differ = {
        name: [one["number"] for one in looked if one[f"{name}_right"] != (one["number"] not in wrong)]
        for name in ("critic", "independent")
    }
    right = share([answer["number"] not in wrong for answer in looked])
    return {
        "looked_at": last - first + 1,
        "unsure": len(unsure),
        "right": right,
        "against_eyes": told,
        "differ": differ,
    }


def against(pairs: Sequence[tuple[bool, bool]]) -> dict[str, Any]:
    """Verdicts against others that are taken for the truth: agreement, and the rates of both errors.

    Args:
        pairs: A verdict, and the one it is measured by.
    """
    return {
        "agree": share([said == true for said, true in pairs]),
        "false_accept": share([said for said, true in pairs if not true]),
        "false_reject": share([not said for said, true in pairs if true]),
    }


def share(cases: Sequence[bool]) -> dict[str, float | int | None]:
    """How many of the cases, with Wilson's interval; `None` where there are none.

    Example:
        >>> share([True] * 9 + [False])
        {'value': 0.9, 'low': 0.5958, 'high': 0.9821, 'count': 10}
    """
    count = len(cases)
    if not count:
        return {"value": None, "low": None, "high": None, "count": 0}
    part, z = sum(cases) / count, 1.96
    middle = (part + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(part * (1 - part) / count + z * z / (4 * count * count))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return {"value": round(part, 4), "low": round(low, 4), "high": round(high, 4), "count": count}


def seen_by(answered: Mapping[str, Any], eyes: Mapping[str, Any]) -> dict[str, Any]:
    """`with_eyes` of a file of answers, if the eyes saw what these weights drew.

    Raises:
        SystemExit: They saw other pictures.
    """
    if eyes.get("weights") != answered["weights"]:
        raise SystemExit(
            f"The eyes looked at what other weights drew: {eyes.get('weights')}, not {answered['weights']}. "
            "Look at this sheet, or draw that one."
        )
    return with_eyes(answered["answers"], eyes)


def write_sheet(
    folder: Path, drawn: Sequence[tuple[Scene, Image.Image]], answers: Sequence[Answer], weights: str
) -> list[Path]:
    """Pages of pictures with their numbers and what each should show, and the readers' answers beside them.

    Args:
        folder: Where to.
        drawn: The pictures.
        answers: Of the readers about them.
        weights: What tells those who drew them from others.

    Returns:
        The pages and the file of answers.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for start in range(0, len(drawn), _PAGE):
        page = folder / f"page-{start // _PAGE + 1}.png"
        of_page = [(answer, picture) for answer, (_, picture) in zip(answers, drawn, strict=True)]
        _page(of_page[start : start + _PAGE]).save(page, optimize=True)
        written.append(page)
    file = folder / "answers.json"
    file.write_text(json.dumps({"weights": weights, "answers": answers}, indent=1), encoding="utf-8")
    return [*written, file]


def _page(rows: Sequence[tuple[Answer, Image.Image]]) -> Image.Image:
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("RGB", (_COLUMNS * _WIDE, math.ceil(len(rows) / _COLUMNS) * _HIGH), "white")
    pen, large, small = ImageDraw.Draw(page), ImageFont.load_default(size=16), ImageFont.load_default(size=12)
    for place, (answer, picture) in enumerate(rows):
        x, y = place % _COLUMNS * _WIDE + 6, place // _COLUMNS * _HIGH + 6
        pen.text((x, y), str(answer["number"]), fill="black", font=large)
        page.paste(picture.resize((_SIDE, _SIDE), Image.Resampling.NEAREST), (x + 32, y))
        lines = [""]
        for word in str(answer["asked"]).split():
            longer = f"{lines[-1]} {word}".strip()
            fits = pen.textlength(longer, font=small) <= _WIDE - 12
            lines = [*lines[:-1], longer] if fits else [*lines, word]
        for number, line in enumerate(lines):
            pen.text((x, y + _SIDE + 4 + 14 * number), line, fill="black", font=small)
    return page


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(
        description="How far readers of the miniature's pictures agree, and with the eyes."
    )
    parser.add_argument("--pictures", type=int, help="how many (default 400; with --sheet 100)")
    parser.add_argument("--weights", type=Path, metavar="FOLDER", help="of the miniature (default: its package's)")
    parser.add_argument("--sheet", type=Path, metavar="FOLDER", help="write pictures to look at, and the answers")
    parser.add_argument("--answers", type=Path, metavar="JSON", help="take these answers, draw nothing")
    parser.add_argument("--eyes", type=Path, metavar="JSON", help="what a person saw, to go with --answers")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args(arguments)
    if options.eyes is not None and options.answers is None:
        parser.error("--eyes goes with --answers: the numbers are those of one sheet.")
    if options.answers is not None:
        answered: dict[str, Any] = json.loads(options.answers.read_text(encoding="utf-8"))
    else:
        count = options.pictures or (100 if options.sheet else 400)
        try:
            drawn = asyncio.run(pictures(count, options.weights))
        except (ImportError, ConfigError) as error:
            raise SystemExit(f"{error} (The miniature is installed by: pip install -e ./miniature)") from error
        answered = {"weights": drawn_by(options.weights), "answers": answers_of(drawn, options.weights)}
        for file in (
            write_sheet(options.sheet, drawn, answered["answers"], answered["weights"]) if options.sheet else ()
        ):
            sys.stderr.write(f"{file}\n")
    answers = answered["answers"]
    result: dict[str, Any] = {"weights": answered["weights"], "pictures": len(answers), "readers": agreement(answers)}
    if options.eyes is not None:
        result["eyes"] = seen_by(answered, json.loads(options.eyes.read_text(encoding="utf-8")))
    sys.stdout.write(json.dumps(result, indent=1) + "\n" if options.json else table(result))
    return 0


def table(result: dict[str, Any]) -> str:
    """The agreements, for people."""
    readers = result["readers"]
    lines = [
        f"{result['pictures']} pictures",
        f"{'readers see the very same':<44}{_said(readers['see_the_same'])}",
        f"{'readers agree on right or wrong':<44}{_said(readers['critic_against_independent']['agree'])}",
        *(f"{f'right, says the reader {name}':<44}{_said(told)}" for name, told in readers["right"].items()),
    ]
    if "eyes" in result:
        eyes = result["eyes"]
        lines.append(f"{'right, say the eyes':<44}{_said(eyes['right'])}")
        for name, told in eyes["against_eyes"].items():
            lines += [f"{f'reader {name} and eyes, {what}':<44}{_said(told[what])}" for what in told]
    return "\n".join((*lines, ""))


def _said(told: dict[str, Any]) -> str:
    if told["value"] is None:
        return "none to tell by"
    return f"{100 * told['value']:.1f} % ({100 * told['low']:.1f}-{100 * told['high']:.1f}, n={told['count']})"


if __name__ == "__main__":
    raise SystemExit(main())
