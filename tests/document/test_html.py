"""The page: one file, nothing from elsewhere, and no word of a model that could become markup."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.document import Document
from langgraph_interleave.document.pictures import Embedded
from langgraph_interleave.document.text import clean, one_line
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    CheckResult,
    Critique,
    ImagePart,
    PlanRecord,
    Request,
    Scores,
    StyleGuide,
    TextPart,
)

VOID = {"meta", "link", "img", "rect"}
#: Tags that depend on words by design: changed words are marked in prompts.
MARKS = {"ins", "del"}


class Reader(HTMLParser):
    """Tags with their attributes, text by tag, and a check that every tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), "an attribute twice"
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def skeleton(self) -> list[tuple[str, tuple[str, ...]]]:
        return [
            (tag, tuple(sorted(name for name in attributes if name not in ("lang", "dir"))))
            for tag, attributes in self.tags
            if tag not in MARKS
        ]


def test_golden_page(bean: Document, golden: Callable[[str, str], None]) -> None:
    golden("document/bean.html", bean.to_html())


def test_golden_fragment(bean: Document, golden: Callable[[str, str], None]) -> None:
    golden("document/bean_fragment.html", bean.fragment())


def test_the_page_loads_nothing_and_lets_nothing_be_loaded(bean: Document) -> None:
    html = bean.to_html()
    page = Reader(html)
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    style = html[html.index("<style>") + 7 : html.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r"url\(|@import|</", style)
    for tag, attributes in page.tags:
        assert tag not in {"script", "iframe", "object", "embed", "form", "base"}
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href"):
            address = attributes.get(name, "#")
            assert re.match(r"#lgi-|data:image/(png|jpeg|webp);base64,|data:,$|#$", address), address


def test_the_page_is_a_well_formed_document(bean: Document) -> None:
    html = bean.to_html()
    page = Reader(html)
    assert html.startswith("<!DOCTYPE html>")
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == 1
    assert len(page.all("main")) == 1
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        assert link["href"].removeprefix("#") in ids
    for _, attributes in page.tags:
        for name in attributes.get("aria-labelledby", "").split():
            assert name in ids
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_every_picture_has_a_text_and_its_size(bean: Document) -> None:
    images = Reader(bean.to_html()).all("img")
    assert len(images) == 1 + 3 + 11
    for image in images:
        assert image["alt"].strip()
        assert (image["width"], image["height"]) == ("12", "8")
    # The caption is read out anyway; the instruction says what can be seen.
    assert "One bean above a clay pot." in [image["alt"] for image in images]


@pytest.mark.parametrize(
    ("size", "shape"), [((64, 64), "tiny"), ((128, 90), "tiny"), ((129, 64), "small"), ((400, 300), "wide"),
                        ((300, 400), "tall")],
)  # fmt: skip
def test_the_smallest_pictures_are_enlarged_pixel_by_pixel(size: tuple[int, int], shape: str, bean: Document) -> None:
    assert Embedded("", "data:", *size).shape == shape
    assert re.search(r"\.lgi-tiny \{[^}]*image-rendering: pixelated", bean.to_html())


def test_captions_and_pictures_come_in_order(bean: Document) -> None:
    html = bean.to_html()
    places = [html.index(f'class="lgi-caption lgi-words" dir="auto">{words}') for words in (
        "Push one bean in", "Water gently", "First the root grows", "After ten days", "Pods hang",
    )]  # fmt: skip
    assert places == sorted(places)
    for step in bean.steps:
        if step.image is not None:
            assert base64.b64encode(bean.artifacts.get(step.image)).decode() in html


def test_what_happened_is_folded_away(bean: Document) -> None:
    page = Reader(bean.to_html())
    assert not [fold for fold in page.all("details") if "open" in fold]
    text = one_line(page.text)
    for words in (
        "accepted at once", "accepted at the second attempt", "2 attempts, none accepted", "The pot is gone.", "Before",
        "After", "Refined prompt", "Rejected by a check", "the picture is one flat colour",
        "Rejected, kept all the same",
        "What the critic would have tried next Two equal leaves.", "7.5 / 10", "6.25 / 10",
        "Builds on step 1, picture 1 of",
        "Ask for something else.",
    ):  # fmt: skip
        assert words in text, words


def test_marks_and_numbers_are_in_the_open(bean: Document) -> None:
    html = re.sub(r"<details.*?</details>", "", bean.to_html(), flags=re.DOTALL)
    text = one_line(Reader(html).text)
    for words in (
        "6 steps · 3 pictures · 2 redrawn", "Not everything worked out", "No attempt was accepted of step 4.",
        "The provider refused to draw step 5.", "Skipped: step 6.",
        "Not accepted The critic accepted none of 2 attempts",
        "Refused The provider refused to draw this.", "Skipped This step was skipped.", "Sketches drawn by code;",
        "12 (1 planner, 6 backend, 5 critic; 2 from the ledger, not paid again; 1 ahead of time and unused)",
        "5,120 in, 2,210 out", "12 s", "$0.031",
    ):  # fmt: skip
        assert words in text, words


def test_a_complete_document_is_not_called_anything_else(make: Callable[..., Document]) -> None:
    page = make(step={"caption": "A bean."}).to_html()
    assert "lgi-status" not in page[page.index("<body>") :]
    assert "Not everything" not in page


def test_a_title_of_the_callers_own(bean: Document) -> None:
    page = bean.to_html(title="Beans <for> beginners")
    assert "<title>Beans &lt;for&gt; beginners</title>" in page
    assert "How to plant a bean" not in page
    assert "How to plant a bean" in bean.to_html(title="  ")


def test_the_fragment_can_be_put_into_another_page(bean: Document, make: Callable[..., Document]) -> None:
    one, other = bean.fragment(), make(run_id="other").fragment()
    page = Reader(f"<html><body>{one}{other}</body></html>")
    assert not {"html", "head", "body", "main", "h1", "title", "meta"} & {tag for tag, _ in Reader(one).tags}
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all(name.startswith("lgi-") for name in ids)
    for _, attributes in Reader(one).tags:
        assert all(name.startswith("lgi") for name in attributes.get("class", "lgi").split())
    style = re.sub(r"/\*.*?\*/", "", one[one.index("<style>") + 7 : one.index("</style>")])
    for selector in re.findall(r"(?:^|[{}])\s*([^{}@]+?)\s*\{", style):
        assert all(part.strip().startswith(".lgi") for part in selector.split(",")), selector


@pytest.mark.parametrize(
    ("caption", "language", "own"),
    [("种豆子", 'lang="zh"', 'lang="en"'), ("زرع الفول", 'lang="ar" dir="rtl"', 'lang="en" dir="ltr"')],
)
def test_the_language_is_declared_and_our_own_words_as_english(
    make: Callable[..., Document], caption: str, language: str, own: str
) -> None:
    document = make(text=caption, title=None, step={"caption": caption})
    assert f"<html {language}>" in document.to_html()
    assert f'<footer class="lgi-foot" {own}>' in document.to_html()
    assert f'<div class="lgi lgi-fragment" {language}>' in document.fragment()


def test_the_language_asked_for_wins(make: Callable[..., Document], store: ArtifactStore) -> None:
    record = PlanRecord(run_id="r", request=Request(parts=(TextPart(text="x"),)), settings={"language": "German"})
    document = make(plan=store.put_json(record.model_dump(mode="json")))
    assert '<html lang="de">' in document.to_html()


HOSTILE = (
    "<script>alert(1)</script>",
    "</style></details><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "javascript:alert(1)",
    "{{ 7*7 }}{% raw %}",
    "&lt;b&gt; & &amp; &#x3c;",
    "\u202egnp.exe\u2066 \x1b[31m \0 \ud800 \ufeff",
    "<!-- --> ]]> <![CDATA[",
    "a" * 400,
    "</title><svg/onload=alert(1)>",
)
WORDS = st.sampled_from(HOSTILE) | st.text(st.characters(), max_size=40)


def written_by(text: str, store: ArtifactStore, picture: ArtifactRef, make: Callable[..., Document]) -> Document:
    """A document in which everything that users or models write is `text`."""
    words = f"x{text}x"
    storable = words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    first = Attempt(
        number=0, prompt=storable, image=picture, references=(picture, picture), warnings=(storable,),
        checks=(CheckResult(name="c", passed=False, reason=storable),),
        critique=Critique(verdict="revise", reasoning=storable, scores=Scores(quality=3), warnings=(storable,)),
    )  # fmt: skip
    last = first.model_copy(
        update={
            "number": 1,
            "prompt": f"{storable} again",
            "critique": Critique(verdict="revise", reasoning=storable, refined_prompt=storable),
        }
    )
    return make(
        title=words,
        attempts=(first, last),
        outcome="exhausted",
        kept=1,
        step={"title": words, "caption": words, "alt": words + "alt", "mark": words, "image": picture},
        request=Request(parts=(TextPart(text=words), ImagePart(image=picture, name=words))),
        style_guide=StyleGuide(look=words, palette=words, characters=words, keep=words),
        notes=(words,),
        warnings=(words,),
        run_outcome="partial",
        run_id=words,
    )


@given(text=WORDS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_words_become_markup(text: str, store: ArtifactStore, make: Callable[..., Document]) -> None:
    picture = store.put(PNG, mime="image/png", width=1, height=1)
    calm = written_by("calm", store, picture, make)
    hostile = written_by(text, store, picture, make)
    for shown in (Document.to_html, Document.fragment):
        page = Reader(shown(hostile))
        assert page.skeleton == Reader(shown(calm)).skeleton
        assert one_line(f"x{text}x") in one_line(page.text)
        for tag, attributes in page.tags:
            assert re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*", attributes.get("lang", "en")), tag
        shown_words = page.text + "".join(image["alt"] for image in page.all("img"))
        assert shown_words == clean(shown_words)


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415478da6338212605000302010191bd4e5c"
    "0000000049454e44ae426082"
)
