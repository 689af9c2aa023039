"""The document as HTML: one self-contained page, or a piece for a page of somebody else's."""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from langgraph_interleave.document.pictures import Pictures
from langgraph_interleave.document.text import clean, is_right_to_left
from langgraph_interleave.document.view import View

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = "templates"


def page(view: View, pictures: Pictures) -> str:
    """A whole page. Nothing in it is loaded from elsewhere, and its policy lets nothing be."""
    style = _css("style.css") + _css("page.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    return _render("page.html.jinja", view, pictures, style, level=1, style_hash=f"sha256-{digest}")


def fragment(view: View, pictures: Pictures) -> str:
    """A `div` with its own scoped styles; ids and classes begin with `lgi`."""
    return _render("fragment.html.jinja", view, pictures, _css("style.css"), level=2)


def _render(template: str, view: View, pictures: Pictures, style: str, **more: Any) -> str:
    from markupsafe import Markup

    # What the page says about itself is English, whatever the document is written in.
    leftward = is_right_to_left(view.language)
    foreign = view.language is not None and view.language.lower().split("-")[0] != "en"
    own = ' lang="en" dir="ltr"' if leftward else ' lang="en"' if foreign else ""
    # These two are our own, and the only texts that are not escaped.
    english, safe_style = Markup(own), Markup(style)  # noqa: S704
    return (
        _environment()
        .get_template(template)
        .render(view=view, pictures=pictures, style=safe_style, english=english, leftward=leftward, **more)
    )


@functools.cache
def _environment() -> Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        autoescape=True,
        finalize=_seen,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _seen(value: Any) -> Any:
    """Every text on its way into the page loses what cannot be seen; then it is escaped."""
    return clean(value) if type(value) is str else value


@functools.cache
def _source(name: str) -> str:
    return resources.files("langgraph_interleave.document").joinpath(_TEMPLATES, name).read_text(encoding="utf-8")


def _css(name: str) -> str:
    return _source(name)
