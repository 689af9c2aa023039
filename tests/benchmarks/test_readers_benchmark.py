"""Agreement of readers and eyes: shares, the eyes' file, the sheet."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import Image

Load = Callable[[str], ModuleType]


def answers(critic: list[bool], independent: list[bool]) -> list[dict[str, Any]]:
    said = {True: "a red ball at night", False: "nothing at night"}
    return [
        {"number": number, "asked": said[True], "critic": said[one], "independent": said[two],
         "critic_right": one, "independent_right": two}
        for number, (one, two) in enumerate(zip(critic, independent, strict=True), 1)
    ]  # fmt: skip


def test_readers_against_each_other(load: Load) -> None:
    found = load("readers").agreement(answers([True, True, False, False, True], [True, False, True, False, True]))
    assert found["see_the_same"]["value"] == 0.6
    assert found["right"]["critic"]["value"] == found["right"]["independent"]["value"] == 0.6
    against = found["critic_against_independent"]
    assert against["agree"]["value"] == 0.6
    assert (against["false_accept"]["value"], against["false_accept"]["count"]) == (0.5, 2)
    assert (against["false_reject"]["value"], against["false_reject"]["count"]) == (0.3333, 3)


def test_eyes_are_the_measure_and_what_is_unsure_is_left_out(load: Load) -> None:
    given = answers([True, True, False, True], [True, False, False, True])
    found = load("readers").with_eyes(given, {"from": 1, "to": 3, "wrong": [2], "unsure": [3]})
    assert (found["looked_at"], found["unsure"], found["right"]["count"]) == (3, 1, 2)
    assert found["against_eyes"]["independent"]["agree"]["value"] == 1
    assert found["against_eyes"]["critic"]["false_accept"] == {"value": 1.0, "low": 0.2065, "high": 1.0, "count": 1}
    assert found["differ"] == {"critic": [2], "independent": []}


@pytest.mark.parametrize("eyes", [{"wrong": [9]}, {"wrong": [], "unsure": [4]}, {"wrong": [], "to": 7}])
def test_eyes_that_saw_what_is_not_there_are_refused(load: Load, eyes: dict[str, Any]) -> None:
    with pytest.raises(SystemExit, match="not looked at"):
        load("readers").with_eyes(answers([True] * 5, [True] * 5), {"from": 1, "to": 3, **eyes})


def test_nothing_to_tell_by_is_unknown(load: Load) -> None:
    share = load("readers").share
    assert share([]) == {"value": None, "low": None, "high": None, "count": 0}
    # Textbook: 81 of 263 is 30.8 %, Wilson's interval 25.5 to 36.6 %.
    found = share([number < 81 for number in range(263)])
    assert (found["low"], found["high"]) == (pytest.approx(0.2553, abs=1e-3), pytest.approx(0.3662, abs=1e-3))


def test_pages_and_answers_are_written_and_read_again(
    load: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readers = load("readers")
    given = answers([True] * 26, [False] * 26)
    drawn = [(None, Image.new("RGB", (64, 64), "red"))] * 26
    *pages, file = readers.write_sheet(tmp_path / "sheet", drawn, given, "weights/1")
    assert [page.name for page in pages] == ["page-1.png", "page-2.png"]
    with Image.open(pages[0]) as first, Image.open(pages[1]) as second:
        assert first.size[0] == second.size[0] == 5 * 236 and second.height < first.height
        assert first.getpixel((100, 100)) == (255, 0, 0)
    eyes = tmp_path / "eyes.json"
    eyes.write_text('{"weights": "weights/1", "from": 1, "to": 26, "wrong": [1, 2]}', encoding="utf-8")
    assert readers.main(["--json", "--answers", str(file), "--eyes", str(eyes)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["eyes"]["against_eyes"]["critic"]["agree"]["value"] == round(24 / 26, 4)
    assert result["readers"]["see_the_same"]["value"] == 0
    assert readers.main(["--answers", str(file), "--eyes", str(eyes)]) == 0
    assert "right, say the eyes" in capsys.readouterr().out
    eyes.write_text('{"weights": "weights/2", "from": 1, "to": 26, "wrong": [1, 2]}', encoding="utf-8")
    with pytest.raises(SystemExit, match="other weights"):
        readers.main(["--answers", str(file), "--eyes", str(eyes)])


def test_eyes_without_answers_are_refused(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        load("readers").main(["--eyes", "x.json"])
    assert "--answers" in capsys.readouterr().err
