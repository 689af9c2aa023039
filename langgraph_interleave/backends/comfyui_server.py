"""The protocol of a ComfyUI server: uploads, the queue, what it tells while it works, results."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import urlencode, urlsplit
from weakref import WeakKeyDictionary

from langgraph_interleave.backends.comfyui_answer import Stored
from langgraph_interleave.errors import BadResponse, Unavailable
from langgraph_interleave.models.faults import call_error
from langgraph_interleave.secrecy import secrets_in, secrets_of_headers
from langgraph_interleave.types import ImageBytes

if TYPE_CHECKING:
    import httpx
    from websockets.asyncio.client import ClientConnection

_CONNECT_S, _READ_S = 10.0, 60.0
#: An answer in JSON longer than this is none; `/history` of one run is a few kB.
_LONGEST_JSON = 16 * 1024 * 1024
_LARGEST_EVENT = 32 * 1024 * 1024
#: Telling a server to stop takes no longer.
_STOP_S = 5.0
FOLDER = "langgraph_interleave"
_ENDING = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}
#: Binary events: a preview, alone or with metadata before it.
_PREVIEW, _PREVIEW_WITH_METADATA = 1, 4


@dataclass(frozen=True, slots=True)
class Event:
    """What the server tells: `kind` is its own word; `preview` has the encoded picture."""

    kind: str
    data: Mapping[str, Any]
    preview: bytes = b""


class ComfyUIServer:
    """One server. Connections belong to the event loop they were made in.

    Args:
        base_url: Its address.
        headers: Sent with every request (a proxy's credentials).
        beside: What is sent beside every workflow: what of it is secret is in no message.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], *, beside: Mapping[str, Any] | None = None) -> None:
        # The scheme comes out in small letters: certificates and the websocket hang on it.
        self._base_url = urlsplit(base_url).geturl().rstrip("/")
        self._headers = dict(headers)
        #: What is sent that nobody may read.
        self.secrets = secrets_of_headers(self._headers) | secrets_in(base_url, dict(beside or {}))
        self.host = urlsplit(base_url).netloc.rpartition("@")[2]
        self.what = f"comfyui at {self.host}"
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def get(self, path: str) -> Any:
        """A JSON answer.

        Raises:
            CallError: One of its subclasses.
            ConfigError: Refused credentials, or no such path.
        """
        _, body = await self._json("GET", path)
        return body

    async def upload(self, picture: ImageBytes) -> str:
        """Put a reference onto the server; its name there, made from its content."""
        name = f"{picture.sha256[:32]}.{_ENDING[picture.mime]}"
        files = {"image": (name, picture.data, picture.mime)}
        fields = {"type": "input", "subfolder": FOLDER, "overwrite": "true"}
        _, body = await self._json("POST", "/upload/image", files=files, data=fields)
        told = body if isinstance(body, dict) else {}
        if not isinstance(told.get("name"), str):
            raise self._unreadable("/upload/image")
        folder = str(told.get("subfolder") or "")
        return f"{folder}/{told['name']}" if folder else str(told["name"])

    async def submit(
        self, nodes: Mapping[str, Any], *, client_id: str, prompt_id: str, extra: Mapping[str, Any]
    ) -> tuple[int, Mapping[str, Any]]:
        """Put a workflow into the queue; status (200 or 400) and answer."""
        body: dict[str, Any] = {"prompt": nodes, "client_id": client_id, "prompt_id": prompt_id}
        status, told = await self._json(
            "POST", "/prompt", taken=(400,), json={**body, "extra_data": extra} if extra else body
        )
        if not isinstance(told, dict) or (status == 200 and not isinstance(told.get("prompt_id"), str)):
            raise self._unreadable("/prompt")
        return status, cast("dict[str, Any]", told)

    async def entry(self, prompt_id: str) -> Mapping[str, Any] | None:
        """What the history has of a run; `None` while it is not over."""
        told = await self.get(f"/history/{prompt_id}")
        held = told.get(prompt_id) if isinstance(told, dict) else None
        return cast("dict[str, Any]", held) if isinstance(held, dict) else None

    async def is_known(self, prompt_id: str) -> bool:
        """Whether a run waits or goes on."""
        running, pending = await self._queue()
        return prompt_id in running or prompt_id in pending

    async def view(self, file: Stored, most: int) -> bytes:
        """A picture's bytes, at most so many."""
        query = urlencode({"filename": file.filename, "subfolder": file.subfolder, "type": file.type})
        client = await self._client()
        try:
            async with client.stream("GET", f"{self._base_url}/view?{query}") as response:
                if response.status_code >= 300:
                    await response.aread()
                    response.raise_for_status()
                    raise self._unreadable("/view")
                return await self._read(response, most, "/view")
        except Exception as error:  # noqa: BLE001 - each becomes one of ours, or goes on as the bug it is
            self._raise(error)

    async def stop(self, prompt_id: str) -> None:
        """Take a run out of the queue, and stop it where it has begun; runs of others go on.

        What goes wrong meanwhile is not told: it is done on the way out of something worse.
        """
        with suppress(Exception):
            async with asyncio.timeout(_STOP_S):
                await self._json("POST", "/queue", json={"delete": [prompt_id]})
                running, _ = await self._queue()
                # Older servers stop whatever is running, whatever they are told.
                if prompt_id in running:
                    await self._json("POST", "/interrupt", json={"prompt_id": prompt_id})

    async def _queue(self) -> tuple[set[str], set[str]]:
        told = await self.get("/queue")
        held: Mapping[str, Any] = told if isinstance(told, dict) else {}

        def ids(name: str) -> set[str]:
            entries = held.get(name)
            rows = cast("list[Any]", entries) if isinstance(entries, list) else []
            return {str(row[1]) for row in rows if isinstance(row, list) and len(cast("list[Any]", row)) > 1}

        return ids("queue_running"), ids("queue_pending")

    # --- what it tells --------------------------------------------------------------------------

    @asynccontextmanager
    async def listening(self, client_id: str) -> AsyncGenerator[ClientConnection | None]:
        """A websocket on which the server tells of this client's runs; `None` where there is none to be had."""
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import WebSocketException
        except ImportError:
            yield None
            return
        address = f"ws{self._base_url.removeprefix('http')}/ws?clientId={client_id}"
        try:
            socket = await connect(
                address, additional_headers=self._headers, max_size=_LARGEST_EVENT, open_timeout=_CONNECT_S,
                close_timeout=1.0,
            )  # fmt: skip
        except (OSError, TimeoutError, WebSocketException):
            # Some proxies pass none through; if the server itself is gone, the next request says so.
            yield None
            return
        try:
            yield socket
        finally:
            await socket.close()

    # --- requests -------------------------------------------------------------------------------

    async def _json(self, method: str, path: str, *, taken: tuple[int, ...] = (), **options: Any) -> tuple[int, Any]:
        client = await self._client()
        try:
            async with client.stream(method, self._base_url + path, **options) as response:
                if response.status_code >= 300 and response.status_code not in taken:
                    await response.aread()
                    response.raise_for_status()
                    raise self._unreadable(path)
                raw = await self._read(response, _LONGEST_JSON, path)
        except Exception as error:  # noqa: BLE001 - as above
            self._raise(error)
        if not raw.strip():
            return response.status_code, None
        try:
            return response.status_code, json.loads(raw)
        except ValueError:
            raise self._unreadable(path) from None

    async def _read(self, response: httpx.Response, most: int, path: str) -> bytes:
        data = bytearray()
        async for piece in response.aiter_bytes():
            data += piece
            if len(data) > most:
                raise BadResponse(
                    f"{self.what} sent more than {most // 1_000_000} MB for {path}.",
                    remedy="Let the workflow save smaller pictures.",
                    code="too_large",
                )
        return bytes(data)

    async def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = await asyncio.to_thread(self._made)
        return self._clients[loop]

    def _made(self) -> httpx.AsyncClient:
        import httpx

        timeout = httpx.Timeout(_READ_S, connect=_CONNECT_S)
        # Reading certificates takes longer than a run without a model, and plain HTTP has no use for them.
        verify = self._base_url.startswith("https:")
        return httpx.AsyncClient(headers=self._headers, timeout=timeout, follow_redirects=False, verify=verify)

    def _unreadable(self, path: str) -> BadResponse:
        return BadResponse(
            f"What {self.what} answered to {path} is no answer of ComfyUI.",
            remedy="Check base_url: is that the server's address?",
            code="unreadable",
            ambiguous=False,
        )

    def _raise(self, error: Exception) -> NoReturn:
        found = call_error(error, role="backend", what=self.what, secrets=self.secrets)
        if found is None:
            raise error
        if isinstance(found, Unavailable) and not found.ambiguous:
            found.remedy = f"Start ComfyUI, and check that it listens at {self.host}."
        raise found from error


def event_of(message: str | bytes) -> Event | None:
    """What one message of the websocket says; `None` for what means nothing here.

    Example:
        >>> event_of('{"type": "progress", "data": {"value": 1, "max": 4}}')
        Event(kind='progress', data={'value': 1, 'max': 4}, preview=b'')
        >>> event_of(struct.pack(">II", 1, 1) + b"JPEG").preview
        b'JPEG'
    """
    if isinstance(message, bytes):
        if len(message) < 8:
            return None
        kind, second = struct.unpack(">II", message[:8])
        if kind == _PREVIEW:
            return Event("preview", {}, message[8:])
        if kind == _PREVIEW_WITH_METADATA:
            return Event("preview", {}, message[8 + second :])
        return None
    try:
        told = json.loads(message)
    except ValueError:
        return None
    if not isinstance(told, dict):
        return None
    held = cast("dict[str, Any]", told)
    data = held.get("data")
    return Event(str(held.get("type", "")), cast("dict[str, Any]", data) if isinstance(data, dict) else {})
