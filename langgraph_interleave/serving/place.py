"""Where a server keeps its artifacts and how it links to them: read from the environment, once per process."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.serving.links import LIFETIME_S, Links

#: Beside what `langgraph dev` keeps of its threads: who deletes those deletes their pictures too.
FOLDER = Path(".langgraph_api") / "interleave"
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104


@dataclass(frozen=True, slots=True)
class Place:
    """The store of a server and the links into it."""

    artifacts: ArtifactStore
    links: Links


def place_from(environ: Mapping[str, str], folder: Path) -> Place:
    """Open the store and make its links as an environment says.

    - `INTERLEAVE_ARTIFACTS`: a folder, or any fsspec address (`s3://bucket/pictures`).
    - `INTERLEAVE_LINK_SECRET`: signs the links. Without it one is made and kept in the folder, so that
      links survive a restart; for another kind of address it lasts as long as the process.
    - `INTERLEAVE_LINK_DAYS`: how long links hold, 7 by default; fractions are fine.
    - `INTERLEAVE_PUBLIC_URL`: where the server is reached from outside; by default where `langgraph dev`
      says it listens, else links are relative to the host.
    - `INTERLEAVE_BIND_LINKS=1`: a link is good only for the user whose run made it. Needs an `auth` in
      langgraph.json and `"enable_custom_route_auth": true` in its `http`.

    Args:
        environ: The environment.
        folder: Where artifacts go when it names no place.

    Raises:
        ConfigError: A value cannot be used.
    """
    named = environ.get("INTERLEAVE_ARTIFACTS", "").strip()
    local = folder if not named else None if "://" in named else Path(named).expanduser()
    links = Links(
        environ.get("INTERLEAVE_LINK_SECRET", "").strip() or _own_secret(local),
        base_url=_base_url(environ),
        lifetime_s=_lifetime_s(environ.get("INTERLEAVE_LINK_DAYS", "").strip()),
        subject=langgraph_user if _is_set(environ.get("INTERLEAVE_BIND_LINKS", "")) else None,
    )
    artifacts = ArtifactStore(named, links=links) if local is None else ArtifactStore.folder(local, links=links)
    return Place(artifacts, links)


@cache
def _place() -> Place:
    return place_from(os.environ, Path.cwd() / FOLDER)


def server_artifacts() -> ArtifactStore:
    """The artifact store of this server, with links; the same one wherever it is asked for.

    What it reads from the environment is listed at `place_from`. Without any of it artifacts are kept in
    `.langgraph_api/interleave` of the working directory, beside the threads of `langgraph dev`.
    """
    return _place().artifacts


def server_links() -> Links:
    """What makes and checks the links into `server_artifacts()`."""
    return _place().links


def langgraph_user() -> str | None:
    """The user of the LangGraph run this is called from, as the server's `auth` named them."""
    from langgraph.config import get_config

    try:
        configurable = get_config().get("configurable") or {}
    except RuntimeError:  # not within a run
        return None
    return configurable.get("langgraph_auth_user_id") or None


def _own_secret(folder: Path | None) -> str:
    made = secrets.token_hex(32)
    if folder is None:
        return made
    path = folder / "link-secret"
    try:
        with contextlib.suppress(FileNotFoundError):
            return _read(path)
        folder.mkdir(parents=True, exist_ok=True)
        # Written whole under another name: another process that starts now must not read half of it.
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        temporary.touch(mode=0o600)
        temporary.write_text(made, encoding="ascii")
        try:
            os.link(temporary, path)
        except FileExistsError:
            return _read(path)
        except OSError:  # no second names on this filesystem; of two processes that start at once the later one wins
            temporary.replace(path)
            return _read(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(
            f"Artifacts cannot be kept in {folder}: {error}.",
            remedy="Set INTERLEAVE_ARTIFACTS to a folder this process may write to, or to a bucket.",
        ) from error
    return made


def _read(path: Path) -> str:
    # Whatever is in it is as good a secret as another; that it is long enough is asked of it.
    secret = path.read_bytes().strip().decode("latin-1")
    if not secret:
        raise ConfigError(
            f"The file {path}, which holds the secret for links, is empty.",
            remedy="Delete it: another is made. Links that were made with the one before do not hold any more.",
        )
    return secret


def _base_url(environ: Mapping[str, str]) -> str:
    public = environ.get("INTERLEAVE_PUBLIC_URL", "").strip()
    if public:
        return public
    # `langgraph dev` says here where it listens, which may be everywhere.
    said = environ.get("LANGGRAPH_API_URL", "").strip()
    try:
        parts = urlsplit(said)
        host, port = _EVERYWHERE.get(parts.hostname or ""), parts.port
    except ValueError:
        return said  # it is told what is wrong with it where links are made
    return urlunsplit(parts if host is None else parts._replace(netloc=f"{host}:{port}" if port else host))


def _lifetime_s(days: str) -> float:
    if not days:
        return LIFETIME_S
    try:
        return float(days) * 24 * 3600
    except ValueError as error:
        raise ConfigError(
            f"INTERLEAVE_LINK_DAYS={days!r} is not a number.", remedy="Write for example 7, or 0.5 for half a day."
        ) from error


def _is_set(value: str) -> bool:
    return value.strip().lower() in ("1", "true", "yes", "on")
