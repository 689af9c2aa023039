"""What comes out of the sanitizer is on the list, whatever goes in."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import re
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from langgraph_interleave.backends.svg.allowed import ATTRIBUTES, ELEMENTS
from langgraph_interleave.backends.svg.asking import drawing_in
from langgraph_interleave.backends.svg.renderer import render
from langgraph_interleave.backends.svg.sanitizer import Drawing, clean
from langgraph_interleave.backends.svg.source import shown
from langgraph_interleave.backends.svg.styles import declarations_of, sheet_of, value_of
from langgraph_interleave.backends.svg.tree import Unsound
from langgraph_interleave.imaging.drawings import KEY, source_of, with_source
from langgraph_interleave.testing import noise_card

NS = "{http://www.w3.org/2000/svg}"
DOT = base64.b64encode(noise_card("dot", side=8).data).decode()
OUTSIDE = re.compile(r"url\(\s*[\"']?[^#\"'\s]")
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 100 100">'


def whole(body: str) -> str:
    return f"{HEAD}{body}</svg>"


def safe(svg: str) -> bool:
    """Elements, attributes and references are those that may be."""
    root = ET.fromstring(svg)
    for element in root.iter():
        if element.tag.removeprefix(NS) not in ELEMENTS:
            return False
        for name, value in element.attrib.items():
            plain = name.replace("{http://www.w3.org/XML/1998/namespace}", "xml:")
            if plain == "href":
                if not re.fullmatch(r"#[\w.:-]+|data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/=]+", value):
                    return False
            elif plain not in ATTRIBUTES or "javascript" in value.lower() or OUTSIDE.search(value):
                return False
        if element.tag == f"{NS}style" and (
            re.search(r"[@\\]", element.text or "") or OUTSIDE.search(element.text or "")
        ):
            return False
    return True


#: What must be refused, with words of the reason.
REFUSED = {
    "entity bomb": (
        '<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><svg viewBox="0 0 9 9"><text>&b;</text></svg>',
        "DOCTYPE|entities",
    ),
    "external entity": (
        '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg viewBox="0 0 9 9"><text>&x;</text></svg>',
        "DOCTYPE|entities",
    ),
    "parameter entity": (
        '<!DOCTYPE svg [<!ENTITY % x SYSTEM "http://127.0.0.1/x.dtd">%x;]><svg viewBox="0 0 9 9"/>',
        "DOCTYPE|entities",
    ),
    "entity of an outer DTD": (
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://example.org/x"><svg viewBox="0 0 9 9">&secret;</svg>',
        "entities",
    ),
    "local file": (whole('<image href="file:///etc/hostname" width="9" height="9"/>'), "Only pictures"),
    "path": (whole('<image xlink:href="/etc/hostname.png" width="9" height="9"/>'), "Only pictures"),
    "relative path": (whole('<image href="secret.png" width="9" height="9"/>'), "Only pictures"),
    "web picture": (whole('<image href="https://example.org/a.png" width="9" height="9"/>'), "Only pictures"),
    "no picture": (whole('<image width="9" height="9"/>'), "no picture"),
    "nested drawing": (whole('<image href="data:image/svg+xml;base64,PHN2Zy8+"/>'), "Only pictures"),
    "web page": (whole('<image href="data:text/html,&lt;script&gt;x&lt;/script&gt;"/>'), "Only pictures"),
    "drawing called a png": (whole('<image href="data:image/png;base64,PHN2Zy8+"/>'), "broken"),
    "broken base64": (whole('<image href="data:image/png;base64,????"/>'), "broken"),
    "use of a file": (whole('<use href="other.svg#a"/>'), "Only #id"),
    "use over the web": (whole('<use xlink:href="http://example.org/x.svg#a"/>'), "Only #id"),
    "gradient elsewhere": (whole('<linearGradient href="x.svg#g"/>'), "Only #id"),
    "fill elsewhere": (whole('<rect fill="url(http://example.org/x#a)" width="9" height="9"/>'), r"Only url\(#id\)"),
    "filter of a file": (whole('<g filter="url(file:///x.svg#f)"/>'), r"Only url\(#id\)"),
    "drawn in itself": (whole('<g id="a"><use href="#a"/></g>'), "inside itself"),
    "drawn in each other": (
        whole('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>'),
        "inside itself",
    ),
    "pattern in itself": (
        whole('<pattern id="p" width="1" height="1"><rect fill="url(#p)" width="1" height="1"/></pattern>'),
        "inside itself",
    ),
    "doubling": (
        whole(
            '<rect id="r0" width="1" height="1"/>'
            + "".join(f'<g id="r{n}">{f"""<use href="#r{n - 1}"/>""" * 10}</g>' for n in range(1, 9))
        ),
        "multiply",
    ),
    "too deep": (whole("<g>" * 500 + "</g>" * 500), "nest deeper"),
    "too deep in what is left out": (whole("<x>" * 500 + "</x>" * 500), "nest deeper"),
    "too many": (whole('<rect width="1" height="1"/>' * 7000), "more than 6000"),
    "too long": (whole(f"<desc>{'x' * 500_000}</desc>"), "at most 400000"),
    "huge": ('<svg viewBox="0 0 1e30 1e30"/>', "viewBox"),
    "infinite": ('<svg viewBox="0 0 inf 5"/>', "viewBox"),
    "not a number": ('<svg viewBox="0 0 nan nan"/>', "viewBox"),
    "negative": ('<svg viewBox="0 0 -5 5"/>', "viewBox"),
    "empty": ('<svg viewBox="0 0 0 0"/>', "viewBox"),
    "a strip": ('<svg viewBox="0 0 10000 1"/>', "strip"),
    "no size": ("<svg/>", "viewBox"),
    "percent": ('<svg width="100%" height="100%"/>', "viewBox"),
    "html": ("<html><body/></html>", "outermost"),
    "broken": ('<svg viewBox="0 0 9 9"><rect></svg>', "well-formed"),
    "nothing": ("", "well-formed"),
    "null": ('<svg viewBox="0 0 9 9">\0</svg>', "well-formed"),
    "twice": ('<svg viewBox="0 0 9 9" viewBox="0 0 1 1"/>', "well-formed"),
}

#: What is left out, with what must not be there any more.
LEFT_OUT = {
    "script": ("<script>alert(1)</script>", "alert"),
    "script in CDATA": ("<script><![CDATA[alert(1)]]></script>", "alert"),
    "script of another name": ('<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>', "alert"),
    "script from elsewhere": ('<script href="https://example.org/x.js"/>', "example"),
    "page": ("<foreignObject><body onload='x'>hi</body></foreignObject>", "hi"),
    "frame": ('<foreignObject><iframe src="http://example.org"/></foreignObject>', "example"),
    "handler": ('<rect onclick="alert(1)" onload="x()" width="9" height="9"/>', "alert"),
    "link": ('<a href="javascript:alert(1)"><rect width="9" height="9"/></a>', "alert"),
    "animation": ('<rect width="9" height="9"><set attributeName="href" to="javascript:x"/></rect>', "javascript"),
    "animated link": ('<animate attributeName="href" values="file:///etc/passwd"/>', "passwd"),
    "picture in a filter": ('<filter id="f"><feImage href="file:///etc/passwd"/></filter>', "passwd"),
    "style from elsewhere": ("<style>@import url(https://example.org/x.css);</style>", "example"),
    "font from elsewhere": ("<style>@font-face{font-family:x;src:url(file:///x.ttf)}</style>", "file"),
    "picture in a sheet": ("<style>rect{fill:url(https://example.org/x.svg#a)}</style>", "example"),
    "escaped address": (r"<style>rect{fill:u\72l(https://example.org/x)}</style>", "example"),
    "picture in a style": ('<rect style="fill:url(file:///x#a);stroke:red" width="9" height="9"/>', "file"),
    "expression": ('<rect style="width:expression(alert(1))" width="9" height="9"/>', "alert"),
    "behaviour": ('<rect style="behavior:url(#x);-moz-binding:url(x)" width="9" height="9"/>', "behavior"),
    "instruction": ('<?xml-stylesheet href="file:///x.css"?>', "file"),
    "instruction of PHP": ("<?php echo 1 ?>", "php"),
    "comment": ("<!-- secret -->", "secret"),
    "metadata": ("<metadata><rdf:RDF xmlns:rdf='x'>secret</rdf:RDF></metadata>", "secret"),
    "odd id": ('<g id="a&quot;&gt;&lt;script"><rect width="9" height="9"/></g>', "script"),
    "cursor": ('<rect cursor="url(http://example.org/c.cur)" width="9" height="9"/>', "example"),
    "base": ('<g xml:base="file:///etc/"><rect width="9" height="9"/></g>', "etc"),
    "stray words": ("tell me <g>everything</g>", "everything"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_attack_is_refused_with_a_reason(name: str) -> None:
    text, says = REFUSED[name]
    began = time.monotonic()
    with pytest.raises(Unsound, match=says) as raised:
        clean(text)
    assert time.monotonic() - began < 1
    assert "example.org" not in raised.value.reason
    assert "/etc" not in raised.value.reason


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_not_on_the_list_is_left_out(name: str) -> None:
    text, gone = LEFT_OUT[name]
    svg = clean(whole(text)).svg()
    assert gone not in svg
    assert safe(svg)


def test_a_drawing_stays_as_it_was() -> None:
    body = (
        '<defs><linearGradient id="sky"><stop offset="0" stop-color="#fff"/></linearGradient>'
        '<marker id="tip" orient="auto"><path d="M0 0L4 2L0 4z"/></marker></defs>'
        "<style>.wire{stroke:#222;stroke-width:2;fill:none}</style>"
        '<g id="circuit" transform="translate(3 4)"><path class="wire" d="M1 1 H 9" marker-end="url(#tip)"/>'
        '<rect width="9" height="9" fill="url(#sky)" style="stroke:red"/>'
        '<text x="5" y="6" font-family="sans-serif" xml:space="preserve">R1 &lt; 5 Ω &amp; <tspan>x</tspan></text></g>'
        f'<image href="data:image/png;base64,{DOT}" width="8" height="8"/><use href="#circuit"/>'
    )
    drawing = clean(whole(body))
    assert drawing.body == body
    assert drawing.left_out == ()
    assert drawing.box == (0, 0, 100, 100)
    assert "".join(drawing.written) == "R1 < 5 Ω & x"
    assert clean(drawing.svg()).svg() == drawing.svg()


def test_the_habits_of_models_are_understood() -> None:
    sloppy = (
        '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">'
        '<svg width="80px" height="40" version="1.1" style="background: #eef; font: bold 12px \'Times New Roman\'">'
        '<svg:rect xlink:href="#x" width="9" height="9" data-name="Layer 1" aria-label="x"/>'
        '<text font-family="Arial">a</text><text font-family="Courier New, monospace">b</text></svg>'
    )
    drawing = clean(sloppy)
    assert drawing.svg(160, 80).startswith(
        '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="80" viewBox="0 0 80 40" style="font-weight:bold;'
    )
    assert '<rect x="0" y="0" width="80" height="40" fill="#eef"/>' in drawing.body
    assert drawing.families == {"sans-serif", "serif", "monospace"}
    assert drawing.bold


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a&nbsp;b", "a\xa0b"), ("R&D", "R&D"), ("&", "&"), ("5 &times; 3 &le; 20 &Omega;", "5 × 3 ≤ 20 Ω"),
        ("&amp;&lt;&#65;&#x42;", "&<AB"), ("a & b; c", "a & b; c"), ("&LT;script&GT;", "<script>"),
        ("AT&T;", None), ("&unknown;", None),
    ],
)  # fmt: skip
def test_characters_by_their_names_in_html(written: str, read: str | None) -> None:
    text = f'<svg viewBox="0 0 9 9"><text>{written}</text></svg>'
    if read is None:
        with pytest.raises(Unsound, match="well-formed"):
            clean(text)
        return
    drawing = clean(text)
    assert "".join(drawing.written) == read
    assert safe(drawing.svg())


def test_pictures_are_placed_by_name() -> None:
    url = f"data:image/png;base64,{DOT}"
    drawing = clean(whole('<image href="picture:1" width="8" height="8"/>'), {"picture:1": url})
    assert url in drawing.svg()
    text, names = shown(drawing.svg())
    assert 'href="kept:1"' in text
    assert names == {"kept:1": url}
    assert clean(text, names).svg() == drawing.svg()
    with pytest.raises(Unsound, match="picture:1"):
        clean(whole('<image href="picture:2"/>'), {"picture:1": url})


@pytest.mark.parametrize(
    "body",
    [
        f"<style>{'a' * 300_000}</style>", f"<style>{'/*' * 150_000}</style>", f"<style>{'a{' * 150_000}</style>",
        f"<style>{'a,' * 150_000}{{fill:red}}</style>", f'<path d="{"a" * 300_000} ( x"/>',
        f'<path d="{"(" * 300_000}"/>',
        f'<g style="{"x:" * 150_000}"/>', f'<g style="font:{"1" * 300_000}"/>', f'<g fill="{" " * 300_000}url("/>',
        f'<g fill="{"url(" * 75_000}"/>', f"<text>{'&amp' * 75_000}</text>", f"<text>{'&a' * 150_000}</text>",
        f"<style>{'url(#a)' * 40_000}</style>", f'<g id="{"a" * 300_000}" class="{"b " * 9_000}"/>',
        f'<image href="{"data:image/png;base64," * 13_000}"/>', f"<!--{'-' * 3 * 90_000}",
    ],
    ids=lambda body: body[:18],
)  # fmt: skip
def test_long_nonsense_is_read_in_no_time(body: str) -> None:
    began = time.process_time()
    with contextlib.suppress(Unsound):
        clean(whole(body))
    with contextlib.suppress(Unsound):
        drawing_in(body)
    assert time.process_time() - began < 1


NAMES = st.sampled_from(
    ["svg", "g", "rect", "script", "use", "image", "style", "text", "foreignObject", "a", "x:y", "pattern", "feImage"]
)
VALUES = st.one_of(
    st.sampled_from(
        ["#a", "url(#a)", "url(x)", "javascript:x", "file:///etc/passwd", "data:text/html,x", "a", "1", "rgb(1,2,3)",
         "u\\72l(x)", "@import x", "data:image/svg+xml,<svg/>", "URL( 'http://x' )", "expression(1)", "}x{fill:url(y)"]
    ),
    st.text(max_size=20),
)  # fmt: skip
ATTRIBUTE_NAMES = st.sampled_from(
    ["id", "href", "xlink:href", "style", "fill", "class", "onclick", "width", "d", "filter", "src", "xml:base"]
)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


@st.composite
def elements(draw: st.DrawFn, depth: int = 0) -> str:
    name = draw(NAMES)
    given_ = draw(st.dictionaries(ATTRIBUTE_NAMES, VALUES, max_size=4))
    attributes = "".join(f' {key}="{escaped(value)}"' for key, value in given_.items())
    inside = (
        escaped(draw(VALUES))
        if depth > 2 or draw(st.booleans())
        else "".join(draw(st.lists(elements(depth + 1), max_size=3)))
    )
    return f"<{name}{attributes}>{inside}</{name}>"


@given(elements())
def test_whatever_goes_in_what_comes_out_is_on_the_list(inside: str) -> None:
    try:
        drawing = clean(whole(inside))
    except Unsound:
        return
    assert safe(drawing.svg())
    assert clean(drawing.svg()).svg() == drawing.svg(), "cleaning what is clean changes nothing"


@given(st.text(max_size=200))
def test_any_text_is_a_drawing_or_unsound(text: str) -> None:
    for given_ in (text, f"<svg viewBox='0 0 1 1'>{text}</svg>", f"<svg viewBox='0 0 1 1'><style>{text}</style></svg>"):
        try:
            assert safe(clean(given_).svg())
        except Unsound:
            continue


@given(st.text(max_size=60))
def test_values_point_nowhere(text: str) -> None:
    for value in (value_of(text), *declarations_of(f"fill:{text}")[0].values(), sheet_of(f"a{{fill:{text}}}")[0]):
        assert value is None or not re.search(r"[\\@<]|://|url\(\s*[\"']?[^#\"'\s)]", value)


@given(st.binary(max_size=300), st.integers(0, 400))
def test_a_damaged_file_holds_no_drawing_or_the_drawing(noise: bytes, at: int) -> None:
    data = with_source(noise_card("x", side=8).data, whole("<rect/>"))
    assert source_of(data) == whole("<rect/>")
    assert source_of(noise) is None
    damaged = data[:at] + noise + data[at:]
    assert source_of(damaged) in (None, whole("<rect/>")) or KEY in noise


def test_a_packed_bomb_is_not_unpacked() -> None:
    data = with_source(noise_card("x", side=8).data, "x" * 30_000_000)
    assert len(data) < 100_000
    assert source_of(data) is None


async def drawn(drawing: Drawing, **options: object) -> Image.Image:
    rendered = await render(drawing, 64, 64, **{"transparent": False, "deadline_s": 20.0, **options})  # type: ignore[arg-type]
    return Image.open(io.BytesIO(rendered.png)).convert("RGBA")


def hand_made(body: str) -> Drawing:
    """A drawing that never saw the sanitizer."""
    return Drawing(body, "", (0, 0, 64, 64), (), False, frozenset(), ())


def test_the_renderer_alone_would_draw_local_files_and_the_sanitizer_stops_it(tmp_path: Path) -> None:
    """Why the list is needed: what resvg does with an address it is given."""
    secret = tmp_path / "secret.png"
    Image.new("RGB", (8, 8), "red").save(secret)
    body = f'<image href="{secret}" width="64" height="64"/>'
    picture = asyncio.run(drawn(hand_made(body)))
    assert picture.getpixel((32, 32)) == (255, 0, 0, 255), "resvg reads files"
    with pytest.raises(Unsound, match="Only pictures"):
        clean(f'<svg viewBox="0 0 64 64">{body}</svg>')


BLUR = '<filter id="b"><feGaussianBlur stdDeviation="40"/></filter>'
#: Takes minutes, and memory for one picture only.
SLOW = BLUR + '<rect width="64" height="64" filter="url(#b)"/>' * 3000
#: Takes memory for forty large pictures.
LARGE = BLUR + '<g filter="url(#b)">' * 40 + '<rect width="64" height="64"/>' + "</g>" * 40


async def test_what_takes_too_long_is_ended() -> None:
    began = time.monotonic()
    with pytest.raises(Unsound, match=r"longer than 0\.5 s"):
        await render(clean(f'<svg viewBox="0 0 64 64">{SLOW}</svg>'), 2048, 2048, transparent=False, deadline_s=0.5)
    assert time.monotonic() - began < 2


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the memory of a process")
async def test_what_takes_too_much_memory_is_ended() -> None:
    with pytest.raises(Unsound, match="too much memory"):
        await render(clean(f'<svg viewBox="0 0 64 64">{LARGE}</svg>'), 4096, 4096, transparent=False, deadline_s=30)


@pytest.mark.parametrize(
    "body",
    [
        '<style>.a{fill:url(#p)}</style><pattern id="p" width="1" height="1"><rect class="a"/></pattern><g class="a"/>',
        '<path d="M0 0 L1e9 1e9" stroke="red" stroke-dasharray="0.00001"/>',
        '<rect width="1e38" height="1e38" stroke="red" stroke-width="1e38" rx="1e-38"/>',
        '<text y="20" font-size="1e9" letter-spacing="-1e9">words</text>',
        '<style>.m{mask:url(#m)}</style><mask id="m"><rect class="m" width="9" height="9"/></mask><g class="m"/>',
        '<pattern id="q" width="1e-9" height="1e-9"><rect/></pattern><rect width="64" height="64" fill="url(#q)"/>',
    ],
)
async def test_odd_drawings_are_drawn_or_refused_in_time(body: str) -> None:
    began = time.monotonic()
    with contextlib.suppress(Unsound):
        await render(clean(f'<svg viewBox="0 0 64 64">{body}</svg>'), 64, 64, transparent=False, deadline_s=2)
    assert time.monotonic() - began < 4


async def test_the_renderers_words_come_back() -> None:
    with pytest.raises(Unsound, match="renderer says"):
        await drawn(hand_made("<rect"))


async def test_a_drawing_under_way_can_be_stopped() -> None:
    slow = clean(f'<svg viewBox="0 0 64 64">{SLOW}</svg>')
    task = asyncio.create_task(render(slow, 2048, 2048, transparent=False, deadline_s=30))
    await asyncio.sleep(0.3)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 2


async def test_the_ground_is_white_or_transparent() -> None:
    drawing = clean('<svg viewBox="0 0 64 64"><rect width="8" height="8" fill="#00f"/></svg>')
    assert (await drawn(drawing)).getpixel((50, 50)) == (255, 255, 255, 255)
    clear = await drawn(drawing, transparent=True)
    assert clear.getpixel((50, 50))[3] == 0  # type: ignore[index]
    assert clear.getpixel((4, 4)) == (0, 0, 255, 255)


async def test_no_secret_of_the_environment_reaches_the_renderer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spy = tmp_path / "worker.py"
    spy.write_text("import os, sys\nsys.stderr.write(' '.join(sorted(os.environ)))\nsys.exit(3)\n", encoding="utf-8")
    monkeypatch.setattr("langgraph_interleave.backends.svg.renderer._WORKER", spy)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-example")
    with pytest.raises(Unsound, match="PATH") as raised:
        await drawn(hand_made("<g/>"))
    assert "OPENAI" not in raised.value.reason


async def test_without_any_font_the_rest_is_drawn_and_the_gap_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_interleave.backends.svg.fonts.font_for", lambda character, context="": None)
    monkeypatch.setattr("langgraph_interleave.backends.svg.fonts._liked", lambda names: None)
    drawing = clean('<svg viewBox="0 0 64 64"><rect width="64" height="64" fill="red"/><text y="20">Hi</text></svg>')
    rendered = await render(drawing, 64, 64, transparent=False, deadline_s=20)
    assert rendered.fonts.files == ()
    assert "H i" in (rendered.fonts.warning() or "")
    assert Image.open(io.BytesIO(rendered.png)).convert("RGB").getpixel((32, 40)) == (255, 0, 0)
