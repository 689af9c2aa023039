"""What clients call things: documents, their versions, their pictures, and the addresses of all of these."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from langgraph_interleave.errors import ConfigError

SCHEME = "interleave://"
ARTIFACT = f"{SCHEME}artifact/"
DOCUMENT = f"{SCHEME}document/"
PAGE = "/html"

_NAME = re.compile(
    r"(?P<document>doc_[0-9a-f]{16})(?:\.v(?P<version>[1-9][0-9]{0,3}))?(?:\.step_(?P<step>[0-9]{1,4}))?"
)
_DIGEST = re.compile(r"[0-9a-f]{64}")
#: Characters of a wrong name that are quoted.
_QUOTED = 60


@dataclass(frozen=True, slots=True)
class Name:
    """`doc_….v2.step_3`: a document, one of its versions (the newest, if none is said), one of its steps.

    `step` is the number the reader sees.
    """

    document: str
    version: int | None = None
    step: int | None = None

    def __str__(self) -> str:
        version = "" if self.version is None else f".v{self.version}"
        return f"{self.document}{version}" + ("" if self.step is None else f".step_{self.step}")


def new_document() -> str:
    """A name nobody guesses, for a new document."""
    return f"doc_{secrets.token_hex(8)}"


def is_name(text: str) -> bool:
    """Whether this can be the name of anything.

    Example:
        >>> is_name("doc_0123456789abcdef.v2.step_3"), is_name("doc_../../etc")
        (True, False)
    """
    return _NAME.fullmatch(text) is not None


def read_name(text: str) -> Name:
    """Read a name.

    Raises:
        ConfigError: It is none.

    Example:
        >>> read_name("doc_0123456789abcdef.v2")
        Name(document='doc_0123456789abcdef', version=2, step=None)
    """
    found = _NAME.fullmatch(text.strip())
    if found is None:
        raise ConfigError(
            f"{quoted(text)} is not the id of a document.",
            remedy="Give the document_id as create_document returned it, such as doc_0123456789abcdef.",
        )
    version, step = found["version"], found["step"]
    return Name(found["document"], int(version) if version else None, int(step) if step else None)


def read_digest(text: str) -> str | None:
    """The digest in `interleave://artifact/…` or `artifact://…`; `None` for anything else."""
    for start in (ARTIFACT, "artifact://"):
        if text.startswith(start):
            digest = text.removeprefix(start)
            return digest if _DIGEST.fullmatch(digest) else None
    return None


def quoted(text: str) -> str:
    """What a client sent, short enough to be told back."""
    return repr(text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…")
