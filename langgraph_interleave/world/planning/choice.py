"""The choice: which way of telling a request asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from langgraph_interleave.types import PlanWarning
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.grammar.phrases import listed
from langgraph_interleave.world.grammar.prose import phrase
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.planning.chapter import outline_of
from langgraph_interleave.world.planning.fitting import fit
from langgraph_interleave.world.planning.gathering import gathering_outline
from langgraph_interleave.world.planning.growth import growth_outline
from langgraph_interleave.world.planning.guide import guide_outline
from langgraph_interleave.world.planning.itemised import itemised_outline
from langgraph_interleave.world.planning.items import Items, items_of, without_lead
from langgraph_interleave.world.planning.manual import drawing_outline, manual_outline
from langgraph_interleave.world.planning.outline import Outline, Part
from langgraph_interleave.world.planning.series import series_outline
from langgraph_interleave.world.planning.story import story_outline
from langgraph_interleave.world.planning.tableau import tableau_outline
from langgraph_interleave.world.planning.wishes import Wishes, wishes_of, without_form, words_only, words_only_of_all
from langgraph_interleave.world.procedures import Hit, find

_A_THING = re.compile(r"(?:an?|one|two|three|some)\s+(?!way|guide|recipe|tutorial)", re.IGNORECASE)
#: How sure the book must be to go before the words "first … then …" of a request.
_SURE = 0.75


def outline_for(text: str, *, steps: int | None, most: int, language: Language | None, images: int) -> Outline:
    """The finished outline of a request: told in the right way, in the number of steps asked for.

    Args:
        text: The user's words; may be empty when there are pictures.
        steps: Steps the caller insists on, words-only steps included; goes before what the text says.
        most: Steps a plan may have.
        language: Of captions, or `None` for the request's own.
        images: How many pictures the request has.
    """
    wishes = wishes_of(text)
    if wishes.words_only and (items := items_of(text if _is_itemised(text) else wishes.listing)) is not None:
        # "(text only)" of one item is not a wish about all of them.
        wishes = replace(wishes, words_only=_all_in_words(items))
    spoken = language or wishes.spoken or wishes.language
    outline = _told(text, wishes, spoken, steps or wishes.count, photo=images > 0)
    outline = outline.thinking(*_about_wishes(wishes, steps))
    around = _around(wishes, outline)
    room = most - len(around)
    wanted = steps - len(around) if steps is not None else wishes.count
    outline = fit(outline, max(wanted, 1) if wanted is not None else None, most=max(room, 1))
    before = tuple(part for part, first in around if first)
    after = tuple(part for part, first in around if not first)
    outline = replace(outline, parts=(*before, *outline.parts, *after))
    if wishes.words_only:
        outline = replace(outline, parts=tuple(replace(part, scene=None) for part in outline.parts))
    return _with_unknown(outline)


def _told(text: str, wishes: Wishes, language: Language, count: int | None, *, photo: bool) -> Outline:
    subject = without_form(wishes.subject) or wishes.subject
    items = items_of(text if _is_itemised(text) else wishes.subject if wishes.words_only else wishes.listing)
    if items is not None and items.form == "numbered":
        return _listed(items, wishes, photo)
    grown = growth_outline(subject, language, count, photo=True) if photo else None
    if grown is not None:
        return grown
    whole = gathering_outline(subject, language) or (guide_outline(subject) if wishes.language == "en" else None)
    if whole is not None and not photo:
        return whole
    story = story_outline(subject, language, count)
    if story is not None:
        return story
    hit = find(subject, wishes.language)
    if hit is not None and count is None and _only_names_it(subject, hit):
        hit = None
    if items is not None and items.form == "sequence" and not _is_sure(hit):
        return _listed(items, wishes, photo)
    series = series_outline(subject, language, count) if hit is None else None
    if series is not None and (items is None or items.form != "listed"):
        return series
    if hit is not None and (items is None or _is_sure(hit)):
        return outline_of(hit, language)
    if items is not None:
        return _listed(items, wishes, photo)
    return (
        growth_outline(subject, language, count, photo=False)
        or drawing_outline(subject, language)
        or manual_outline(subject, language)
        or tableau_outline(subject, wishes.language, count, photo=photo)
    )


def _listed(items: Items, wishes: Wishes, photo: bool) -> Outline:
    outline = itemised_outline(items, wishes.language, photo=photo)
    title = without_lead(without_form(wishes.subject))
    if outline.title is None and items.form == "sequence" and len(title) <= 70:
        outline = replace(outline, title=sentence(title).rstrip(".。"))
    return outline


def _is_itemised(text: str) -> bool:
    """Whether a request is a numbered or bulleted list, in which "in words only" is said of an item."""
    items: Items | None = items_of(text)
    return items is not None and items.form == "numbered"


def _all_in_words(items: Items) -> bool:
    """Whether "in words only", said somewhere in a list, is about the list and not about one item."""
    asking = [text for text in items.texts if words_only(text)]
    if words_only(items.lead) or len(asking) == len(items.texts):
        return True
    return asking == [items.texts[-1]] and words_only_of_all(items.texts[-1])


def _only_names_it(subject: str, hit: Hit) -> bool:
    """Whether a request names a thing, rather than how it comes about: "a snowman" is one picture."""
    return hit.words == 1 and bool(_A_THING.match(without_lead(subject)))


def _is_sure(hit: Hit | None) -> bool:
    return hit is not None and hit.score >= _SURE


def _about_wishes(wishes: Wishes, steps: int | None) -> Sequence[str]:
    if steps is not None and wishes.count is not None and steps != wishes.count:
        return (f"The words say {wishes.count} steps, the setting {steps}: the setting counts.",)
    return ()


def _around(wishes: Wishes, outline: Outline) -> list[tuple[Part, bool]]:
    """Steps in words before (`True`) and after the pictures, where they were wished for."""
    found: list[tuple[Part, bool]] = []
    titles: dict[Language, tuple[str, str, str]] = {
        "en": ("Introduction", "What you need", "Good to know"),
        "de": ("Einleitung", "Was man braucht", "Gut zu wissen"),
        "zh": ("简介", "需要准备", "小贴士"),
    }  # fmt: skip
    intro, needs, tip = titles.get(outline.language, titles["en"])
    if wishes.intro and (words := outline.intro or _introduction(outline)):
        found.append((Part(caption=words, title=intro), True))
    if wishes.needs and (words := outline.needs or _needs_of(outline)):
        found.append((Part(caption=words, title=needs), True))
    if wishes.tip and outline.tip:
        found.append((Part(caption=outline.tip, title=tip), False))
    return found


def _introduction(outline: Outline) -> str | None:
    if outline.title is None:
        return None
    form = {"zh": "下面一步一步介绍：{}。", "de": "Hier steht Schritt für Schritt: {}."}.get(
        outline.language, "Step by step, with a picture for each: {}."
    )
    title = outline.title
    return form.format(title[0].lower() + title[1:] if outline.language == "en" else title)


def _needs_of(outline: Outline) -> str | None:
    """What one needs, from what the pictures show, where nobody has written it down."""
    if outline.language != "en":
        return None
    seen: dict[str, str] = {}
    for part in outline.drawn:
        assert part.scene is not None
        for thing in part.scene.things:
            if thing.kind not in ("hand", "face", "clock", "sun", "cloud", "person", "child"):
                plain = thing.model_copy(update={"state": None, "at": None, "color": None, "size": "medium"})
                named = thing.label if thing.kind == "card" and thing.label else phrase(plain, placed=False)
                seen.setdefault(thing.id, named)
    return f"You need {listed(list(seen.values()))}." if seen else None


def _with_unknown(outline: Outline) -> Outline:
    shown = [word for word in outline.unknown if any(
        thing.label == word for part in outline.drawn if part.scene is not None for thing in part.scene.things
    )]  # fmt: skip
    if not shown:
        return outline
    words = ", ".join(f"“{word}”" for word in shown)
    instead = "it is a labelled card" if len(shown) == 1 else "they are labelled cards"
    drawn = "drawn as a labelled card" if len(shown) == 1 else "drawn as labelled cards"
    return outline.thinking(f"I cannot draw {words}: {instead} in the picture.").warned(
        PlanWarning("unknown_words", f"Not in the drawing vocabulary: {words}; {drawn}.")
    )
