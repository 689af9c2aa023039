"""From what a client asks for to a job: refused here, before anything is spent, or it can be made."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_interleave.agents.mcp_server.names import Name, new_document, read_name
from langgraph_interleave.agents.mcp_server.outfit import Outfit
from langgraph_interleave.agents.mcp_server.pictures import picture_blocks
from langgraph_interleave.agents.mcp_server.record import Job, Order
from langgraph_interleave.agents.mcp_server.shelf import Shelf
from langgraph_interleave.artifacts import canonical_json
from langgraph_interleave.content import read_request
from langgraph_interleave.document.text import shorten
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types import Plan, Step, StyleGuide

_TITLE = 80


class Desk:
    """Takes orders for a shelf. Every method may block: call it in a thread.

    Args:
        shelf: Where jobs and documents are.
        outfit: What they will be made with.
    """

    def __init__(self, shelf: Shelf, outfit: Outfit) -> None:
        self._shelf = shelf
        self._outfit = outfit

    def document(self, request: str, images: Sequence[str], choices: Mapping[str, Any]) -> Job:
        """A new document.

        Raises:
            ConfigError: Something of it cannot be.
        """
        chosen = self._outfit.check(choices)
        blocks = self._blocks(request, images)
        return self._job(new_document(), Order(request=tuple(blocks), choices=chosen))

    def change(self, name: Name, request: str, images: Sequence[str], choices: Mapping[str, Any]) -> Job:
        """A new version of a document.

        Raises:
            ConfigError: There is no such document, it is not made yet, or something of the change cannot be.
        """
        newest = self._shelf.find(name)
        base = self._shelf.made(name)
        # What was chosen for the document holds for its changes, but for the number of steps.
        kept = {known: value for known, value in base.order.choices.items() if known != "steps"}
        chosen = self._outfit.check({**kept, **{known: v for known, v in choices.items() if v is not None}})
        blocks = self._blocks(request, images)
        order = Order(request=tuple(blocks), choices=chosen, base=base.data, changes=base.version)
        job = self._job(base.document, order)
        if not newest.ended and newest.asked != job.asked:
            # The change would be of something that nobody has seen yet; the same one, asked for again, is joined.
            raise ConfigError(f"{newest.name} is still being made.", remedy="Wait for it with get_document.")
        return job

    def picture(self, prompt: str, image: str | None, choices: Mapping[str, Any]) -> Job:
        """A single picture, drawn or edited: a document of one step, with a plan that is given, judged as any.

        Raises:
            ConfigError: Something of it cannot be.
        """
        prompt = prompt.strip()
        chosen = self._outfit.check(choices)
        if image is not None and not self._outfit.edits:
            raise ConfigError(
                f"The backend {self._outfit.roles.backend.name!r} of this server edits no pictures.",
                remedy="Describe the whole picture to generate_image.",
            )
        blocks = self._blocks(prompt, () if image is None else (image,))
        step = Step(
            index=0,
            op="generate" if image is None else "edit",
            instruction=prompt,
            prompt=prompt,
            sources=() if image is None else ("input:0",),
        )
        look = str(chosen.get("style") or self._outfit.roles.settings.style or "")
        plan = Plan(steps=(step,), style_guide=StyleGuide(look=look), title=shorten(prompt, _TITLE))
        return self._job(new_document(), Order(request=tuple(blocks), plan=plan, choices=chosen))

    def named(self, document_id: str, version: int | None) -> Name:
        """What a document_id and a version name together.

        Raises:
            ConfigError: The id is none, or says another version.
        """
        name = read_name(document_id)
        if version is not None and name.version not in (None, version):
            raise ConfigError(f"{document_id} is not version {version}.", remedy="Give one of the two.")
        return Name(name.document, version if version is not None else name.version)

    def _blocks(self, text: str, images: Sequence[str]) -> list[dict[str, Any]]:
        blocks = [{"type": "text", "text": text}, *picture_blocks(images, self._shelf, fetch=self._outfit.fetch_images)]
        if not text.strip():
            raise ConfigError("There are no words.", remedy="Say what is wanted, in words.")
        read_request(blocks, self._shelf.artifacts)
        return blocks

    def _job(self, document: str, order: Order) -> Job:
        outfit = self._outfit.name
        # A new document has a new name each time; all else of the same call is the same.
        same = {"order": order.model_dump(mode="json"), "outfit": outfit, "of": document if order.base else None}
        asked = hashlib.sha256(canonical_json(same)).hexdigest()[:32]
        return Job(document=document, version=1, order=order, asked=asked, outfit=outfit, created=time.time())
