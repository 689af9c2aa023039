"""Words of ours in which others are quoted, so that a client that renders Markdown loads and links nothing."""

from __future__ import annotations

import re

from langgraph_interleave.document.text import clean

_MARKUP = re.compile(r"[\\\[\]<>]|\b(?:(?:https?|ftps?)(?=://)|www(?=\.))", re.IGNORECASE)


def plain(text: str) -> str:
    r"""Words as they are, but for what would become a picture, a link or HTML.

    Captions and titles are escaped wholly, as in `document.md`. In what is said for a model to act on, names such
    as `get_document` and `step_2` stay as they are called.

    Example:
        >>> plain("get_document: no '![x](https://example.org/a.png)' <b>")
        "get_document: no '!\\[x\\](https\\://example.org/a.png)' \\<b\\>"
    """
    return _MARKUP.sub(lambda found: found[0] + "\\" if found[0].isalpha() else f"\\{found[0]}", clean(text))
