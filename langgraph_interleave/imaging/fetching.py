"""Input pictures by their address: fetched only where somebody asked for that, and read like any other file."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from langgraph_interleave import background, urls
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging.formats import MAX_PIXELS
from langgraph_interleave.imaging.picture import MAX_BYTES, load_image
from langgraph_interleave.types import ImageBytes

#: A picture that somebody waits for, in seconds: redirects, names and all.
FETCH_S = 30.0
_LONGEST_NAME = 80


def is_web_address(text: str) -> bool:
    """Whether somebody meant an address of the web, not a file.

    Example:
        >>> is_web_address("https://example.org/leaf.png"), is_web_address("leaf.png"), is_web_address("file:///x")
        (True, False, False)
    """
    return text.lstrip()[:8].lower().startswith(("http://", "https://"))


async def fetch_image(
    address: str,
    *,
    max_bytes: int = MAX_BYTES,
    max_pixels: int = MAX_PIXELS,
    timeout_s: float = FETCH_S,
    resolve: urls.Resolver | None = None,
) -> tuple[ImageBytes, str]:
    """Fetch a picture from the public web, and make it plain as `load_image` does.

    Only http and https are spoken, on the ports of the web, with hosts all of whose addresses are public, at
    every redirect; no key, cookie or proxy is used. Call it for addresses that were typed or configured by whoever
    runs the program, never for what came in a request.

    Args:
        address: Absolute.
        max_bytes: Largest file taken, in bytes.
        max_pixels: Largest area taken, in pixels.
        timeout_s: For all of it, in seconds.
        resolve: As for `urls.fetch`.

    Returns:
        The picture, and what to call it: the last part of the address, or the host.

    Raises:
        ConfigError: It may not be, or could not be fetched, or is no picture.
    """
    name = _name_of(address)
    try:
        data = await urls.fetch(
            address.strip(), policy="typed", max_bytes=max_bytes, timeout_s=timeout_s, resolve=resolve
        )
    except urls.NotFetched as error:
        raise ConfigError(f"The address of the picture {name!r} {error.reason}", remedy=error.remedy) from error
    return await background.in_thread(load_image, data, name=name, max_pixels=max_pixels, max_bytes=max_bytes), name


def _name_of(address: str) -> str:
    """Words to call a picture by: never the query, which may hold a signature, and never a path."""
    try:
        parts = urlsplit(address.strip())
        last = unquote(parts.path.rstrip("/").rpartition("/")[2]).replace("\\", "/").rpartition("/")[2]
        name = last or parts.hostname or ""
    except ValueError:
        name = ""
    name = "".join(character for character in name if character.isprintable()).strip()
    return name[:_LONGEST_NAME] or "picture"
