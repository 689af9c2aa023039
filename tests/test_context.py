"""Per-run values: valid ones are taken, bad ones named, a foreign context left aside."""

from __future__ import annotations

import pytest

from langgraph_interleave.context import InterleaveContext, Settings, derive_seed, parse_size
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.limits import Limits


@pytest.mark.parametrize(("text", "size"), [("512x384", (512, 384)), ("64X64", (64, 64)), ("100×200", (100, 200))])
def test_sizes(text: str, size: tuple[int, int]) -> None:
    assert parse_size(text) == size
    assert Settings(size=text).pixels == size


@pytest.mark.parametrize("text", ["512", "x", "axb", "8x512", "512x9000", "-1x64", "512x384x3", ""])
def test_a_size_that_is_none_is_named(text: str) -> None:
    with pytest.raises(ConfigError, match="size"):
        parse_size(text)


def test_fields_are_described_for_forms() -> None:
    schema = InterleaveContext.model_json_schema()["properties"]
    assert all(field.get("description") for field in schema.values())


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ConfigError, match="There is no option 'sed'. See InterleaveContext"):
        InterleaveContext(sed=3)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="There is no option 'max_step'. See Limits"):
        Limits(max_step=3)  # type: ignore[call-arg]


def test_a_context_of_ours_wins_over_the_config() -> None:
    settings, own = Settings(seed=1).resolve(InterleaveContext(steps=3, run_id="mine"), {"seed": 9})
    assert (settings.seed, settings.steps, own) == (1, 3, "mine")


def test_the_config_wins_over_the_defaults_and_a_foreign_context_is_left_aside() -> None:
    limits = Limits(max_attempts=1)
    settings, own = Settings(seed=1).resolve(
        object(), {"seed": 9, "limits": limits, "thread_id": "t", "run_id": "tracing"}
    )
    assert (settings.seed, settings.limits, own) == (9, limits, None)


def test_a_limit_that_is_left_out_keeps_its_default() -> None:
    made_with = Settings(limits=Limits(max_images=10, max_attempts=1))
    settings, _ = made_with.resolve(InterleaveContext(limits=Limits(max_steps=5)), {})
    assert settings.limits == Limits(max_images=10, max_attempts=1, max_steps=5)
    settings, _ = made_with.resolve(None, {"limits": {"max_images": None}})
    assert settings.limits == Limits(max_attempts=1), "a cap is lifted by saying so"


def test_limits_may_come_as_json() -> None:
    settings, own = Settings().resolve(None, {"limits": {"max_images": 4}, "interleave_run_id": "mine"})
    assert (settings.limits.max_images, own) == (4, "mine")


@pytest.mark.parametrize(("key", "value"), [("seed", -1), ("seed", "much"), ("size", "big"), ("on_exhausted", "cry")])
def test_a_bad_value_in_the_config_is_named(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key):
        Settings().resolve(None, {key: value})


def test_seeds_are_spread_and_stable() -> None:
    seeds = {derive_seed(0, step, attempt) for step in range(20) for attempt in range(3)}
    assert len(seeds) == 60 and all(0 <= seed < 2**32 for seed in seeds)
    assert derive_seed(7, 1, 2) == 2533198187
