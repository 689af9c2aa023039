"""The page as a browser sees it: everything decoded, nothing blocked, nothing wider than a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.document import Document
from langgraph_interleave.types import ArtifactRef, Attempt, Critique

pytestmark = pytest.mark.browser

_SMALL = """() => ({
    scroll: document.documentElement.scrollWidth,
    broken: [...document.images].filter(image => !(image.complete && image.naturalWidth > 0)).length,
    images: document.images.length,
    wide: [...document.querySelectorAll('body *')].filter(
        node => node.getBoundingClientRect().right > innerWidth + 1).map(node => node.className),
})"""
#: The lowest contrast between any words and what lies behind them, by the WCAG formula.
_CONTRAST = """() => {
    const rgba = text => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = node => {
        for (; node; node = node.parentElement) {
            const color = rgba(getComputedStyle(node).backgroundColor);
            if (color.length === 3 || color[3] === 1) return color;
        }
        return [255, 255, 255];
    };
    let worst = [21, ''];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || !node.checkVisibility()) continue;
        const pair = [light(rgba(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
        const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
        if (ratio < worst[0]) worst = [ratio, node.className];
    }
    return worst;
}"""


def test_every_picture_is_decoded_and_every_caption_can_be_read(
    opened: Callable[..., Any], bean: Document, tmp_path: Path
) -> None:
    page = opened(bean.save(tmp_path))
    found = page.evaluate(_SMALL)
    assert found["broken"] == 0
    assert found["images"] == 15
    for step in bean.steps:
        if step.caption:
            assert page.get_by_text(step.caption.split("\n")[0], exact=False).last.is_visible()
    assert page.get_by_text("Refined prompt").first.is_hidden()
    page.get_by_text("accepted at the second attempt").click()
    assert page.get_by_text("Refined prompt").first.is_visible()


@pytest.mark.parametrize("unfolded", [False, True])
def test_a_phone_never_scrolls_sideways(
    opened: Callable[..., Any], make: Callable[..., Document], bean: Document, tmp_path: Path, *, unfolded: bool
) -> None:
    missing = ArtifactRef(sha256="e" * 64, mime="image/png", size=9, width=2, height=2)
    long = "Donaudampfschifffahrtsgesellschaftskapitän" * 4
    attempts = (
        Attempt(number=0, prompt=long, image=missing, references=(missing,),
                critique=Critique(verdict="revise", reasoning="x" * 300)),
    )  # fmt: skip
    hard = make(
        title=long, attempts=attempts, outcome="exhausted", kept=0, notes=(long,), run_id="r" * 64,
        step={"title": long, "caption": "https://example.org/" + "a" * 200, "image": missing, "mark": long},
    )  # fmt: skip
    for name, document in (("bean", bean), ("hard", hard)):
        page = opened(document.save(tmp_path / name), width=360)
        if unfolded:
            page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
        found = page.evaluate(_SMALL)
        assert found["scroll"] <= 360
        assert found["wide"] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_in_light_and_dark(
    opened: Callable[..., Any], bean: Document, tmp_path: Path, scheme: str
) -> None:
    page = opened(bean.save(tmp_path), scheme=scheme)
    paper = page.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor")
    assert paper == {"light": "rgb(252, 251, 248)", "dark": "rgb(23, 22, 20)"}[scheme]
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    ratio, where = page.evaluate(_CONTRAST)
    assert ratio >= 4.5, where


def test_nothing_a_model_writes_is_run(
    opened: Callable[..., Any], make: Callable[..., Document], store: ArtifactStore, tmp_path: Path
) -> None:
    attack = "\"'></style></title><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    svg = store.put(b"<svg xmlns='http://www.w3.org/2000/svg' onload=\"document.title='owned'\"/>", mime="image/png")
    document = make(
        title=f"Calm {attack}", notes=(attack,), step={"title": attack, "caption": attack, "alt": attack, "image": svg}
    )
    page = opened(document.save(tmp_path))
    assert page.title() == f"Calm {attack}"
    assert page.locator("script").count() == 0
    assert page.locator("img").count() == 0


def test_a_fragment_keeps_its_looks_and_leaves_the_host_alone(
    opened: Callable[..., Any], bean: Document, tmp_path: Path
) -> None:
    host = tmp_path / "host.html"
    host.write_text(
        "<!DOCTYPE html><meta charset=utf-8><link rel=icon href='data:,'>"
        f"<style>body {{ font: 20px monospace }} h2 {{ color: red }}</style><p id=mine>Mine</p>{bean.fragment()}",
        encoding="utf-8",
    )
    page = opened(host)
    assert page.evaluate(_SMALL)["broken"] == 0
    assert page.evaluate("getComputedStyle(document.querySelector('#mine')).fontFamily") == "monospace"
    title = "getComputedStyle(document.querySelector('.lgi-title'))"
    assert page.evaluate(f"{title}.color") == "rgb(35, 33, 29)"
