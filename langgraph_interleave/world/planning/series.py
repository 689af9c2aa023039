"""Series: things that come in a known order or number, one picture each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from langgraph_interleave.types import PlanWarning
from langgraph_interleave.world.grammar import read
from langgraph_interleave.world.grammar.draft import MOST
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.grammar.numbers import BY_LANGUAGE, in_words
from langgraph_interleave.world.grammar.phrases import article, noun
from langgraph_interleave.world.grammar.prose import phrase, with_ids
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.planning.outline import Outline, Part
from langgraph_interleave.world.planning.wishes import number_of
from langgraph_interleave.world.scene import Scene, Thing
from langgraph_interleave.world.vocabulary import BACKDROPS, KINDS

_NUMBER = r"(\d{1,3}|[a-z]+(?:-[a-z]+)?|[一二两三四五六七八九十]+)"
_FIRST = re.compile(rf"\bfirst\s+{_NUMBER}\s+(?:numbers?|digits?|integers?)|前{_NUMBER}个数字", re.IGNORECASE)
_RANGE = re.compile(
    rf"\b(?:numbers?|digits?|count(?:ing)?|zahlen)\b[^.;\d]*?{_NUMBER}\s*(?:to|-|–|until|through|bis)\s*{_NUMBER}\b|"
    rf"从{_NUMBER}(?:数)?到{_NUMBER}",
    re.IGNORECASE,
)
_COUNT_TO = re.compile(rf"\bcount(?:ing)?\s+(?:up\s+)?to\s+{_NUMBER}\b|数到{_NUMBER}", re.IGNORECASE)
_WITH = re.compile(
    r"\b(?:with|using|mit)\s+([^,;.:]+)|"
    rf"\bcount(?:ing)?\s+(?!from\b|to\b|up\b|down\b|{_NUMBER}\s*(?:to|-))([^,;.:\d]+?)\s+(?:from|up\s+to|to)\b|"
    r"用(.+?)(?:从|数|$)",
    re.IGNORECASE,
)

_LISTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    r"\b(?:days of the week|weekdays|seven days)\b|一周七天|星期": (
        "The days of the week", ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    ),
    r"\bmonths(?: of the year)?\b|十二个月": (
        "The months of the year",
        ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
         "December"),
    ),
    r"\b(?:planets|solar system)\b|行星|太阳系": (
        "The planets", ("Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"),
    ),
    r"\b(?:alphabet|letters from a to z|abc)\b|字母": ("The alphabet", tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")),
}  # fmt: skip
_RAINBOW = re.compile(r"\bcolou?rs of the rainbow\b|\brainbow colou?rs\b|彩虹的颜色", re.IGNORECASE)
_COLORS = ("red", "orange", "yellow", "green", "blue", "purple")

#: Words for many sorts of things → kinds, the best known first.
_CATEGORIES: Mapping[str, tuple[str, ...]] = {
    r"farm animals|bauernhoftiere": ("cow", "pig", "sheep", "hen", "horse", "duck"),
    r"sea animals|sea creatures|meerestiere": ("fish", "whale", "turtle"),
    r"animals|tiere|动物|animales|animaux": (
        "cat", "dog", "rabbit", "horse", "cow", "elephant", "bird", "fish", "frog", "pig", "sheep", "duck", "mouse",
        "turtle", "hen", "snail", "bee", "butterfly", "ladybird", "whale",
    ),
    r"insects|insekten|昆虫": ("bee", "butterfly", "ladybird", "caterpillar"),
    r"fruits?|obst|früchte|水果|frutas": ("apple", "banana", "pear", "strawberry", "lemon"),
    r"vegetables|gemüse|蔬菜": ("carrot", "tomato", "salad", "mushroom"),
    r"vehicles|fahrzeuge|交通工具": ("car", "bus", "train", "bicycle", "boat", "airplane", "truck", "rocket"),
    r"tools|werkzeuge|工具": ("hammer", "screwdriver", "saw", "wrench", "shovel", "ladder", "broom"),
    r"(?:geometric )?shapes|formen|形状": (
        "circle", "square", "triangle", "rectangle", "hexagon", "cylinder", "cone", "cube",
    ),
    r"clothes|clothing|kleidungsstücke|衣服": ("shirt", "trousers", "dress", "hat", "shoe", "sock", "scarf", "glove"),
    r"toys|spielzeuge?|玩具": ("ball", "teddy bear", "kite", "drum", "robot", "football", "cube"),
    r"musical instruments|instruments|乐器": ("drum", "guitar"),
    r"buildings|gebäude|建筑": ("house", "castle", "igloo", "tent"),
}  # fmt: skip
#: Characters of what may be a kind of things; a long word without an end is none, and costs seconds to search.
_LONGEST = 200
_OTHER_WORDS = re.compile(r"\b(?:story|about|how|why|life|cycle|grow|then)\b", re.IGNORECASE)


def series_outline(subject: str, language: Language, count: int | None) -> Outline | None:
    """The outline of a series that a request asks for, or `None`.

    Args:
        subject: The request without its wishes about form.
        language: Of captions, where there are words in it.
        count: Steps asked for.

    Example:
        >>> outline = series_outline("the first 25 numbers", "en", None)
        >>> len(outline.parts), outline.parts[24].scene.things[0].label
        (25, '25')
    """
    numbers = _numbers(subject, count)
    if numbers is not None:
        return _number_outline(numbers, subject, language)
    for pattern, (title, names) in _LISTS.items():
        if re.search(pattern, subject, re.IGNORECASE) and not re.search(r"\bstory\b", subject, re.IGNORECASE):
            return _cards(title, names, language)
    if _RAINBOW.search(subject):
        parts = tuple(
            Part(f"{color.capitalize()}.", Scene(things=(Thing(id="circle", kind="circle", color=color, size="large",
                                                             at="middle"),)), color.capitalize())
            for color in _COLORS
        )  # fmt: skip
        return Outline(
            "The colours of the rainbow", parts, "independent", thoughts=("The rainbow has six colours here.",)
        )
    return _category(subject, count)


def _numbers(subject: str, count: int | None) -> range | None:
    first = _FIRST.search(subject)
    if first is not None:
        last = number_of(first[1] or first[2])
        return range(1, last + 1) if last else None
    match = _RANGE.search(subject)
    if match is not None:
        low, high = number_of(match[1] or match[3]), number_of(match[2] or match[4])
        if low and high and low != high:
            return range(low, high + 1) if low < high else range(low, high - 1, -1)
    match = _COUNT_TO.search(subject)
    if match is not None:
        last = number_of(match[1] or match[2])
        return range(1, last + 1) if last else None
    if count and re.search(r"\b(?:the )?numbers\b|数字", subject, re.IGNORECASE) and not re.search(r"\d", subject):
        return range(1, count + 1)
    return None


def _number_outline(numbers: range, subject: str, language: Language) -> Outline:
    counted = _counted(subject)
    first, last = numbers[0], numbers[-1]
    if counted is not None:
        return _counting(numbers, counted)
    title = f"从{first}到{last}" if language == "zh" else f"Von {first} bis {last}" if language == "de" else (
        f"The numbers from {first} to {last}"
    )  # fmt: skip
    parts = tuple(Part(_number_words(number, language), _card(str(number)), str(number)) for number in numbers)
    thoughts = (f"These are the numbers from {first} to {last}: one card each, none depending on another.",)
    return Outline(title, parts, "independent", language if language in ("zh", "de") else "en", thoughts)


def _counting(numbers: range, counted: Thing) -> Outline:
    """Counting with things: as many as the number says, or the number beside one where that is too many."""
    first, last = numbers[0], numbers[-1]
    several = phrase(counted.model_copy(update={"count": 2}), placed=False).removeprefix("two ")
    one = phrase(counted, placed=False).split(" ", 1)[-1]
    parts = tuple(
        Part(
            sentence(f"{_in_words(number)} {one if number == 1 else several}"),
            _so_many(counted, number),
            str(number),
            alone=max(numbers) > MOST,
        )
        for number in numbers
    )
    title = f"Counting {'to' if first == 1 else f'from {_in_words(first)} to'} {_in_words(last)} with {several}"
    how = "each picture changes the one before"
    if max(numbers) > MOST:
        how = f"up to {in_words(MOST)} they are drawn one by one, then the number stands beside one"
    thoughts = (f"I count from {first} to {last} with {several}; {how}.",)
    return Outline(title, parts, "independent" if max(numbers) > MOST else "chain", "en", thoughts)


def _so_many(counted: Thing, number: int) -> Scene:
    if number <= MOST:
        return _scene(counted.model_copy(update={"count": number, "at": "middle"}))
    card = Thing(id="?", kind="card", label=str(number), size="large", at="middle")
    example = _scene(counted.model_copy(update={"at": "lower right" if _stands(counted) else "upper right"}))
    return example.model_copy(update={"things": with_ids((card, *example.things))})


def _stands(thing: Thing) -> bool:
    """Whether a thing stands on the ground; a star does not."""
    known = KINDS.get(thing.kind)
    return known is None or known.category != "sky"


def _in_words(number: int) -> str:
    return _number_words(number, "en").rstrip(".").casefold()


def _number_words(number: int, language: Language) -> str:
    if language == "zh":
        digits = "零一二三四五六七八九"
        tens, ones = divmod(number, 10)
        if number > 99:
            return f"{number}。"
        ten = "" if not tens else ("十" if tens == 1 else digits[tens] + "十")
        return f"{ten}{digits[ones] if ones or not tens else ''}。"
    words = {value: word for word, value in BY_LANGUAGE["de"].items() if " " not in word and word != "beide"}
    if language == "de":
        return sentence(words.get(number, str(number)) if number <= 12 else str(number))
    tens = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
    if number <= 20 or number > 99:
        return sentence(in_words(number))
    ten, one = divmod(number, 10)
    return sentence(tens[ten] + (f"-{in_words(one)}" if one else ""))


def _counted(subject: str) -> Thing | None:
    """What is counted with, one of it; `None` where nothing is, or nothing that can be drawn."""
    match = _WITH.search(subject)
    if match is None:
        return None
    things = read(next(group for group in match.groups()[::-1] if group)).scene.things
    if not things or things[0].kind == "card":
        return None
    return things[0].model_copy(update={"count": 1, "at": None})


def _cards(title: str, names: tuple[str, ...], language: Language) -> Outline:
    parts = tuple(Part(f"{name}.", _card(name), name) for name in names)
    outline = Outline(title, parts, "independent", thoughts=(f"“{title}” is a list of {len(names)}: one card each.",))
    if language != "en":
        outline = outline.warned(
            PlanWarning("other", "This list is known in English only: cards and captions are English.")
        )
    return outline


def _category(subject: str, count: int | None) -> Outline | None:
    if len(subject) > _LONGEST or len(subject.split()) > 8 or _OTHER_WORDS.search(subject):
        return None
    for pattern, kinds in _CATEGORIES.items():
        match = re.search(
            rf"(?:{_NUMBER}\s+(?:[a-z]+\s+)?|{_NUMBER}(?:种|只|个)|\b)(?:{pattern})(?!\w)", subject, re.IGNORECASE
        )
        if match is None:
            continue
        said = number_of(match[1] or match[2] or "") if match[1] or match[2] else None
        wanted = said or count or min(4, len(kinds))
        chosen = kinds[:wanted]
        backdrop = shared_backdrop(chosen)
        parts = tuple(
            Part(sentence(f"{article(noun(kind))} {noun(kind)}"), _pictured(kind, backdrop), noun(kind).capitalize())
            for kind in chosen
        )
        word = re.sub(r"\W+", " ", match[0]).strip()
        outline = Outline(
            f"{in_words(len(chosen)).capitalize()} {word.split(' ')[-1]}", parts, "independent",
            thoughts=(f"Nobody is named, so I choose {in_words(len(chosen))} that everybody knows.",),
        )  # fmt: skip
        if said and said > len(kinds):
            outline = outline.warned(
                PlanWarning("step_count", f"{said} were asked for; {len(kinds)} of them can be drawn here.")
            )
        return outline
    return None


def shared_backdrop(kinds: Iterable[str]) -> str:
    """Where a group of things is shown so that the pictures go together: where most of them usually are.

    Example:
        >>> shared_backdrop(["cat", "dog", "fish"])
        'meadow'
    """
    usual = Counter(
        KINDS[kind].backdrop
        for kind in kinds
        if kind in KINDS and KINDS[kind].backdrop != "paper" and not BACKDROPS[KINDS[kind].backdrop].floats
    )
    return usual.most_common(1)[0][0] if usual else "paper"


def _pictured(kind: str, backdrop: str) -> Scene:
    own = KINDS[kind].backdrop
    thing = Thing(id=kind.replace(" ", "_"), kind=kind, size="large", at="middle")
    # A fish stays in the water, whatever the others do.
    return Scene(backdrop=own if BACKDROPS[own].floats or own == "sea" else backdrop, things=(thing,))


def _scene(thing: Thing) -> Scene:
    named = thing.model_copy(update={"id": thing.kind.replace(" ", "_")})
    known = KINDS.get(thing.kind)
    return Scene(backdrop=known.backdrop if known else "paper", things=(named,))


def _card(text: str) -> Scene:
    return Scene(things=with_ids([Thing(id="?", kind="card", label=text, size="large", at="middle")]))
