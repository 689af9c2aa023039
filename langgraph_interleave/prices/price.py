"""The price of one model, and what a call costs by it."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.usage import Usage

#: US dollars.
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]

_MILLION = 1_000_000


class Rates(Frozen):
    """US dollars per million tokens. What is not given is not known, and never free.

    Attributes:
        input: Words sent (and pictures, where `image_input` is not given).
        cached_input: Input the provider had in its cache; `input` where not given.
        output: Words written.
        image_input: Pictures sent.
        cached_image_input: Pictures the provider had in its cache; as those not in it where not given.
        image_output: Pictures drawn.
        picture: US dollars per picture drawn, whatever its size. Tokens without a rate are then not
            charged beside it.
    """

    input: Dollars | None = None
    cached_input: Dollars | None = None
    output: Dollars | None = None
    image_input: Dollars | None = None
    cached_image_input: Dollars | None = None
    image_output: Dollars | None = None
    picture: Dollars | None = None

    @property
    def free(self) -> bool:
        """Whether everything given is given as 0."""
        given = [rate for rate in self.model_dump(include=set(Rates.model_fields)).values() if rate is not None]
        return bool(given) and not any(given)


class LongRates(Rates):
    """Rates of a whole request whose input is longer than `above` tokens."""

    above: int = Field(ge=1)


class Price(Rates):
    """What a model costs, who says so, and when that was looked up.

    Attributes:
        long: Other rates for long requests.
        until: Last day of these rates, where the provider names one.
        then: The rates after that day; without them they are unknown from then on.
        provider: Whose model it is; only its own prefixes are taken off a name.
        aliases: Other names of the same model.
        source: Where the price is from.
        as_of: When it was looked up.
    """

    long: LongRates | None = None
    until: date | None = None
    then: Rates | None = None
    provider: str = ""
    aliases: tuple[str, ...] = ()
    source: str = ""
    as_of: date | None = None

    def on(self, day: date) -> Price | None:
        """The price on a day; `None` when it is not known for then."""
        if self.until is None or day <= self.until:
            return self
        if self.then is None:
            return None
        rates = {name: getattr(self.then, name) for name in Rates.model_fields}
        return self.model_copy(update={**rates, "long": None, "until": None, "then": None})

    def cost(self, usage: Usage) -> float | None:
        """What one call cost, in US dollars; `None` when a rate it takes is not known.

        A call that used nothing the provider told of is not free: its cost is unknown, unless the
        model is. Where pictures were drawn and the provider does not say which output tokens they
        are, all are taken for them.

        Args:
            usage: Of one call: long requests have rates of their own.

        Example:
            >>> Price(input=5, image_input=8, image_output=30).cost(
            ...     Usage(input_tokens=1678, image_input_tokens=1450, output_tokens=13342, images=1)
            ... )
            0.413
        """
        rates: Rates = self
        if self.long is not None and usage.input_tokens > self.long.above:
            rates = self.long
        return cost_by(rates, usage)


def cost_by(rates: Rates, usage: Usage) -> float | None:
    """What a call cost at given rates, in US dollars; `None` when one of them is not known."""
    if rates.free:
        return 0.0
    by_picture = rates.picture is not None and usage.images > 0
    if not (usage.input_tokens or usage.output_tokens or by_picture):
        return None
    if usage.images and not usage.output_tokens and not by_picture:
        return None  # a picture was drawn, and nobody says of how many tokens
    dollars = usage.images * (rates.picture or 0.0) * _MILLION
    for tokens, rate in _charged(rates, usage):
        if tokens and rate is None and not by_picture:
            return None
        dollars += tokens * (rate or 0.0)
    return round(dollars / _MILLION, 12)


def _charged(rates: Rates, usage: Usage) -> list[tuple[int, float | None]]:
    """Tokens by what they are charged at."""
    pictures_in = min(usage.image_input_tokens, usage.input_tokens)
    words_in = usage.input_tokens - pictures_in
    # Which of them were cached no provider says: in our prompts the words come first.
    cached_words = min(usage.cached_tokens, words_in)
    cached_pictures = min(usage.cached_tokens - cached_words, pictures_in)
    pictures_out = min(usage.image_output_tokens, usage.output_tokens)
    if usage.images and not pictures_out and rates.image_output is not None:
        pictures_out = usage.output_tokens
    cached = _first(rates.cached_input, rates.input)
    by_words = rates.image_input is None
    return [
        (words_in - cached_words, rates.input),
        (cached_words, cached),
        (pictures_in - cached_pictures, _first(rates.image_input, rates.input)),
        (cached_pictures, _first(rates.cached_image_input, cached if by_words else rates.image_input)),
        (usage.output_tokens - pictures_out, rates.output),
        (pictures_out, rates.image_output),
    ]


def _first(*rates: float | None) -> float | None:
    return next((rate for rate in rates if rate is not None), None)
