"""Stand-ins for models and servers that draw from all they are given: words, references in order, size, mask."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from loopback_answers import Recorded
from loopback_bodies import size_of
from loopback_replies import Pictures
from PIL import Image
from pydantic import Field


def painted(
    words: str,
    references: Sequence[bytes] = (),
    *,
    size: tuple[int, int],
    mask: bytes | None = None,
    transparent: bool = False,
) -> bytes:
    """A PNG of stripes in colours of the words, with the references in a row; the same every time.

    Args:
        words: Prompt, seed, and whatever else must make a difference.
        references: Encoded pictures.
        size: In pixels.
        mask: Only what is transparent in it is painted; the rest is the first reference.
        transparent: The stripes are on nothing.
    """
    colours = hashlib.shake_256(words.encode("utf-8", "surrogatepass")).digest(12)
    ground = (0, 0, 0, 0) if transparent else (*colours[:3], 255)
    picture = Image.new("RGBA", size, ground)
    for stripe in range(1, 4):
        top = size[1] * stripe // 4
        picture.paste((*colours[3 * stripe : 3 * stripe + 3], 255), (0, top, size[0], top + max(1, size[1] // 8)))
    opened = [Image.open(io.BytesIO(data)).convert("RGB") for data in references]
    for place, reference in enumerate(opened):
        room = max(1, size[0] // len(opened))
        picture.paste(reference.resize((room, max(1, size[1] // 2))), (place * room, 0))
    if mask is not None and opened:
        kept = Image.open(io.BytesIO(mask)).convert("RGBA").getchannel("A").resize(size)
        picture.paste(opened[0].resize(size), (0, 0), kept)
    buffer = io.BytesIO()
    (picture if transparent else picture.convert("RGB")).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def answered(recorded: Recorded) -> Pictures:
    """What the loopback server answers as an Images API that draws from all it is sent."""
    body = recorded.body
    files = {kind: [file.data for file in recorded.files if file.field in kind] for kind in (IMAGES, MASK)}
    size = size_of(str(body.get("size")), default=(1024, 1024))
    words = json.dumps({key: body[key] for key in sorted(body) if key not in ("n", "size")}, default=str)
    images = [
        painted(
            f"{words}/{index}", files[IMAGES], size=size, mask=next(iter(files[MASK]), None),
            transparent=body.get("background") == "transparent",
        )
        for index in range(int(body.get("n") or 1))
    ]  # fmt: skip
    return Pictures(images=images)


IMAGES, MASK = ("image", "image[]"), ("mask",)


def parts_of(messages: Sequence[BaseMessage]) -> tuple[str, list[bytes]]:
    """Words and pictures of a conversation, in order."""
    words: list[str] = []
    pictures: list[bytes] = []
    for message in messages:
        content: Any = message.content
        for part in [content] if isinstance(content, str) else content:
            if isinstance(part, str):
                words.append(part)
            elif part.get("type") == "text":
                words.append(str(part["text"]))
            elif encoded := part.get("base64") or part.get("data"):
                pictures.append(base64.b64decode(encoded))
            elif part.get("type") == "image_url":
                url = part["image_url"] if isinstance(part["image_url"], str) else part["image_url"]["url"]
                pictures.append(base64.b64decode(url.partition(",")[2]))
    return "\n".join(words), pictures


class PaintingChat(BaseChatModel):
    """A chat model that answers with a picture of the first reference's shape, else a square."""

    side: int = 128
    #: The pictures of the last call; a list, so that copies of the model share it.
    seen: list[bytes] = Field(default_factory=list[bytes])

    @property
    def _llm_type(self) -> str:
        return "painting"

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        words, pictures = parts_of(messages)
        self.seen[:] = pictures
        size = (self.side, self.side)
        if pictures:
            width, height = Image.open(io.BytesIO(pictures[0])).size
            size = (self.side, max(1, round(self.side * height / width)))
        block = {
            "type": "image", "mime_type": "image/png",
            "base64": base64.b64encode(painted(words, pictures, size=size)).decode(),
        }  # fmt: skip
        message = AIMessage([block], usage_metadata=COUNTS)  # type: ignore[list-item, arg-type]
        return ChatResult(generations=[ChatGeneration(message=message)])


class DrawingChat(BaseChatModel):
    """A chat model that writes SVG: bars in colours of all it is sent."""

    seen: list[bytes] = Field(default_factory=list[bytes])

    @property
    def _llm_type(self) -> str:
        return "drawing"

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        words, pictures = parts_of(messages)
        self.seen[:] = pictures
        # The order of the pictures counts.
        told = words.encode() + b"".join(hashlib.sha256(picture).digest() for picture in pictures)
        colours = hashlib.shake_256(told).hexdigest(12)
        bars = "".join(
            f'<rect id="bar{bar}" x="{10 + 20 * bar}" y="10" width="15" height="80" fill="#{colours[at : at + 6]}"/>'
            for bar, at in enumerate(range(0, 24, 6))
        )
        message = AIMessage(f'<svg viewBox="0 0 100 100">{bars}</svg>', usage_metadata=COUNTS)  # type: ignore[arg-type]
        return ChatResult(generations=[ChatGeneration(message=message)])


COUNTS = {"input_tokens": 100, "output_tokens": 50, "total_tokens": 150}


@contextmanager
def inference_endpoint() -> Generator[str]:
    """A Hugging Face inference endpoint on a loopback address; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length") or 0))
            body: dict[str, Any] = json.loads(sent)
            told: dict[str, Any] = body.get("parameters") or {}
            inputs = str(body.get("inputs", ""))
            try:
                reference = [base64.b64decode(inputs.partition(",")[2] or inputs, validate=True)]
                first = Image.open(io.BytesIO(reference[0])).size
            except (ValueError, OSError):
                reference, first = [], (128, 128)
            wanted: dict[str, Any] = told.get("target_size") or told
            size = (int(wanted.get("width") or first[0]), int(wanted.get("height") or first[1]))
            words = json.dumps([None if reference else inputs, told], sort_keys=True)
            status, kind = 200, "image/png"
            try:
                answer = painted(words, reference, size=size)
            except OSError:
                status, kind, answer = 400, "application/json", b'{"error": "the inputs are no picture"}'
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            try:
                self.wfile.write(answer)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/draw"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
