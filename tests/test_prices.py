"""What models cost: the table is sound, a name finds its own row and no cousin's, and unknown stays unknown."""

from __future__ import annotations

import itertools
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.prices import ENVIRONMENT, LongRates, Price, Prices, Rates
from langgraph_interleave.types import Usage

DAY = date(2026, 11, 30)


def builtin() -> Prices:
    return Prices.builtin().on(DAY)


# --- the table ------------------------------------------------------------------------------


def test_every_row_of_the_table_says_where_and_when() -> None:
    prices = builtin()
    assert len(prices.models) >= 50
    for name in prices.models:
        price = prices.of(name)
        assert price is not None, name
        assert price.source and price.provider in ("openai", "google", "anthropic"), name
        assert price.as_of is not None and date(2025, 10, 1) <= price.as_of <= DAY, name
        assert price.input and price.input > 0, name
        assert price.cached_input is None or price.cached_input < price.input, name


def test_names_and_aliases_of_the_table_are_unique() -> None:
    prices = builtin()
    names = list(prices.models)
    for name in prices.models:
        price = prices.of(name)
        assert price is not None
        names += price.aliases
    assert len(names) == len(set(names))


# --- names ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "row"),
    [
        ("gpt-5", "gpt-5"),
        (" GPT-5 ", "gpt-5"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("openai:gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("openai/gpt-image-2-2026-04-21", "gpt-image-2"),
        ("gpt-image-2.5-flare-2026-09-08", "gpt-image-2.5-flare"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("anthropic:claude-opus-5-5", "claude-opus-5-5"),
        ("google_genai:models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("models/gemini-3-pro-image-preview", "gemini-3-pro-image"),
    ],
)
def test_a_name_finds_its_row(asked: str, row: str) -> None:
    prices = builtin()
    assert prices.of(asked) is not None
    assert prices.of(asked) == prices.of(row)


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "gpt-5-",
        "gpt-5-turbo",
        "gpt-5-20",
        "gpt-5-2025-13-07",
        "gpt-5-2025-0807",
        "my-gpt-5",
        "gpt-image-2.7-flare",
        "gpt-image-1",
        "groq:gpt-5",
        "anthropic:gpt-5",
        "openrouter/openai/gpt-5",
        "ft:gpt-4.1:acme",
        "claude-opus-5-5-fast",
        "gpt-6-astra-fast",
    ],
)
def test_a_name_finds_nobody_elses_row(asked: str) -> None:
    assert builtin().of(asked) is None
    assert builtin().cost(asked, Usage(input_tokens=10)) is None


def test_no_row_answers_for_another() -> None:
    prices = builtin()
    for one, other in itertools.permutations(prices.models, 2):
        if other.startswith(one):
            alone = Prices({one: Price(input=1)})
            assert alone.of(other) is None, (one, other)


@given(st.text(max_size=40))
def test_any_text_is_a_name(text: str) -> None:
    prices = builtin()
    assert prices.of(text) is None or text.strip()


def test_a_snapshot_may_have_a_price_of_its_own() -> None:
    prices = Prices({"m": Price(input=1), "m-2026-01-02": Price(input=2)})
    snapshot, other = prices.of("m-2026-01-02"), prices.of("m-2026-01-03")
    assert snapshot is not None and snapshot.input == 2
    assert other is not None and other.input == 1


# --- what a call costs ----------------------------------------------------------------------


def test_cached_tokens_are_part_of_the_input() -> None:
    # 600 at 2.00, 400 at 0.50, 100 at 8.00 per million.
    usage = Usage(input_tokens=1000, cached_tokens=400, output_tokens=100)
    assert builtin().cost("gpt-4.1", usage) == pytest.approx((1200 + 200 + 800) / 1e6)


def test_without_a_cached_rate_cached_tokens_cost_what_others_do() -> None:
    usage = Usage(input_tokens=1000, cached_tokens=400)
    assert builtin().cost("gpt-5.5-pro", usage) == pytest.approx(0.03)


def test_a_drawing_is_charged_by_words_in_pictures_in_and_pictures_out() -> None:
    usage = Usage(input_tokens=1678, image_input_tokens=1450, output_tokens=13342, images=1)
    # 228 at 5, 1450 at 8, 13342 at 30 per million.
    assert builtin().cost("gpt-image-2", usage) == pytest.approx(0.41300)


def test_words_beside_a_drawing_have_their_own_rate_where_the_provider_tells_them_apart() -> None:
    usage = Usage(input_tokens=100, output_tokens=2120, image_output_tokens=1120, images=1)
    # 100 at 2, 1000 at 12, 1120 at 120 per million.
    assert builtin().cost("gemini-3-pro-image", usage) == pytest.approx((200 + 12_000 + 134_400) / 1e6)


def test_cached_pictures() -> None:
    price = Price(input=5, cached_input=1, image_input=8, cached_image_input=2)
    usage = Usage(input_tokens=300, image_input_tokens=200, cached_tokens=150)
    # 100 words cached at 1, 50 picture tokens cached at 2, 150 not at 8.
    assert price.cost(usage) == pytest.approx((100 + 100 + 1200) / 1e6)
    assert Price(input=5, cached_input=1, image_input=8).cost(usage) == pytest.approx((100 + 1600) / 1e6)
    assert Price(input=5, cached_input=1).cost(usage) == pytest.approx((150 + 750) / 1e6)


def test_a_price_per_picture() -> None:
    price = Price(picture=0.04)
    assert price.cost(Usage(images=3)) == pytest.approx(0.12)
    assert price.cost(Usage(images=1, input_tokens=50)) == pytest.approx(0.04)
    assert price.cost(Usage(input_tokens=50)) is None


def test_long_requests_are_charged_as_a_whole() -> None:
    short, over = Usage(input_tokens=200_000, output_tokens=10), Usage(input_tokens=200_001, output_tokens=10)
    assert builtin().cost("gemini-2.5-pro", short) == pytest.approx(0.2501)
    assert builtin().cost("gemini-2.5-pro", over) == pytest.approx(0.50015250)
    assert builtin().cost("gpt-5.5", Usage(input_tokens=300_000)) is None, "the rate was not found"


def test_what_is_not_told_is_unknown_and_never_free() -> None:
    prices = builtin()
    assert prices.cost("gpt-5", Usage()) is None
    assert prices.cost("gpt-image-2", Usage(images=1)) is None
    assert prices.cost("gpt-image-2", Usage(images=1, input_tokens=20)) is None
    assert Price(input=1).cost(Usage(output_tokens=1)) is None
    assert Price(output=1).cost(Usage(input_tokens=1)) is None
    assert Price().cost(Usage(input_tokens=1)) is None


def test_a_model_of_ones_own_is_free_when_said_so() -> None:
    prices = Prices().merged({"local": {"input": 0, "output": 0}})
    assert prices.cost("local", Usage()) == 0
    assert prices.cost("local", Usage(input_tokens=5, images=1)) == 0


def test_a_cost_the_provider_reports_goes_first() -> None:
    usage = Usage(input_tokens=1_000_000, cost_usd=0.5)
    assert builtin().cost("gpt-5", usage) == 0.5
    assert builtin().cost("unknown", usage) == 0.5
    assert builtin().priced("gpt-5", Usage(input_tokens=1_000_000)).cost_usd == pytest.approx(1.25)
    assert builtin().priced("unknown", Usage(input_tokens=1)).cost_usd is None


def test_an_introductory_price_ends() -> None:
    usage = Usage(input_tokens=1_000_000)
    before, after = Prices.builtin().on(date(2026, 12, 31)), Prices.builtin().on(date(2027, 1, 1))
    assert before.cost("gemini-3.8-flash", usage) == pytest.approx(0.75)
    assert after.cost("gemini-3.8-flash", usage) == pytest.approx(1.5)
    ends = Prices({"m": Price(input=1, until=date(2026, 1, 1))})
    assert ends.on(date(2026, 1, 2)).of("m") is None


tokens = st.integers(0, 400_000)
rates = st.floats(0.01, 100)


@given(tokens, tokens, tokens, tokens, tokens, st.integers(0, 3), rates, rates, rates)
def test_more_tokens_never_cost_less(
    words: int, cached: int, pictures: int, out: int, drawn: int, images: int, a: float, b: float, c: float
) -> None:
    price = Price(input=a, cached_input=a / 2, output=b, image_input=a, image_output=c + b)
    usage = Usage(
        input_tokens=words + pictures,
        image_input_tokens=pictures,
        cached_tokens=min(cached, words),
        output_tokens=out + drawn,
        image_output_tokens=drawn,
        images=images,
    )
    cost = price.cost(usage)
    more = price.cost(usage.model_copy(update={"input_tokens": usage.input_tokens + 1000}))
    if cost is not None and more is not None:
        assert 0 < cost <= more
        assert cost <= (words + pictures + 0.5) * a / 1e6 + (out + drawn) * (b + c) / 1e6 + 1e-9


# --- prices of one's own --------------------------------------------------------------------


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_ones_own_goes_over_the_table(tmp_path: Path) -> None:
    own = write(tmp_path / "own.toml", '["gpt-5"]\ninput = 1\noutput = 2\n\n["house/model.1"]\npicture = 0.01\n')
    prices = builtin().merged(own)
    assert prices.cost("gpt-5", Usage(input_tokens=1_000_000)) == 1
    assert prices.cost("house/model.1", Usage(images=2)) == pytest.approx(0.02)
    assert prices.of("gpt-5-mini") is not None
    assert builtin().cost("gpt-5", Usage(input_tokens=1_000_000)) == 1.25, "the built-in table is untouched"
    assert builtin().merged(str(own)).models == prices.models
    assert Prices().merged(prices).models == prices.models


def test_the_environment_names_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    assert Prices.default().of("house") is None
    monkeypatch.setenv(ENVIRONMENT, str(write(tmp_path / "own.toml", "[house]\ninput = 3\n")))
    assert Prices.default().of("house") == Price(input=3)
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "none.toml"))
    with pytest.raises(ConfigError, match=r"none\.toml cannot be read: No such file.*LANGGRAPH_INTERLEAVE_PRICES"):
        Prices.default()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("input = ", "is not TOML"),
        ("input = 3", "'input' is not one"),
        ("[m]\ninput = -1", "'m' is not one: input: "),
        ("[m]\ninput = inf", "'m' is not one: input: "),
        ("[m]\ninptu = 1", "'m' is not one: inptu: "),
        ("[gpt-5.4-mini]\ninput = 1", "'gpt-5' is not one: "),
    ],
)
def test_a_wrong_file_is_named_with_the_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Prices().merged(write(tmp_path / "own.toml", text))
    assert "own.toml" in str(caught.value) and says in str(caught.value)


@pytest.mark.parametrize(
    ("row", "meant"),
    [
        ({"image": 0.01}, "picture"),
        ({"per_image": 0.01}, "picture"),
        ({"images": 0.01}, "picture"),
        ({"pictures": 0.01}, "picture"),
        ({"inptu": 2}, "input"),
        ({"image_inputs": 2}, "image_input"),
        ({"long": {"above": 9, "imge_output": 1}}, "image_output"),
        ({"xyz": 2}, None),
    ],
)
def test_a_wrong_field_is_told_with_the_one_that_was_meant_and_all_there_are(row: object, meant: str | None) -> None:
    with pytest.raises(ConfigError) as told:
        Prices().merged({"my-model": row})  # type: ignore[dict-item]
    assert "there is no such field" in told.value.message
    assert (f"Did you mean {meant}? " in told.value.remedy) if meant else ("Did you mean" not in told.value.remedy)
    assert all(name in told.value.remedy for name in Price.model_fields)


def test_a_name_with_a_dot_is_told_how_to_be_written(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text("[gpt-5.4-mini]\ninput = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r'is written \["gpt-5\.4-mini"\]'):
        Prices().merged(file)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read"):
        Prices().merged(own)


def test_rates_after_a_day_keep_source_and_date() -> None:
    price = Price(
        input=1, output=2, until=date(2026, 1, 1), then=Rates(input=3), source="page", long=LongRates(above=5)
    )
    later = price.on(date(2026, 1, 2))
    assert later is not None
    assert (later.input, later.output, later.source, later.long) == (3, None, "page", None)


# --- users' own, before ours ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine.toml", '[gpt-5]\ninput = 1\noutput = 1\n["my-model"]\npicture = 0.04\n'),
        ("mine.json", '{"gpt-5": {"input": 1, "output": 1}, "my-model": {"picture": 0.04}}'),
    ],
)
def test_a_file_of_ones_own_goes_first(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    prices = builtin().merged(file)
    assert prices.cost("gpt-5", Usage(input_tokens=1_000_000)) == 1.0
    assert prices.cost("my-model", Usage(images=2)) == pytest.approx(0.08)
    assert prices.of("gpt-4.1") == builtin().of("gpt-4.1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "holds no table of prices"),
        ("{", "is not JSON"),
        ('{"my-model": {"per_image": 1}}', "the price of 'my-model' is not one: per_image"),
        ('{"my-model": {"input": -1}}', "the price of 'my-model' is not one: input"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(said)) as caught:
        builtin().merged(file)
    assert "mine.json" in caught.value.message and caught.value.remedy


def test_an_alias_of_ones_own_goes_before_a_row_of_that_name() -> None:
    prices = builtin().merged({"house": {"input": 3, "aliases": ["GPT-5"]}})
    assert prices.cost("gpt-5", Usage(input_tokens=1_000_000)) == 3.0
    assert prices.cost("house", Usage(input_tokens=1_000_000)) == 3.0


def test_the_variable_may_hold_the_prices_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, ' {"house": {"input": 3}}')
    assert Prices.default().rows["house"] == Price(input=3)
    monkeypatch.setenv(ENVIRONMENT, '{"house": {"inputs": 3}}')
    with pytest.raises(ConfigError, match=r"LANGGRAPH_INTERLEAVE_PRICES: the price of 'house'"):
        Prices.default()
