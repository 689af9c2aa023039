"""The artifact store: bytes addressed by their digest, and the ledger's call records beside them.

```
<root>/artifacts/ab/ab12…           content, named by its SHA-256
<root>/calls/<scope>/<key>.json     one record per paid call
```
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from langgraph_interleave import background
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.files import Files, FolderFiles, MemoryFiles
from langgraph_interleave.places import open_files
from langgraph_interleave.types import SCHEME, ArtifactRef, ImageBytes, Linking

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEY = re.compile(r"[0-9a-f]{16,128}")
#: What names a folder on every system: not what Windows takes for a device, nor a dot at the end, which it drops.
_SCOPE = re.compile(r"(?!(?i:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[A-Za-z0-9_-](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?")


def canonical_json(value: object) -> bytes:
    r"""The one JSON text of a value: sorted keys, no spaces, UTF-8.

    Args:
        value: JSON types only.

    Raises:
        TypeError: It holds something JSON has no form for, bytes among them.
        ValueError: It holds NaN or an infinity.

    Example:
        >>> canonical_json({"b": 1, "a": "é"})
        b'{"a":"\xc3\xa9","b":1}'
    """
    try:
        return _dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # A lone surrogate, which models do produce, has no UTF-8 form; escaped it has.
        return _dumps(value, ensure_ascii=True).encode()


def _dumps(value: object, *, ensure_ascii: bool) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=ensure_ascii, allow_nan=False)


class ArtifactStore:
    """Stores bytes under their digest, and JSON records of calls.

    Guaranteed: what `put` returned can be read back unchanged or is refused as damaged, the same
    bytes are stored once, a crash leaves no half-written file, and all of it is safe from several
    threads and processes at once. Not guaranteed: that anything is ever deleted (only `collect_garbage`
    does that), nor that a folder survives a power failure.

    The names with an `a` in front are the same for async code; work that may block runs in threads.

    Args:
        url_or_fs: An fsspec URL (`s3://bucket/path`, `file:///data`), a plain path, or a filesystem.
        root: Folder within it.
        links: Makes links to what is stored here, where it is served; the pictures of a run's events then
            carry them.

    Example:
        >>> store = ArtifactStore.memory()
        >>> ref = store.put(b"hello", mime="text/plain")
        >>> store.get(ref)
        b'hello'
    """

    def __init__(
        self,
        url_or_fs: str | os.PathLike[str] | AbstractFileSystem | Files,
        root: str = "",
        *,
        links: Linking | None = None,
    ) -> None:
        self._files = open_files(url_or_fs, root)
        self._links = links

    @classmethod
    def memory(cls, *, links: Linking | None = None) -> Self:
        """A store in this process's memory, shared with no other store."""
        return cls(MemoryFiles(), links=links)

    @classmethod
    def folder(cls, path: str | os.PathLike[str], *, links: Linking | None = None) -> Self:
        """A store in a local folder, which is made when first written to."""
        return cls(FolderFiles(path), links=links)

    def __repr__(self) -> str:
        return f"ArtifactStore({self._files.describe()})"

    @property
    def blocking(self) -> bool:
        """Whether reading and writing may wait for a disk or a network."""
        return self._files.blocking

    def link(self, ref: ArtifactRef | str) -> str:
        """The URL under which bytes are served, for whoever is asking now.

        Args:
            ref: A reference, a digest, or an `artifact://` address. Whether it is there is not looked at.

        Raises:
            ConfigError: The store has no links, or `ref` is not a reference.
        """
        make = self.linker()
        if make is None:
            raise ConfigError(
                f"The store at {self._files.describe()} is served nowhere: it has no links.",
                remedy="Open it with links=Links(…) of langgraph_interleave.serving, and serve it with create_app(…).",
            )
        return make(ref)

    def linker(self) -> Callable[[ArtifactRef | str], str] | None:
        """`link` for whoever is asking now, to be called from anywhere later; `None` without links."""
        return self._links.bound() if self._links is not None else None

    @property
    def files(self) -> Files:
        """Where everything is kept."""
        return self._files

    # -- content ---------------------------------------------------------------------------------

    def put(self, data: bytes, *, mime: str, width: int | None = None, height: int | None = None) -> ArtifactRef:
        """Store bytes.

        Args:
            data: The content.
            mime: Its media type, such as `image/png`.
            width: Pixels, for pictures.
            height: Pixels, for pictures.

        Returns:
            The reference under which `get` finds them.
        """
        digest = hashlib.sha256(data).hexdigest()
        name = _name(digest)
        if self._files.read(name) is None:
            self._files.write(name, bytes(data))
        else:
            # A damaged copy is replaced by the good one at hand; and it is needed from now on, however old it is.
            self._files.renew(name, bytes(data))
        return ArtifactRef(sha256=digest, mime=mime, size=len(data), width=width, height=height)

    def get(self, ref: ArtifactRef | str) -> bytes:
        """Read bytes back.

        Args:
            ref: A reference, a digest, or an `artifact://` address.

        Raises:
            ArtifactMissing: They are gone, or do not match their digest any more.
            ConfigError: `ref` is not a reference.
        """
        digest = digest_of(ref)
        data = self._files.read(_name(digest))
        if data is None:
            raise ArtifactMissing(
                f"Artifact {digest} is not in the store at {self._files.describe()}.",
                remedy="Use the store the run was made with (artifacts=…), or run again.",
            )
        if hashlib.sha256(data).hexdigest() != digest:
            raise ArtifactMissing(
                f"Artifact {digest} in the store at {self._files.describe()} is damaged: its bytes do not match.",
                remedy="Restore the file from a backup, or delete it and run again.",
            )
        return data

    def has(self, ref: ArtifactRef | str) -> bool:
        """Whether the bytes are there (not whether they are undamaged)."""
        return self._files.exists(_name(digest_of(ref)))

    def put_image(self, image: ImageBytes) -> ArtifactRef:
        """Store a picture with its measures."""
        return self.put(image.data, mime=image.mime, width=image.width, height=image.height)

    def get_image(self, ref: ArtifactRef) -> ImageBytes:
        """Read a picture back.

        Raises:
            ArtifactMissing: It is gone or damaged.
            ConfigError: The reference is not one of a picture.
        """
        if ref.width is None or ref.height is None:
            raise ConfigError(
                f"Artifact {ref.sha256} ({ref.mime}) is not a picture: its reference carries no width and height.",
                remedy="Make references to pictures with image_part(…) or put_image(…).",
            )
        return ImageBytes(data=self.get(ref), mime=ref.mime, width=ref.width, height=ref.height)

    def put_json(self, value: object) -> str:
        """Store JSON in its canonical form and return its digest: equal values have one."""
        return self.put(canonical_json(value), mime="application/json").sha256

    def get_json(self, digest: ArtifactRef | str) -> Any:
        """Read JSON back.

        Raises:
            ArtifactMissing: It is gone or damaged, or was never JSON.
        """
        data = self.get(digest)
        try:
            return json.loads(data)
        except ValueError as error:
            raise ArtifactMissing(
                f"Artifact {digest_of(digest)} is not JSON.", remedy="Check which digest was meant."
            ) from error

    # -- call records ----------------------------------------------------------------------------

    def read_call(self, scope: str, key: str) -> dict[str, Any] | None:
        """Read a call record.

        Args:
            scope: Run scope: at most 128 letters, digits, `_`, `-`, with `.` between them; no name of a device.
            key: Hexadecimal, 16 to 128 digits.

        Returns:
            The record, `None` when there is none.

        Raises:
            ArtifactMissing: The file is there and is no JSON object.
        """
        data = self._files.read(_call_name(scope, key))
        return None if data is None else self._parse(scope, key, data)

    def write_call(self, scope: str, key: str, record: Mapping[str, Any]) -> None:
        """Create or replace a call record, whole."""
        name, data = _call_name(scope, key), canonical_json(record)
        # As a swap it waits for one that is going on; it must be written in any case.
        if not self._files.swap(name, lambda _: True, data):
            self._files.write(name, data)

    def swap_call(self, scope: str, key: str, expected: Mapping[str, Any] | None, record: Mapping[str, Any]) -> bool:
        """Replace a call record if nobody did since it was read.

        Args:
            scope: Run scope.
            key: Key of the call.
            expected: What `read_call` returned.
            record: The new record.

        Returns:
            Whether it was written.

        Raises:
            ArtifactMissing: The record that is there is damaged.
        """

        def unchanged(data: bytes | None) -> bool:
            return (None if data is None else self._parse(scope, key, data)) == expected

        return self._files.swap(_call_name(scope, key), unchanged, canonical_json(record))

    def renew_call(self, scope: str, key: str, record: Mapping[str, Any], digests: Iterable[str]) -> None:
        """Say that a record, as it was read, and artifacts are needed from now on (`ArtifactMissing` if gone)."""
        data = canonical_json(record)
        self._files.swap(_call_name(scope, key), lambda found: found is None or found == data, data)
        for digest in digests:
            self._files.renew(_name(digest), self.get(digest))

    def list_calls(self, scope: str, but: Collection[str] = ()) -> list[dict[str, Any]]:
        """All readable call records of a scope but those of some keys, which are not read, in order of their start."""
        records: list[dict[str, Any]] = []
        for name in self._files.names(_scope_name(scope)):
            key, dot, ending = name.partition(".")
            if not dot or ending != "json" or not _KEY.fullmatch(key) or key in but:
                continue
            try:
                record = self.read_call(scope, key)
            except ArtifactMissing as error:
                log.warning("%s", error)
                continue
            if record is not None:
                records.append(record)
        return sorted(records, key=lambda record: (record.get("t_start") or 0.0, str(record.get("key"))))

    def _parse(self, scope: str, key: str, data: bytes) -> dict[str, Any]:
        try:
            record = json.loads(data)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise ArtifactMissing(
                f"The record of call {key} of {scope} in the store at {self._files.describe()} is damaged.",
                remedy="Delete the file to have the call made again.",
            )
        return record

    # -- the same for async code -----------------------------------------------------------------

    async def aput(self, data: bytes, *, mime: str, width: int | None = None, height: int | None = None) -> ArtifactRef:
        """As `put`."""
        return await self._do(self.put, data, mime=mime, width=width, height=height)

    async def aget(self, ref: ArtifactRef | str) -> bytes:
        """As `get`."""
        return await self._do(self.get, ref)

    async def ahas(self, ref: ArtifactRef | str) -> bool:
        """As `has`."""
        return await self._do(self.has, ref)

    async def aput_image(self, image: ImageBytes) -> ArtifactRef:
        """As `put_image`."""
        return await self._do(self.put_image, image)

    async def aget_image(self, ref: ArtifactRef) -> ImageBytes:
        """As `get_image`."""
        return await self._do(self.get_image, ref)

    async def aput_json(self, value: object) -> str:
        """As `put_json`."""
        return await self._do(self.put_json, value)

    async def aget_json(self, digest: ArtifactRef | str) -> Any:
        """As `get_json`."""
        return await self._do(self.get_json, digest)

    async def aread_call(self, scope: str, key: str) -> dict[str, Any] | None:
        """As `read_call`."""
        return await self._do(self.read_call, scope, key)

    async def awrite_call(self, scope: str, key: str, record: Mapping[str, Any]) -> None:
        """As `write_call`."""
        await self._do(self.write_call, scope, key, record)

    async def aswap_call(
        self, scope: str, key: str, expected: Mapping[str, Any] | None, record: Mapping[str, Any]
    ) -> bool:
        """As `swap_call`."""
        return await self._do(self.swap_call, scope, key, expected, record)

    async def arenew_call(self, scope: str, key: str, record: Mapping[str, Any], digests: Iterable[str]) -> None:
        """As `renew_call`."""
        await self._do(self.renew_call, scope, key, record, digests)

    async def alist_calls(self, scope: str, but: Collection[str] = ()) -> list[dict[str, Any]]:
        """As `list_calls`."""
        return await self._do(self.list_calls, scope, but)

    async def _do(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if not self._files.blocking:
            return call(*args, **kwargs)
        return await background.in_thread(call, *args, **kwargs)


def digest_of(ref: ArtifactRef | str) -> str:
    """The digest in a reference, an `artifact://` address, or a digest.

    Raises:
        ConfigError: It is none of these.
    """
    digest = ref.sha256 if isinstance(ref, ArtifactRef) else ref.removeprefix(SCHEME)
    if not _SHA256.fullmatch(digest):
        raise ConfigError(
            f"{str(ref)[:80]!r} is not a reference to an artifact.",
            remedy="Give an ArtifactRef, an artifact:// address, or 64 lower-case hexadecimal digits.",
        )
    return digest


def _name(digest: str) -> str:
    return f"artifacts/{digest[:2]}/{digest}"


def _scope_name(scope: str) -> str:
    if not _SCOPE.fullmatch(scope):
        raise ConfigError(
            f"Run scope {scope[:140]!r} cannot name a folder.",
            remedy="Use 1 to 128 letters, digits, '_' or '-', with '.' between; no name of a device, such as con.",
        )
    return f"calls/{scope}"


def _call_name(scope: str, key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ConfigError(
            f"Call key {key[:140]!r} is not one.", remedy="Make keys with call_key(…): 16 to 128 hexadecimal digits."
        )
    return f"{_scope_name(scope)}/{key}.json"
