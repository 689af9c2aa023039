"""Links to artifacts: signed, so that nobody makes them up, and expiring, so that a leaked one ends."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Literal
from urllib.parse import urlsplit

from langgraph_interleave.artifacts import digest_of
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types import ArtifactRef

#: How long a link holds where nobody says otherwise: conversations are opened again within a week.
LIFETIME_S = 7 * 24 * 3600.0

#: What a link turned out to be. `bad` is everything that was not signed here, for whatever reason.
Verdict = Literal["good", "expired", "bad"]

_LONGEST_S = 3660 * 24 * 3600.0

_PURPOSE = b"interleave artifact link 1"
_LEAST_SECRET = 16
#: A link's end is rounded up to a multiple of this part of its lifetime, so that the same picture
#: keeps the same address for a while, and browsers need not load it again.
_PARTS = 8
_EXPIRES = re.compile(r"[1-9][0-9]{0,11}")


class Links:
    """Makes and checks links to artifacts.

    A link is `<base_url>/artifacts/<digest>?exp=<seconds since 1970>&sig=<HMAC-SHA256>`. The signature
    covers digest, end, and the subject, which is not part of the address: a link that was made for a
    subject is good only for requests of that subject. Guaranteed: without the secret nobody makes a
    link, changes its end or its digest, and checking takes the same time wherever a signature differs.
    Not guaranteed: that whoever holds a link without a subject is the one it was made for.

    Args:
        secret: At least 16 bytes, the same in every process that makes or answers links.
        base_url: Where the app is reached from outside, `https://host[/prefix]`; empty for links
            relative to the host.
        lifetime_s: Seconds a link holds at least; up to an eighth longer.
        subject: Asked who a link is for when one is made; by default, and where it says `None`,
            links are for whoever holds them.
        clock: Seconds since 1970.

    Raises:
        ConfigError: The secret is too short, the lifetime no number of seconds up to ten years, or the address
            none of the web, or with a password in it.

    Example:
        >>> links = Links("0123456789abcdef", base_url="https://pictures.example.org")
        >>> links.url("ab" * 32).startswith("https://pictures.example.org/artifacts/abab")
        True
    """

    def __init__(
        self,
        secret: str | bytes,
        *,
        base_url: str = "",
        lifetime_s: float = LIFETIME_S,
        subject: Callable[[], str | None] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._secret = secret.encode() if isinstance(secret, str) else bytes(secret)
        if len(self._secret) < _LEAST_SECRET:
            raise ConfigError(
                f"The secret for links is {len(self._secret)} bytes long; {_LEAST_SECRET} are the least.",
                remedy="Make one with `openssl rand -hex 32`.",
            )
        if not 1 <= lifetime_s <= _LONGEST_S:  # nor what is no number
            raise ConfigError(
                f"Links that hold {lifetime_s:g} s are of no use.", remedy="Let them hold a second to ten years."
            )
        if base_url and not _is_server(base_url):
            raise ConfigError(
                f"{_without_user(base_url)!r} is not the address of a server.",
                remedy="Write it as https://host, https://host:port or https://host/prefix, without user or password.",
            )
        self._base_url = base_url.rstrip("/")
        self._lifetime_s = lifetime_s
        self._subject = subject
        self._clock = clock

    def url(self, ref: ArtifactRef | str, *, subject: str | None = None) -> str:
        """The link to an artifact.

        Args:
            ref: A reference, a digest, or an `artifact://` address.
            subject: Who it is for.

        Raises:
            ConfigError: `ref` is no reference.
        """
        digest = digest_of(ref)
        part = max(1.0, self._lifetime_s / _PARTS)
        expires = str(int(-(-(self._clock() + self._lifetime_s) // part) * part))
        return f"{self._base_url}/artifacts/{digest}?exp={expires}&sig={self._sign(digest, expires, subject)}"

    def bound(self) -> Callable[[ArtifactRef | str], str]:
        """A function that makes links for whoever is asking now; it may be called from anywhere later."""
        subject = self._subject() if self._subject is not None else None
        return lambda ref: self.url(ref, subject=subject)

    def check(self, digest: str, expires: str, signature: str, *, subjects: Sequence[str | None] = (None,)) -> Verdict:
        """Judge a link that came in.

        Args:
            digest: From its path.
            expires: From its query.
            signature: From its query.
            subjects: Whoever is asking may use links made for any of these; `None` stands for links
                made for nobody in particular.
        """
        if not _EXPIRES.fullmatch(expires):
            return "bad"
        given = signature.encode("utf-8", "surrogatepass")
        # Every one is compared, so that time says nothing about which of them it was.
        good = [hmac.compare_digest(self._sign(digest, expires, each).encode(), given) for each in subjects]
        if not any(good):
            return "bad"
        return "good" if int(expires) > self._clock() else "expired"

    def left(self, expires: str) -> int:
        """Whole seconds until a link ends, 0 when it has."""
        return max(0, int(int(expires) - self._clock()))

    def _sign(self, digest: str, expires: str, subject: str | None) -> str:
        # The subject is last: neither a digest nor a number can hold the line break before it.
        said = b"\n".join(
            [
                _PURPOSE,
                digest.encode("utf-8", "surrogatepass"),
                expires.encode(),
                (subject or "").encode("utf-8", "surrogatepass"),
            ]
        )
        return urlsafe_b64encode(hmac.new(self._secret, said, hashlib.sha256).digest()).rstrip(b"=").decode()


def _is_server(url: str) -> bool:
    """Whether links can begin with it: everybody who gets one reads all of it."""
    try:
        parts = urlsplit(url)
        well_formed = parts.port is None or parts.port > 0
    except ValueError:
        return False
    named = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    return well_formed and named and not parts.query and not parts.fragment


def _without_user(url: str) -> str:
    start, at, rest = url.rpartition("@")
    return f"{start.partition('//')[0]}//…@{rest}" if at else url
