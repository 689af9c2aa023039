"""The presets file: complete, ordered as its own text says, and untouched by callers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.world.presets import CATEGORIES, Rates, preset, presets


def test_the_four_presets_are_there() -> None:
    assert list(presets()) == ["perfect", "default", "hard", "identity_drift"]
    assert all(found.name == name and found.about for name, found in presets().items())


def test_categories_and_rates_are_the_same_list() -> None:
    assert list(Rates.model_fields) == list(CATEGORIES)
    assert CATEGORIES[:4] == ("single_object", "two_objects", "counting", "colors")


def test_perfect_never_errs() -> None:
    assert all(preset("perfect").rates.of(category) == 0 for category in CATEGORIES)


def test_the_figures_are_the_fixed_ones() -> None:
    # A change of the test world must be deliberate: it changes every published benchmark.
    assert preset("default").rates.model_dump() == {
        "single_object": 0.02,
        "two_objects": 0.08,
        "counting": 0.25,
        "colors": 0.12,
        "color_attribution": 0.25,
        "position": 0.20,
        "state": 0.12,
        "extra_object": 0.05,
        "collateral": 0.10,
        "identity_drift": 0.02,
    }
    assert preset("hard").rates.model_dump() == {
        "single_object": 0.05,
        "two_objects": 0.18,
        "counting": 0.50,
        "colors": 0.20,
        "color_attribution": 0.50,
        "position": 0.45,
        "state": 0.30,
        "extra_object": 0.12,
        "collateral": 0.25,
        "identity_drift": 0.05,
    }


def test_hard_is_harder_than_default_everywhere() -> None:
    hard, default = preset("hard"), preset("default")
    assert all(hard.rates.of(category) > default.rates.of(category) for category in CATEGORIES)
    assert hard.refined_helps < default.refined_helps


def test_identity_drift_is_about_drift() -> None:
    drift = preset("identity_drift")
    assert all(drift.rates.of(c) < drift.rates.identity_drift for c in CATEGORIES if c != "identity_drift")
    assert drift.drift_cap > preset("hard").drift_cap


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="perfect, default, hard, identity_drift"):
        preset("easy")


def test_presets_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValidationError):
        preset("default").refined_helps = 1.0
    with pytest.raises(TypeError):
        presets()["default"] = preset("hard")  # pyright: ignore[reportIndexIssue]


@given(st.floats(0, 20))
def test_scaled_rates_stay_probabilities(factor: float) -> None:
    scaled = preset("hard").scaled(factor)
    assert all(0 <= scaled.rates.of(category) <= 1 for category in CATEGORIES)
    assert scaled.rates.counting == min(1.0, 0.5 * factor)


def test_scaling_refuses_a_negative_factor() -> None:
    with pytest.raises(ConfigError):
        preset("hard").scaled(-1)
