"""Several backends: the plan chooses, and another stands in where the chosen one cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.several import SeveralBackends
from langgraph_interleave.errors import ConfigError, InvalidRequest, RateLimited, Unavailable
from langgraph_interleave.testing import ScriptedBackend, noise_card
from langgraph_interleave.types import Capabilities, ImageRequest

DRAWS = Capabilities()
EDITS = Capabilities(edit="instruct", max_references=1)
ONLY_EDITS = Capabilities(generate=False, edit="instruct", max_references=4)


def backend(name: str, can: Capabilities = EDITS, error: Exception | None = None) -> ScriptedBackend:
    return ScriptedBackend(
        lambda request: error or noise_card(f"{name} {request.prompt}"), capabilities=can, fingerprint=name
    )


async def drawn(several: SeveralBackends, **fields: Any) -> tuple[str, tuple[str, ...]]:
    assert isinstance(several, ImageBackend)
    result = await several.agenerate(ImageRequest("x", **fields))
    return str(result.model), result.warnings


async def test_the_one_that_is_named_draws_else_the_first() -> None:
    several = SeveralBackends({"a": backend("a"), "b": backend("b")})
    assert await drawn(several) == ("a", ())
    assert await drawn(several, backend="b") == ("b", ())
    with pytest.raises(InvalidRequest, match="no backend 'c'.*a, b|no backend 'c'"):
        await drawn(several, backend="c")


async def test_what_it_cannot_do_goes_to_one_that_can() -> None:
    several = SeveralBackends({"draws": backend("draws", DRAWS), "edits": backend("edits", ONLY_EDITS)})
    card = noise_card("r")
    assert await drawn(several, backend="draws", references=[card]) == (
        "edits",
        ("draws takes no pictures; edits draws this.",),
    )
    assert await drawn(several, backend="edits") == (
        "draws",
        ("edits cannot draw from words alone; draws draws this.",),
    )
    alone = SeveralBackends({"draws": backend("draws", DRAWS)})
    with pytest.raises(
        InvalidRequest, match="No backend can draw this: draws takes no pictures. Plan the step without"
    ):
        await drawn(alone, references=[card])


async def test_each_ones_reason_is_told_where_none_of_them_can() -> None:
    card = noise_card("r")
    both = SeveralBackends({"photo": backend("photo", DRAWS), "diagram": backend("diagram", DRAWS)})
    with pytest.raises(
        InvalidRequest, match="photo takes no pictures; diagram takes no pictures. Plan the step without"
    ):
        await drawn(both, backend="diagram", references=[card])
    editors = SeveralBackends({"a": backend("a", ONLY_EDITS), "b": backend("b", ONLY_EDITS)})
    with pytest.raises(InvalidRequest, match="a cannot draw from words alone; b cannot .* Plan the step as an edit"):
        await drawn(editors)
    gone = backend("gone", error=Unavailable("Nobody there.", remedy="Start it.", code="unreachable", retry_after=3.0))
    mixed = SeveralBackends({"photo": gone, "diagram": backend("diagram", DRAWS)})
    with pytest.raises(Unavailable) as told:
        await drawn(mixed, references=[card])
    assert told.value.message == (
        "No backend can draw this: photo is out of reach (Nobody there); diagram takes no pictures."
    )
    assert (told.value.remedy, told.value.code, told.value.retry_after) == ("Start it.", "unreachable", 3.0)


async def test_references_without_room_are_left_out_and_said() -> None:
    one = backend("one")
    _, warnings = await drawn(SeveralBackends({"one": one}), references=[noise_card("a"), noise_card("b")])
    assert warnings == ("one takes 1 of the 2 references.",)
    assert [reference.sha256 for reference in one.requests[0].references] == [noise_card("a").sha256]


async def test_another_stands_in_for_one_that_is_out_of_reach() -> None:
    gone = backend("gone", error=Unavailable("nobody there"))
    assert await drawn(SeveralBackends({"gone": gone, "b": backend("b")})) == (
        "b",
        ("gone is out of reach; b draws this.",),
    )
    with pytest.raises(Unavailable, match="gone is out of reach \\(nobody there\\)"):
        await drawn(SeveralBackends({"gone": gone}))
    for error in (Unavailable("500", ambiguous=True), RateLimited("later")):
        with pytest.raises(type(error)):
            await drawn(SeveralBackends({"a": backend("a", error=error), "b": backend("b")}))


def test_together_they_can_what_one_can_and_promise_what_all_do() -> None:
    billed = Capabilities(billed=True, min_side=64, max_pixels=10**6, concurrency=2)
    can = SeveralBackends({"a": (backend("a", billed), "photographs"), "b": backend("b", ONLY_EDITS)}).capabilities
    assert (can.generate, can.edit, can.max_references, can.billed) == (True, "instruct", 4, True)
    assert (can.min_side, can.max_pixels, can.concurrency, can.seed) == (64, 10**6, 3, "ignored")
    assert can.choices == (
        ("a", "photographs; draws from text, does not edit"),
        ("b", "edits as told, up to 4 references, seed ignored"),
    )


def test_none_and_unknown_ones_are_refused() -> None:
    with pytest.raises(ConfigError, match="no backend"):
        SeveralBackends({})
    with pytest.raises(ConfigError, match="Did you mean sketch"):
        SeveralBackends({"a": "skech"})


async def test_a_mask_or_a_transparent_ground_goes_to_one_that_has_it() -> None:
    plain = backend("plain")
    whole = backend("whole", replace(EDITS, mask=True, transparent=True, negative_prompt=True))
    several, card = SeveralBackends({"plain": plain, "whole": whole}), noise_card("r")
    assert several.capabilities.mask and several.capabilities.transparent and several.capabilities.negative_prompt
    assert await drawn(several, references=[card], mask=card) == (
        "whole",
        ("plain takes no mask; whole draws this.",),
    )
    assert await drawn(several, transparent=True) == (
        "whole",
        ("plain draws no transparent ground; whole draws this.",),
    )
    # Where nobody has it, the one that is wanted draws, and says so itself.
    alone = SeveralBackends({"plain": plain, "other": backend("other")})
    assert (await drawn(alone, transparent=True))[0] == "plain"


async def test_those_that_hold_something_are_closed() -> None:
    closed: list[str] = []

    class Holding(ScriptedBackend):
        async def aclose(self) -> None:
            closed.append(self.fingerprint)

    await SeveralBackends(
        {"a": Holding(fingerprint="one"), "b": backend("b"), "c": Holding(fingerprint="two")}
    ).aclose()
    assert closed == ["one", "two"]
